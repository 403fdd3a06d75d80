"""hot_promotion against stock RocksDB with as many bytes of the fast device, and against caches."""

import dataclasses
import functools
import math

from common import grounds, slice_cases
from common.gates import WORST, Judge
from common.harness import Benchmark, Case, Metric, Panel
from hot import hot_systems, twitter

SIZES, VALUE_SIZES = "2,10", "1000,200"  # GB, bytes
SECONDS, THREADS = 120, 16
SHIFT_SECONDS = 100  # a stage, at least
MIXES, KEYS = ("ro", "rw", "wh", "uh"), ("hotspot", "zipf", "uniform")
MORE = ("reopened", "killed", "shift", "dynamic", "trace", "cpu", "twitter")
CPU_RECORDS_MB, CPU_SECONDS = 600, 20
TWITTER_MB, TWITTER_SECONDS = 400, 40
QUICK_MB, QUICK_SECONDS = 100, 4
QUICK_CLUSTER, QUICK_CLUSTER_MB = 29, 60  # with deletes, and few records for its bytes
# HotRAP's stages (section 4.6) have 2.2e8 operations with 1.1e8 records; at the end of each it
# is back.
BACK = 2
SAME_BYTES = 1.05  # what L0 has varies

STAGES = ("uniform", "1", "3", "5", "5b", "4", "2")  # of the dynamic workload
STAGE_METRICS = (
    ("ops_per_s", "ops/s", "ops/s"),
    ("fast_share", "fast", "1"),
    ("back", "back", "operations by records"),
)

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("fast_share", "fast %", "1", "{:.1f}", scale=100),
    Metric("first_fast_share", "fast % at first", "1", "{:.1f}", scale=100),
    Metric("store_share", "copies %", "1", "{:.1f}", scale=100),
    Metric("stage_after_back", "back after", "operations by records", "{:.2f}"),
    Metric("store_used", "budget %", "1", "{:.1f}", scale=100),
    Metric("fast_bytes", "fast MB", "bytes", "{:.0f}", scale=1e-6, show_ratio=True),
    Metric("fast_bytes_max", "at most", "bytes", "{:.0f}", scale=1e-6),
    Metric("cpu_us", "CPU us/op", "us", "{:.1f}", show_ratio=True),
    Metric("all_fast_read_bytes", "fast MB read", "bytes", "{:.0f}", scale=1e-6),
    Metric("all_slow_read_bytes", "slow MB read", "bytes", "{:.0f}", scale=1e-6),
    Metric("all_fast_written_bytes", "fast MB written", "bytes", "{:.0f}", scale=1e-6),
    Metric("all_slow_written_bytes", "slow MB written", "bytes", "{:.0f}", scale=1e-6),
    Metric("all_ops_per_s", "ops/s, all", "ops/s", "{:.0f}", in_table=False),
    Metric("all_cpu_us", "CPU us/op, all", "us", in_table=False),
    *(Metric(f"stage_{stage}_{what}", f"{stage}: {title}", unit, in_table=False)
      for stage in STAGES for what, title, unit in STAGE_METRICS),
    Metric("p50_us", "p50 us", "us", in_table=False),
    Metric("settled_s", "settled s", "s", "{:.1f}", in_table=False),
    *(Metric(f"{what}_share", f"{what} share", "1", in_table=False)
      for what in ("put", "insert", "delete", "absent", "sunk", "hot")),
    Metric("shares_off", "shares off", "1", in_table=False),
    Metric("promoted", "promoted", "count", in_table=False),
    Metric("retained", "retained", "count", in_table=False),
    Metric("store_errors", "errors", "count", in_table=False),
)

PANELS = (
    Panel("ops_per_s", "Operations per second at the end (more is better)", log=True),
    Panel("fast_share", "Reads without the slow device at the end (more is better)"),
    Panel("p99_us", "99th percentile of an operation in microseconds (less is better)", log=True),
)

CPU = "CPU alone: uniform, ro"
# Reads take so long that records are promoted, and no device has a part in it.
CPU_KEYS = ("uniform", "zipf", "hotspot")
QUICK_SYSTEMS = ("fat", "hot", "all_cache", *hot_systems.PEERS)
CPU_SYSTEMS = ("fat", "hot")
TWITTER_SYSTEMS = QUICK_SYSTEMS
QUICK_TWITTER_SYSTEMS = ("hot", *hot_systems.PEERS)
THING = "hot_promotion"  # of the demo


def cpu_name(keys):
    return f"CPU, the slow device a wait: {keys}, ro"


# Of fat's, for each operation.
MOST_CPU = {CPU: 1.05, cpu_name("uniform"): 1.05, cpu_name("zipf"): 1.15, cpu_name("hotspot"): 1.15}
# Fat's operations: HotRAP's paper has it that one with few sunk reads is not significantly slower.
LEAST_OPS = {twitter.HIGH: 1, twitter.MIDDLE: 1, twitter.LOW: 0.95}


