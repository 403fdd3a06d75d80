#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Random sequences of an operator's mistakes, and a model of what each database must answer.

A sequence writes, kills, loses memory, copies, renames, restores, calls tools and opens databases
in the wrong way. In each of these situations an opening may be refused, or must give all that was
acknowledged. When the mistake is undone, all must be there. See README.md.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: a folder; ROCKTIER_SEED: the first seed
(default 1, or a new one if it goes on for some time); ROCKTIER_CRASH_SECONDS: goes on for that
long.
"""

import argparse
import os
import random
import subprocess
import sys
import time

from mistakes import MISTAKES
from stacks import STACKS
from world import BIN, SECONDS, Model, Worker, Writes, Wrong, copy, remove


class Sequence:
    def __init__(self, stack, seed, root):
        self.random = random.Random("%s %d" % (stack, seed))
        self.stack = STACKS[stack](self.random)
        self.root = root
        self.model = Model()
        self.snapshots = []  # (part, where the copy is, Model of then)
        self.done = []       # what a reader of a failure wants to know
        self.counts = {"kills": 0, "refused": 0, "opened": 0}
        self.label = 0
        remove(root)
        os.makedirs(root)
        os.mkdir(self.path("home"))
        for name in self.stack.parts + self.stack.extra:
            if not name.endswith("_file") and name != "hot":
                os.mkdir(self.path(name))

    def path(self, name):
        return self.root + "/" + name

    def paths(self, root=None):
        names = ("home",) + self.stack.parts + self.stack.extra
        paths = {name: (root or self.root) + "/" + name for name in names}
        return dict(paths, slow_path=paths["home"], plugin="")

    def say(self, *words):
        self.done.append(" ".join(str(word) for word in words))

    # What a sequence is made of.

    def run(self):
        self.work(create=True)
        for _ in range(self.random.randint(4, 9)):
            step = self.random.random()
            if step < 0.3:
                self.work()
            elif step < 0.4:
                self.snapshot()
            elif step < 0.5:
                self.tool(self.paths())
                self.work()
            else:
                self.err()
        self.work()

    def work(self, create=False):
        """The database opens with all that it has, and is written to."""
        self.lose_memory()
        self.say("open")
        with Worker(self.root, self.stack, self.paths(), create=create) as worker:
            first = worker.first()
            if first != "open":
                raise Wrong("the database does not open: " + first)
            self.compare(worker, self.model)
            self.write(worker, self.model)

    def lose_memory(self, chance=0.3):
        if "memory" in self.stack.parts and self.random.random() < chance:
            self.say("memory is lost")
            remove(self.path("memory"))
            os.mkdir(self.path("memory"))

    def snapshot(self):
        name = self.random.choice(
            [n for n in ("home",) + self.stack.parts if os.path.exists(self.path(n))])
        kept = self.path("snapshot%d" % len(self.snapshots))
        self.say("copy", name, "to", kept)
        copy(self.path(name), kept)
        self.snapshots.append((name, kept, self.model.copy()))

    def err(self):
        """Makes a mistake, tries some things, undoes it. Work follows sooner or later."""
        mistake = self.random.choice(MISTAKES)
        with mistake(self) as situation:
            if situation is None:
                return
            self.say("mistake:", mistake.__name__, situation.paths,
                     "create" if situation.create else "")
            for _ in range(self.random.randint(1, 3)):
                if self.random.random() < 0.3:
                    self.tool(situation.paths, situation.cwd)
                else:
                    self.attempt(situation)
            self.say("undone")
        if self.random.random() < 0.5:
            self.work()

    def attempt(self, situation):
        with Worker(self.root, self.stack, situation.paths, situation.cwd,
                    situation.create) as worker:
            if self.random.random() < 0.15:
                time.sleep(self.random.random() / 20)
                worker.kill()
                self.counts["kills"] += 1
                self.say("killed while it opens")
                return
            first = worker.first()
            self.say(first)
            if first != "open":
                self.counts["refused"] += 1
                return
            self.counts["opened"] += 1
            found = self.dump(worker)
            if found is None:
                return  # refused later than others
            if situation.old is not None and found == situation.old.states[0]:
                return
            wrong = situation.model.settle(found)
            if wrong and situation.old is not None and situation.old.settle(found) is None:
                return
            if wrong:
                raise Wrong("it opens, and " + wrong)
            if situation.same and self.random.random() < 0.5:
                self.write(worker, situation.model, strict=False)

    def command(self, words, paths):
        """What is executed; None if it is of a part that has no path."""
        argv = [BIN + "/rocktier"]
        for word in words:
            if word == "@uri":
                word = self.stack.uri(paths)
            elif word.startswith("@"):
                if word[1:] not in paths:
                    return None
                word = paths[word[1:]]
            argv.append(word)
        return argv

    def adopt(self, command=()):
        """Home is the newest, and nothing of it is lost."""
        result = subprocess.run(self.command(command or self.stack.adopt, self.paths()),
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                timeout=SECONDS)
        self.say("adopt ->", result.returncode, result.stdout[-200:].replace("\n", " | "))
        if result.returncode != 0:
            raise Wrong("home is not adopted: " + result.stdout[-2000:])

    def tool(self, paths, cwd=None):
        command = self.random.choice(self.stack.tools)
        argv = self.command(command, paths)
        if argv is None:
            return
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, cwd=cwd)
        if self.random.random() < 0.1:
            time.sleep(self.random.random() / 20)
            process.kill()
            self.counts["kills"] += 1
        out, _ = process.communicate(timeout=SECONDS)
        self.say("rocktier", *command, "->", process.returncode, out[-200:].replace("\n", " | "))
        if process.returncode not in (0, 1, 2, -9):
            raise Wrong("rocktier %s ends with %d: %s" %
                        (" ".join(command), process.returncode, out[-2000:]))

    # What a database answers, and is told.

    def dump(self, worker):
        """Keys and what they have; None if reading fails."""
        worker.send("dump")
        found = {}
        while True:
            line = worker.answer()
            if line.startswith("= "):
                key, value = line[2:].split(" ", 1)
                found[key] = value
            elif line == "ok":
                return found
            elif line.startswith("error"):
                self.say(line)
                return None
            else:
                raise Wrong("reading ends: %r %s" % (line, worker.complaint()))

    def compare(self, worker, model):
        found = self.dump(worker)
        if found is None:
            raise Wrong("the database cannot be read: " + self.done[-1])
        wrong = model.settle(found)
        if wrong:
            raise Wrong(wrong)

    def write(self, worker, model, strict=True):
        self.label += 1
        writes = Writes(self.random, model, "w%d" % self.label, self.random.randint(20, 400))
        killed = self.random.random() < 0.4
        worker.send(*writes.lines)
        acknowledged = 0
        last = self.random.randrange(len(writes.lines)) if killed else len(writes.lines)
        while acknowledged < last and worker.answer() == "ok":
            acknowledged += 1
        if killed:
            worker.kill()
            self.counts["kills"] += 1
        for line in worker.end():
            acknowledged += line == "ok" and acknowledged < len(writes.lines)
        if strict and not killed and acknowledged < len(writes.lines):
            raise Wrong("a write fails: " + writes.lines[acknowledged])
        model.states = writes.states[acknowledged:acknowledged + 2]
        self.say("%d of %d writes%s" %
                 (acknowledged, len(writes.lines), ", killed" if killed else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stack", choices=STACKS)
    parser.add_argument("--sequences", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ROCKTIER_SEED") or 0))
    parser.add_argument("--seconds", type=float,
                        default=float(os.environ.get("ROCKTIER_CRASH_SECONDS") or 0))
    parser.add_argument("--keep-going", action="store_true", help="count failures, stop at none")
    args = parser.parse_args()
    args.seed = args.seed or (int(time.time()) if args.seconds else 1)
    begin = time.monotonic()
    totals, ran, failed = {}, 0, 0
    while ran < args.sequences or time.monotonic() - begin < args.seconds:
        seed = args.seed + ran
        sequence = Sequence(args.stack, seed,
                            os.path.join(os.environ.get("TEST_TMPDIR", "/tmp"), args.stack))
        try:
            sequence.run()
        except Wrong as wrong:
            failed += 1
            print("ROCKTIER_SEED=%d: %s\n  %s" % (seed, wrong, "\n  ".join(sequence.done)),
                  flush=True)
            if not args.keep_going:
                print("what is left is in " + sequence.root)
                return 1
        for name, count in sequence.counts.items():
            totals[name] = totals.get(name, 0) + count
        remove(sequence.root)
        ran += 1
    print("%s: %d sequences from seed %d, %d failed, %s" %
          (args.stack, ran, args.seed, failed,
           ", ".join("%d %s" % (n, what) for what, n in totals.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
