"""The gates of what is published as the sources have them today, and those of what is not.

A results file has the gates of its run. One that is newer, or stricter by now, is judged by the
same samples; one that needs what the run has not got is not measured.
"""

from common import harness
from common.results import Results

NOT_MEASURED = "not measured"


def of_all(documents):
    """[(title, document or None, gates as results files describe them)], of all benchmarks.

    A gate that none of several runs of a benchmark measures is with the first one.
    """
    judged = [(document, of(document)) for document in documents]
    told = {(benchmark_name(document), gate["name"]) for document, gates in judged
            for gate in gates if gate["verdict"] != NOT_MEASURED}
    result = []
    for document, gates in judged:
        name, kept = benchmark_name(document), []
        for gate in gates:
            key = (name, gate["name"])
            if gate["verdict"] != NOT_MEASURED or key not in told:
                told.add(key)
                kept.append(gate)
        result.append((document["name"], document, kept))
    known = {benchmark_name(document) for document in documents}
    missing = [name for name in harness.names("benchmarks") if name not in known]
    return result + [(name, None, described(name, Results())) for name in missing]


def of(document):
    """A gate that only the run itself could judge, by a workload that is gone, is as it was."""
    name, recorded = benchmark_name(document), document["gates"]
    if name not in harness.names("benchmarks"):
        return recorded
    gates = {gate["name"]: gate for gate in described(name, results_of(document))}
    for gate in recorded:
        found = gates.setdefault(gate["name"], gate)
        if found["verdict"] == NOT_MEASURED and is_as_strict(gate, found):
            gates[gate["name"]] = gate
    return list(gates.values())


def is_as_strict(gate, other):
    """Whoever passes the one passes the other."""
    if gate["relation"] != other["relation"]:
        return False
    if gate["relation"] == ">=":
        return gate["target"] >= other["target"]
    return gate["target"] <= other["target"]


def benchmark_name(document):
    return document["name"].partition(", ")[0]


def described(name, results):
    benchmark = harness.load("benchmarks", name).BENCHMARK
    return [gate.described() for gate in benchmark.gates(results)]


def results_of(document):
    """The samples, as the run had them."""
    results = Results()
    for run in document["samples"]:
        results.add(run["benchmark"], run["figures"], run["round"])
    return results