def add_arguments(group):
    group.add_argument("--hot-gigabytes", default=SIZES,
                       help="of data; none: only cpu and twitter (default %(default)s)")
    group.add_argument("--hot-value-sizes", default=VALUE_SIZES, help="default %(default)s")
    group.add_argument("--hot-seconds", type=float, default=SECONDS,
                       help="of a run, at least; more if there are many records "
                       "(default %(default)s)")
    group.add_argument("--hot-threads", type=int, default=THREADS, help="default %(default)s")
    group.add_argument("--hot-mixes", default=",".join(MIXES), help="default: all")
    group.add_argument("--hot-keys", default=",".join(KEYS), help="default: all")
    group.add_argument("--hot-more", default=",".join(MORE),
                       help="what else is measured; the first four with hotspot, ro only "
                       "(default %(default)s)")
    group.add_argument("--hot-clusters", default=",".join(map(str, twitter.CLUSTERS)),
                       help="of twitter (default %(default)s)")
    group.add_argument("--hot-cluster-megabytes", type=int, default=TWITTER_MB,
                       help="of data of each (default %(default)s)")
    group.add_argument("--hot-systems", default=",".join(hot_systems.SYSTEMS), help="default: all")


def scales(args):
    if args.quick:
        return [hot_systems.Scale(QUICK_MB, 1000, min(QUICK_SECONDS, args.hot_seconds),
                                  args.hot_threads)]
    return [hot_systems.Scale(int(float(gigabytes) * 1000), int(size), args.hot_seconds,
                              args.hot_threads)
            for gigabytes in filter(None, args.hot_gigabytes.split(","))
            for size in args.hot_value_sizes.split(",")]


def cases(args):
    reason = grounds.missing(in_memory=True, emulate=args.emulate)
    if reason:
        print(f"No throttled device, so the slow one is emulated: {reason}")
    more = args.hot_more.split(",")
    result = [case for scale in scales(args) for case in cases_of(args, scale)]
    if "cpu" in more and not args.quick:
        result += cpu_cases(args)
    return result + (twitter_cases(args) if "twitter" in more else [])


def systems_of(args):
    return [*args.hot_systems.split(","), *(name for name in hot_systems.PEERS
                                            if name in args.peers)]


def cases_of(args, scale):
    """Each system fills a database; the workloads use it in turn, those without writes first."""
    systems = systems_of(args)
    mixes = args.hot_mixes.split(",")
    keys = args.hot_keys.split(",")
    more = args.hot_more.split(",")
    if args.quick:
        mixes, keys, more = mixes[:1], keys[:1], []
        systems = [system for system in systems if system in QUICK_SYSTEMS]
    steps = [(name(scale, key, mix), functools.partial(measure, scale, mix, key), systems)
             for mix in mixes for key in keys]
    ours = [system for system in systems if system == "hot"]
    if "hotspot" in keys and "ro" in mixes:
        steps[1:1] = [(name(scale, "hotspot", how),
                       functools.partial(again, scale, how == "killed"), ours)
                      for how in ("reopened", "killed") if how in more]
        if "shift" in more:
            steps.append((name(scale, "shift", "ro"),
                          functools.partial(measure, scale, "ro", "shift"), ours))
        if "dynamic" in more:
            steps.append((name(scale, "dynamic", "ro"),
                          functools.partial(measure, scale, "ro", "dynamic"),
                          [system for system in systems if system in ("fat", "hot")]))
    if "trace" in more:
        steps.append((name(scale, "trace", "its own"), functools.partial(replay, scale),
                      [system for system in systems if system not in hot_systems.PEERS]))
    result = [Case(f"{scale.name}: load", (system,), functools.partial(load, scale, system))
              for system in systems]
    for text, step, chosen in steps:
        result += [Case(text, (system,), functools.partial(step, system)) for system in chosen]
    return result


def name(scale, keys, mix):
    return f"{scale.name}: {keys}, {mix}"


def load(scale, system, context, number):
    where = hot_systems.place(context, scale)
    return {system: hot_systems.fill(context, where, scale, system)}


def measure(scale, mix, keys, system, context, number):
    """Begins without copies and cached blocks."""
    where = hot_systems.place(context, scale)
    hot_systems.forget(where, system)
    seconds = scale.run_seconds({"dynamic": len(STAGES)}.get(keys, 1))
    if keys == "shift":
        seconds = 2 * max(seconds, SHIFT_SECONDS if scale.seconds > QUICK_SECONDS else 0)
    figures = hot_systems.run(context, where, scale, system, seconds, 142 + number,
                              f"--mix={mix}", f"--keys={keys}")
    return {system: {**never_back(figures), **figures}}


