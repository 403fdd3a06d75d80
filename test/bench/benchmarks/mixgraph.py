"""Each plugin and stock RocksDB under db_bench's mixgraph, the workload of ZippyDB at Facebook.

Modules <plugin>_mixgraph have the systems, and how each is arranged.
"""

import functools

from blob import blob_mixgraph
from cache import cache_mixgraph
from common import mixgraph
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from hot import hot_mixgraph
from tier import tier_mixgraph
from wal import wal_mixgraph

PLUGINS = {
    "raw_wal_fs": wal_mixgraph, "secondary_cache_2q": cache_mixgraph, "tiered_env": tier_mixgraph,
    "hot_promotion": hot_mixgraph, "blob_hybrid": blob_mixgraph,
}
KEYS, QUICK_KEYS = 4_000_000, 600_000
SECONDS, QUICK_SECONDS = 10, 1
QUICK_DISTRIBUTIONS = ("Prefix_dist",)

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("get_p99_us", "Get p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("put_p99_us", "Put p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("scan_p99_us", "scan p99 us", "us", "{:.0f}"),
    Metric("slow_read_per_op", "slow B read/op", "bytes/op", "{:.0f}", show_ratio=True),
    Metric("fast_read_per_op", "fast B read/op", "bytes/op", "{:.0f}"),
    Metric("written_per_put", "B written/Put", "bytes/op", "{:.0f}", show_ratio=True),
    Metric("fast_bytes", "fast MB", "bytes", "{:.0f}", scale=1e-6),
    Metric("load_s", "load s", "s", "{:.0f}"),
    *(Metric(f"{kind}_{what}_us", "", "us", in_table=False) for kind in mixgraph.KINDS
      for what in ("p50", "p999")),
)

PANELS = (
    Panel("ops_per_s", "Operations per second (more is better)", log=True),
    Panel("get_p99_us", "99th percentile of a Get in microseconds (less is better)", log=True),
    Panel("slow_read_per_op", "Bytes read from the slow device per operation (less is better)"),
)


def add_arguments(group):
    group.add_argument("--mixgraph-plugins", default=",".join(PLUGINS), help="default: all")
    group.add_argument("--mixgraph-keys", type=int, default=KEYS,
                       help="of 48 bytes, with values of 43 (default %(default)s)")
    group.add_argument("--mixgraph-seconds", type=float, default=SECONDS,
                       help="of a run; others before it warm up (default %(default)s)")
    group.add_argument("--mixgraph-most", type=int, default=mixgraph.MOST_SCANNED,
                       help="records of a scan, at most (default %(default)s)")


def cases(args):
    chosen = args.mixgraph_plugins.split(",")
    unknown = set(chosen) - set(PLUGINS)
    if unknown:
        raise RuntimeError(f"not known: {', '.join(sorted(unknown))}")
    return [case for plugin in chosen for case in cases_of(args, plugin)]


def cases_of(args, plugin):
    """Each system fills a database, which the distributions use in turn; the last one removes it.
    """
    module = PLUGINS[plugin]
    reason = module.missing(args.emulate)
    if reason:
        print(f"No throttled device, so {plugin} is left out: {reason}")
        return []
    systems = quick_systems(module) if args.quick else module.SYSTEMS
    distributions = QUICK_DISTRIBUTIONS if args.quick else tuple(mixgraph.DISTRIBUTIONS)
    result = []
    for way, scale in list(module.ways(scale_of(args)).items())[:1 if args.quick else None]:
        steps = [("load", functools.partial(load, module, scale))]
        steps += [(distribution, functools.partial(measure, module, scale, distribution,
                                                   distribution == distributions[-1]))
                  for distribution in distributions]
        result += [Case(name(plugin, what, way), (system,), functools.partial(step, system))
                   for what, step in steps for system in systems]
    return result


def quick_systems(module):
    """Those that have to serve the workload: ours."""
    return list(dict.fromkeys(ours for ours, _ in module.GATES))


def scale_of(args):
    keys, seconds = args.mixgraph_keys, args.mixgraph_seconds
    if args.quick:
        keys, seconds = min(keys, QUICK_KEYS), min(seconds, QUICK_SECONDS)
    return mixgraph.Scale(keys * (mixgraph.KEY + mixgraph.VALUE), seconds,
                          most_scanned=args.mixgraph_most)


def name(plugin, what, way):
    return ", ".join(filter(None, (f"{plugin}: {what}", way)))


def load(module, scale, system, context, number):
    return {system: mixgraph.load(context, module.arranged(context, scale, system), scale)}


def measure(module, scale, distribution, is_last, system, context, number):
    arrangement = module.arranged(context, scale, system)
    figures = mixgraph.run(context, arrangement, scale, distribution, 142 + number)
    if is_last:
        mixgraph.clear(arrangement)
    return {system: figures}


def gates(results):
    judge = Judge(results)
    for plugin, module in PLUGINS.items():
        for workload in workloads(plugin, module):
            for system, others in module.GATES:
                yield judge.ratio(f"{workload}: ops/s, {system} / {best(others)}", workload,
                                  "ops_per_s", system, others, 1.0, True)


def workloads(plugin, module):
    return [name(plugin, distribution, way) for way in module.ways(mixgraph.Scale())
            for distribution in mixgraph.DISTRIBUTIONS]


def best(systems):
    return systems[0] if len(systems) == 1 else f"best of {', '.join(systems)}"


def quick_gates(results):
    """That each plugin serves the workload."""
    judge = Judge(results)
    for plugin, module in PLUGINS.items():
        for system in quick_systems(module):
            names = [one for one in workloads(plugin, module) if (one, system) in results.keys()]
            if names:
                yield judge.worst(f"{plugin}: operations a second, {system}", names, "ops_per_s",
                                  system, 1, True)


BENCHMARK = Benchmark(
    title="the workload of ZippyDB at Facebook, by db_bench's mixgraph",
    ground=f"{mixgraph.KEY}-byte keys and small values; devices and systems as in the benchmark of "
    "each plugin. Nothing is verified: db_bench does not.",
    baseline="stock",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
)
