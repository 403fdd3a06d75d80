"""What db_bench did in each second, as it reports it to a file."""

import os


def flags(context):
    return ["--report_interval_seconds=1", f"--report_file={path_of(context)}"]


def series(context):
    """Of the last run, for the figures of its case: of its last benchmark that reports."""
    path = path_of(context)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as file:
        rows = [line.strip().split(",") for line in file.readlines()[1:]]
    os.unlink(path)
    return {"each second": {"seconds": [int(row[0]) for row in rows],
                            "operations": [int(row[1]) for row in rows]}}


def path_of(context):
    return context.path("db_bench.csv")
