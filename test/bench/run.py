#!/usr/bin/env python3
"""Runs the benchmarks (make bench) or the demo (make demo). See README.md."""

import argparse
import os
import shlex
import sys

from common import demo, gates, harness, machine, peers, report, slice_cases

MOST_LOAD = 1.0
ROOT = os.path.dirname(os.path.dirname(harness.BENCH))


def parse(argv):
    names = harness.names("benchmarks")
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--name", choices=names)
    chosen = first.parse_known_args(argv)[0].name

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", choices=names, help="the benchmark (default: all)")
    parser.add_argument("--bin", required=True, help="folder of the programs that were built")
    parser.add_argument("--demo", action="store_true", help="run the demo instead")
    parser.add_argument("--emulate", action="store_true",
                        help="slow devices are emulated, none is throttled by the kernel")
    parser.add_argument("--quick", action="store_true",
                        help="a small version, which has gates of its own")
    parser.add_argument("--check", action="store_true",
                        help="exit with status 1 if a gate is missed, 3 if one is undecided")
    parser.add_argument("--publish", nargs="?", const="", metavar="LABEL",
                        help="write to results/published, which the documents quote; a label is "
                        "for one of several runs of a benchmark")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH",
                        help="the program of another system, which is measured beside ours; "
                        f"NAME: {', '.join(peers.KNOWN)}")
    parser.add_argument("--rounds", type=int, help="rounds over all systems (default 3; quick: 1)")
    parser.add_argument(
        "--data-dir",
        default=os.environ.get("TMPDIR") or "/tmp",
        help="where databases and cache files are made and removed (default: $TMPDIR)",
    )
    parser.add_argument(
        "--results", default=os.path.join(ROOT, "results"), help="folder of the JSON files"
    )
    for name in [chosen] if chosen else names:
        group = parser.add_argument_group(f"benchmark {name}")
        harness.load("benchmarks", name).BENCHMARK.add_arguments(group)
    args = parser.parse_args(argv)
    if args.publish is not None and args.quick:
        parser.error("figures of a quick run say nothing: it cannot be published")
    try:
        args.peers = peers.of(args.peer)
    except peers.Unknown as error:
        parser.error(str(error))
    args.names = [chosen] if chosen else names
    args.rounds = args.rounds or (1 if args.quick else 3)
    return args


def run_benchmark(name, benchmark, args):
    """The exit status that its gates ask for."""
    if args.quick:
        benchmark = slice_cases.with_slices(benchmark)
    print(f"{name}: {benchmark.title}\n{benchmark.ground}", flush=True)
    if args.publish is not None and not benchmark.counts_only:
        check_publishable(args)
    began = machine.now()
    beside = peers.chosen(args, name)
    context = harness.Context(args.bin, args.data_dir, args.emulate, beside)
    try:
        versions = peers.versions(context, beside)
        results = harness.run_rounds(benchmark, args, context)
    finally:
        context.close()
    judged = gates_of(benchmark, results, args.quick)
    header = {
        "name": f"{name}, {args.publish}" if args.publish else name,
        "quick": args.quick,
        "rounds": args.rounds,
        "command": shlex.join(["run.py", *reproducible(sys.argv[1:])]),
        "date": began,
        "commit": machine.commit(harness.BENCH),
        "peers": versions,
        **machine.describe(args.bin, args.data_dir),
    }
    document = report.document_of(header, benchmark, results, judged, context.grounds.texts())
    path = report.write(document, args.results, args.publish is not None)
    print(f"\n{report.table(benchmark, results)}")
    print("\n".join([*(f"ground: {text}" for text in document["ground"]), *gates.lines(judged)]))
    print(f"Written to {os.path.relpath(path)}" + (" (quick: a smoke check)" if args.quick else ""))
    return gates.exit_status(judged, args.quick)


def check_publishable(args):
    """Times of a build with assertions, or of a busy machine, say nothing."""
    kind = machine.build(args.bin)["type"]
    if kind != "Release":
        raise RuntimeError(f"--bin is a {kind} build: times are published of a Release one only")
    load = os.getloadavg()[0]
    if load > MOST_LOAD:
        print(f"The load of the machine is {load:.2f}: is it quiet?", file=sys.stderr)


def gates_of(benchmark, results, quick):
    if not quick:
        return benchmark.gates(results)
    judged = benchmark.quick_gates(results)
    names = {gate.name for gate in judged}
    rest = [gate for gate in benchmark.gates(results) if gate.name not in names]
    return [*judged, *gates.not_judged(rest)]


def reproducible(argv):
    """The command without the folders of this machine."""
    kept, skip = [], False
    for word in argv:
        if skip:
            skip = False
        elif word in ("--bin", "--data-dir", "--results"):
            skip = True
        elif not word.startswith(("--bin=", "--data-dir=", "--results=")):
            kept.append(peers.without_path(word))
    return kept


def main(argv):
    args = parse(argv)
    harness.stop_on_signals()
    try:
        if args.demo:
            return demo.run(args)
        statuses = [run_benchmark(name, harness.load("benchmarks", name).BENCHMARK, args)
                    for name in args.names]
    except KeyboardInterrupt:
        print("\nInterrupted; temporary data removed.", file=sys.stderr)
        return 130
    except RuntimeError as error:
        print(f"\n{error}", file=sys.stderr)
        return 2
    if not args.check:
        return 0
    return 1 if 1 in statuses else max(statuses)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