def never_back(figures):
    """What the driver leaves out: a stage that did not come back took for ever."""
    ends = "_fast_share"
    stages = [name[:-len(ends)] for name in figures if name.startswith("stage_") and
              name.endswith(ends)]
    return {f"{stage}_back": math.inf for stage in stages}


def replay(scale, system, context, number):
    where = hot_systems.place(context, scale)
    hot_systems.forget(where, system)
    trace = f"--trace={hot_systems.trace(context, scale)}"
    return {system: hot_systems.run(context, where, scale, system, scale.run_seconds(),
                                    142 + number, trace)}


def again(scale, kill, system, context, number):
    """With the copies of the run before; `kill`: of one that was killed."""
    where = hot_systems.place(context, scale)
    seconds = scale.run_seconds() / 2
    if kill:
        hot_systems.run(context, where, scale, system, seconds, 242 + number, kill=True)
    return {system: hot_systems.run(context, where, scale, system, seconds, 342 + number)}


def cpu_cases(args):
    scale = hot_systems.Scale(CPU_RECORDS_MB, 1000, min(CPU_SECONDS, args.hot_seconds), 1)
    many = dataclasses.replace(scale, threads=args.hot_threads)
    ways = [(CPU, scale, 0, "uniform")]
    ways += [(cpu_name(keys), many, hot_systems.SLOW_US, keys) for keys in CPU_KEYS]
    return [Case(name, (system,), functools.partial(cpu, of, slow_us, keys, system))
            for name, of, slow_us, keys in ways for system in CPU_SYSTEMS]


def cpu(scale, slow_us, keys, system, context, number):
    """In the page cache: nothing waits for a device."""
    where = hot_systems.on_one_device(context, slow_us, "CPU, the slow device a wait")
    hot_systems.fill(context, where, scale, system)
    figures = hot_systems.run(context, where, scale, system, scale.seconds, 142 + number,
                              f"--keys={keys}")
    hot_systems.clear(where, system)
    return {system: figures}


def twitter_cases(args):
    """Each system fills a database with the records of each cluster, and uses it once."""
    systems = [system for system in systems_of(args) if system in TWITTER_SYSTEMS]
    numbers = [int(number) for number in args.hot_clusters.split(",")]
    megabytes, seconds = args.hot_cluster_megabytes, min(TWITTER_SECONDS, args.hot_seconds)
    if args.quick:
        systems = [system for system in systems if system in QUICK_TWITTER_SYSTEMS]
        numbers, megabytes, seconds = [QUICK_CLUSTER], QUICK_CLUSTER_MB, min(QUICK_SECONDS, seconds)
    scales = [hot_systems.Scale(megabytes, cluster.value, seconds, args.hot_threads, cluster)
              for cluster in map(twitter.CLUSTERS.__getitem__, numbers)]
    return [Case(twitter_name(scale.cluster), (system,), functools.partial(serve, scale, system))
            for scale in scales for system in systems]


def twitter_name(cluster):
    """Nobody shall take it for the trace itself."""
    return f"{cluster.name}: generated"


def serve(scale, system, context, number):
    where = hot_systems.place(context, scale)
    loaded = hot_systems.fill(context, where, scale, system)
    figures = hot_systems.run(context, where, scale, system, scale.run_seconds(), 142 + number)
    hot_systems.clear(where, system)
    return {system: {**loaded, **figures}}


def gates(results):
    judge = Judge(results)
    for scale in scales_of(results):
        yield from gates_of(judge, scale)
        yield from safety_gates(judge, results, scale)
    for cluster in twitter.CLUSTERS.values():
        yield from twitter_gates(judge, results, cluster)
    for name, target in MOST_CPU.items():
        yield judge.ratio(f"{name}: CPU per op, hot / fat", name, "all_cpu_us", "hot", ("fat",),
                          target)
    for name in map(cpu_name, CPU_KEYS):
        yield judge.worst(f"{name}: records that were promoted", (name,), "promoted", "hot", 1,
                          True)


def quick_gates(results):
    judge = Judge(results)
    for measure, target, at_least in (("slow reads per read", 0.5, False), ("reads/s", 1.0, True),
                                      ("MB on the fast device", SAME_BYTES, False)):
        yield slice_cases.gate(judge, THING, measure, target, at_least)
    for scale in scales_of(results):
        yield budget_gate(judge, results, scale)
        yield errors_gate(judge, results, scale)
    for cluster in twitter.CLUSTERS.values():
        if (twitter_name(cluster), "hot") in results.keys():
            yield shares_gate(judge, cluster)
            yield budget_gate(judge, results, cluster.name)
            yield errors_gate(judge, results, cluster.name)


def scales_of(results):
    """Of what was measured, as the names of workloads begin."""
    return dict.fromkeys(name.partition(":")[0] for name, _ in results.keys() if " GB of " in name)


