"""The demo: each plugin in turn shows, against stock RocksDB, what it is for.

A plugin's section is a module demos/<plugin>.py with TITLE and run(context), which prints a table
and returns two sentences that say what was shown.
"""

import textwrap

from common import harness


def run(args):
    for name in harness.names("demos"):
        section = harness.load("demos", name)
        print(f"== {name}: {section.TITLE}\n", flush=True)
        context = harness.Context(args.bin, args.data_dir)
        try:
            conclusion = section.run(context)
        finally:
            context.close()
        print(f"\n{textwrap.fill(conclusion, 100)}\n", flush=True)
    return 0
