#!/usr/bin/env python3
"""Runs the benchmarks (make bench) or the demo (make demo). See README.md."""

import argparse
import os
import shlex
import sys

from common import demo, harness, machine, report

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
                        help="the demo: slow devices are emulated, none is throttled by the kernel")
    parser.add_argument("--quick", action="store_true", help="a small version, under 3 minutes")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a gate fails")
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
    args.names = [chosen] if chosen else names
    args.rounds = args.rounds or (1 if args.quick else 3)
    return args


def run_benchmark(name, args):
    benchmark = harness.load("benchmarks", name).BENCHMARK
    print(f"{name}: {benchmark.title}\n{benchmark.ground}", flush=True)
    context = harness.Context(args.bin, args.data_dir)
    try:
        results = harness.run_rounds(benchmark, args, context)
    finally:
        context.close()
    gates = benchmark.gates(results)
    header = {
        "name": name,
        "quick": args.quick,
        "rounds": args.rounds,
        "command": shlex.join(["run.py", *reproducible(sys.argv[1:])]),
        **machine.describe(args.bin, args.data_dir),
    }
    path = os.path.join(args.results, f"{name}.json")
    report.write_json(path, header, benchmark, results, gates)
    print(f"\n{report.table(benchmark, results)}")
    print("\n".join(report.gate_lines(gates)))
    print(f"Written to {os.path.relpath(path)}" + (" (quick: a smoke check)" if args.quick else ""))
    return [gate for gate in gates if not gate.passes()]


def reproducible(argv):
    """The command without the folders of this machine."""
    kept, skip = [], False
    for word in argv:
        if skip:
            skip = False
        elif word in ("--bin", "--data-dir", "--results"):
            skip = True
        elif not word.startswith(("--bin=", "--data-dir=", "--results=")):
            kept.append(word)
    return kept


def main(argv):
    args = parse(argv)
    harness.stop_on_signals()
    try:
        if args.demo:
            return demo.run(args)
        failed = [gate for name in args.names for gate in run_benchmark(name, args)]
    except KeyboardInterrupt:
        print("\nInterrupted; temporary data removed.", file=sys.stderr)
        return 130
    except RuntimeError as error:
        print(f"\n{error}", file=sys.stderr)
        return 2
    return 1 if failed and args.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