def gates_of(judge, scale):
    def workload(keys, mix):
        return f"{scale}: {keys}, {mix}"

    def ops(keys, mix, baseline, target):
        name = workload(keys, mix)
        return judge.ratio(f"{name}: ops/s, hot / {baseline}", name, "ops_per_s", "hot",
                           (baseline,), target, True)

    def figure(keys, mix, text, metric, target, at_least=False):
        name = workload(keys, mix)
        return judge.figure(f"{name}: {text}", name, metric, "hot", target, at_least)

    yield figure("hotspot", "ro", "served fast", "fast_share", 0.95, True)
    yield ops("hotspot", "ro", "fat", 6)
    yield ops("hotspot", "ro", "fast", 0.9)
    yield ops("hotspot", "rw", "fat", 4)
    yield ops("zipf", "ro", "fat", 2)
    for keys in ("hotspot", "zipf"):
        yield ops(keys, "ro", "all_cache", 1)
    for peer in hot_systems.PEERS:
        for mix in MIXES:
            yield ops("hotspot", mix, peer, 1)
    for keys in KEYS:
        yield ops(keys, "uh", "fat", 0.95)
        if keys != "hotspot":
            yield ops(keys, "rw", "fat", 0.95)
        yield ops(keys, "wh", "fat", 0.95)
    yield ops("uniform", "ro", "fat", 0.98)
    for how in ("reopened", "killed"):
        yield judge.after(f"{workload('hotspot', how)}: served fast at first / before",
                          (workload("hotspot", how), "first_fast_share"),
                          (workload("hotspot", "ro"), "fast_share"), "hot", 0.9, True)
    yield figure("shift", "ro", "served fast", "fast_share", 0.9, True)
    yield figure("shift", "ro", "operations by records until served fast is above 0.9 for good",
                 "stage_after_back", BACK)
    yield figure("dynamic", "ro", "the same, when the hot spot moves", "stage_5b_back", BACK)
    for stage in STAGES[1:]:
        yield figure("dynamic", "ro", f"served fast at the end of stage {stage}",
                     f"stage_{stage}_fast_share", 0.9, True)


def safety_gates(judge, results, scale):
    """Equal bytes of the fast device in each workload, also with inserts; and the budget."""
    for mix in MIXES:
        for keys in KEYS:
            name = f"{scale}: {keys}, {mix}"
            yield judge.ratio(f"{name}: bytes on the fast device at the end, hot / fat", name,
                              "fast_bytes", "hot", ("fat",), SAME_BYTES, by=WORST)
    for name in names_of(results, scale):
        if (name, "fat") in results.keys():
            yield judge.ratio(f"{name}: bytes on the fast device at most, hot / fat", name,
                              "fast_bytes_max", "hot", ("fat",), SAME_BYTES, by=WORST)
    yield budget_gate(judge, results, scale)
    yield errors_gate(judge, results, scale)


def twitter_gates(judge, results, cluster):
    """Of cluster 17 the paper tells how much faster HotRAP is; of the others its text does not."""
    name = twitter_name(cluster)
    least = {"fat": cluster.speedup or LEAST_OPS[cluster.sunk_class], "all_cache": 1,
             **{peer: 1 for peer in hot_systems.PEERS}}
    for other, target in least.items():
        yield judge.ratio(f"{cluster.name}: ops/s, hot / {other}", name, "ops_per_s", "hot",
                          (other,), target, True)
    for when, metric in (("at the end", "fast_bytes"), ("at most", "fast_bytes_max")):
        yield judge.ratio(f"{cluster.name}: bytes on the fast device {when}, hot / fat", name,
                          metric, "hot", ("fat",), SAME_BYTES, by=WORST)
    yield shares_gate(judge, cluster)
    yield budget_gate(judge, results, cluster.name)
    yield errors_gate(judge, results, cluster.name)


def shares_gate(judge, cluster):
    return judge.worst(f"{cluster.name}: a share of operations or of reads, off the cluster's",
                       (twitter_name(cluster),), "shares_off", "hot", twitter.READS_OFF)


def budget_gate(judge, results, scale):
    return judge.worst(f"{scale}: bytes of the store at any time / budget",
                       names_of(results, scale), "store_used", "hot", 1.05)


def errors_gate(judge, results, scale):
    return judge.worst(f"{scale}: errors of the store", names_of(results, scale), "store_errors",
                       "hot", 0)


def names_of(results, scale):
    return [name for name, system in results.keys()
            if system == "hot" and name.startswith(f"{scale}:")]


BENCHMARK = Benchmark(
    title="hot records of a slow device",
    ground=f"each read of an SST on the slow device takes {hot_systems.SLOW_US} us more; CPU: one "
    "path, in the page cache.",
    baseline="fat",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    things=(THING,),
)
