"""The upper levels of a database on fast storage, the rest on slow, which is emulated.

Updates and reads have skew.
"""

import json
import os

TITLE = "the upper levels on fast storage, the rest on slow"

RECORDS, VALUE_SIZE = 150_000, 1024
FAST_BYTES = 64 << 20
EMULATE = "read_latency_us=300;bandwidth=150M"
SECONDS = 4
PLACEMENT = "0..last-1=fast"


def run(context):
    print(
        f"Filling databases of {RECORDS * VALUE_SIZE // 1_000_000} MB (1 KB values, uncompressed); "
        "then updates and reads, then reads alone,\nwith Zipf skew by 4 threads, past the page "
        f"cache. The slow storage is emulated: this disk with\n{EMULATE}. "
        f"The fast tier may have {FAST_BYTES >> 20} MB.\n",
        flush=True,
    )
    print(f"{'':44}{'fill s':>8}{'reads/s':>10}{'p99 us':>9}{'fast reads':>12}{'MB fast':>9}")
    figures = {}
    for system, label in (
        ("slow", "all on slow storage"),
        ("tiers", f"TieredFileSystem, {PLACEMENT}, 64 MB"),
        ("fast", "all on fast storage"),
    ):
        figures[system] = measure(context, system)
        print(row(label, figures[system]), flush=True)
    print(f"\n{ls(context)}")
    return conclusion(figures)


def uri(context, system):
    """Without the fast tier the same FileSystem only emulates, so that the same is compared."""
    slow = f"home={{emulate={{{EMULATE}}}}}"
    if system == "fast":
        return "id=TieredFileSystem"
    if system == "slow":
        return f"id=TieredFileSystem;tiers={{{slow}}}"
    fast = context.path("fast-tier")
    os.makedirs(fast, exist_ok=True)
    return (
        f"id=TieredFileSystem;tiers={{fast={{path={fast};budget={FAST_BYTES}}};{slow}}};"
        f"placement={{{PLACEMENT}}}"
    )


def measure(context, system):
    argv = [
        context.program("tier_driver"), f"--db={context.path('db-' + system)}", "--listener",
        f"--fs_uri={uri(context, system)}", f"--records={RECORDS}", f"--value_size={VALUE_SIZE}",
        "--cache_bytes=2000000",
    ]
    fill = json.loads(context.child([*argv, "--mode=fill"]))
    context.child([*argv, "--mix=a", f"--seconds={SECONDS}"])
    reads = json.loads(context.child([*argv, "--mix=c", f"--seconds={SECONDS}"]))
    served = {name: reads.get(f"tier_{name}_reads", 0) for name in ("fast", "home")}
    return {
        "settled_s": fill["settled_s"],
        "ops_per_s": reads["ops_per_s"],
        "p99_us": reads["p99_us"],
        "fast_share": 1 if system == "fast" else served["fast"] / max(1, sum(served.values())),
        "fast_bytes": (reads["tier_home_bytes"] if system == "fast" else
                       reads.get("tier_fast_bytes", 0)),
    }


def row(label, f):
    return (
        f"{label:44}{f['settled_s']:8.1f}{f['ops_per_s']:10.0f}{f['p99_us']:9.0f}"
        f"{f['fast_share'] * 100:11.0f}%{f['fast_bytes'] / 1e6:9.0f}"
    )


def ls(context):
    out = context.child(
        [context.program("rocktier"), "tier", "df", uri(context, "tiers"), context.path("db-tiers")]
    )
    lines = [line.replace(context.scratch, "...") for line in out.splitlines()]
    return "\n".join(["$ rocktier tier df \"$URI\" .../db-tiers", *lines])


def conclusion(figures):
    share = figures["tiers"]["fast_bytes"] / max(1, figures["fast"]["fast_bytes"])
    return (
        f"With {share * 100:.0f}% of the bytes on fast storage, "
        f"{figures['tiers']['fast_share'] * 100:.0f}% of the reads of files went there, and "
        f"{figures['tiers']['ops_per_s'] / figures['slow']['ops_per_s']:.2f} times as many reads "
        "were done as with all on slow storage. What was written last is in the upper levels, so "
        "it is the more, the more the reads are of what is written often."
    )
