# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""A database on disk, the model of what it must answer, and the process that has it open."""

import os
import signal
import shutil
import subprocess
import tempfile
import threading

BIN = os.environ.get("ROCKTIER_BIN", ".")
SECONDS = 300  # after which a process is taken for one that hangs


class Wrong(Exception):
    """Something that must never be."""


def copy(source, target):
    """All attributes, and links as links: what cp -a does."""
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)


def remove(path):
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.isdir(path):
        shutil.rmtree(path)


def options_file(path, stack, paths):
    db, family, table, section = stack.options(paths)
    lines = ["[Version]", "rocksdb_version=9.10.0", "options_file_version=1.1", "[DBOptions]"]
    lines += ["%s=%s" % item for item in db.items()]
    lines += ['[CFOptions "default"]'] + ["%s=%s" % item for item in family.items()]
    if table:
        lines += ["table_factory=" + table]
    lines += ['[TableOptions/%s "default"]' % (table or "BlockBasedTable")] + section
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


class Worker:
    """A process that opens the database. `said`: "open", or "refused" and why."""

    def __init__(self, scratch, stack, paths, cwd=None, create=False):
        name = tempfile.mktemp(dir=scratch, prefix="options-")
        options_file(name, stack, paths)
        argv = [BIN + "/mistakes_worker", "--db=" + paths["home"], "--options_file=" + name]
        if stack.uri(paths):
            argv.append("--fs_uri=" + stack.uri(paths))
        argv += stack.flags(paths)
        if stack.cache_uri(paths):
            argv.append("--secondary_cache_uri=" + stack.cache_uri(paths))
        if create:
            argv.append("--create_if_missing")
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, cwd=cwd)
        self.options = name
        self.timer = threading.Timer(SECONDS, self.process.send_signal, [signal.SIGABRT])
        self.timer.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def first(self):
        """What it says of the opening. Only once."""
        line = self.answer()
        if not line:
            raise Wrong("opening ends with %s: %s" % (self.process.wait(), self.complaint()))
        return line

    def complaint(self):
        self.errors.seek(0)
        return self.errors.read()[-3000:]

    def send(self, *lines):
        try:
            self.process.stdin.write("".join(line + "\n" for line in lines))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def answer(self):
        return self.process.stdout.readline().rstrip("\n")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)

    def end(self):
        """Closes the database, if it is open. The answers that were not asked for."""
        if self.process.stdin.closed:
            return []
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        rest = self.process.stdout.read().split("\n")[:-1]
        code = self.process.wait()
        self.timer.cancel()
        self.process.stdout.close()
        os.unlink(self.options)
        if code not in (0, -signal.SIGKILL):
            raise Wrong("a process ends with %d, of -6 it may have taken more than %d s: %s" % (
                code, SECONDS, self.complaint()))
        return rest


class Model:
    """What a database must answer: one of several states, after a kill amid writes."""

    def __init__(self, states=None):
        self.states = states or [{}]

    def copy(self):
        return Model([dict(state) for state in self.states])

    def settle(self, found):
        """`found` is what it answers. Returns None, or what is wrong."""
        for state in self.states:
            if state == found:
                self.states = [state]
                return None
        state = self.states[0]
        lost = [key for key in state if key not in found]
        more = [key for key in found if key not in state]
        other = [key for key in state if key in found and state[key] != found[key]]
        return "%d keys lost %s, %d too many %s, %d with other values %s, of %d" % (
            len(lost), lost[:3], len(more), more[:3], len(other),
            [(key, state[key], found[key]) for key in other[:3]], len(state))


class Writes:
    """Random operations as lines for the worker, and the states after each."""

    def __init__(self, rng, model, label, count):
        self.lines = []
        self.states = [dict(model.states[0])]
        state = dict(model.states[0])
        largest = rng.choice((100, 1000, 10000))
        for i in range(count):
            what = rng.random()
            key = "key%04d" % rng.randrange(400)
            if what < 0.85:
                value = "%s-%d." % (label, i)
                size = rng.randrange(20, largest)
                self.lines.append("put %s %s %d %d" % (key, value, size, rng.random() < 0.1))
                state[key] = "%s %d" % (value, size)
            elif what < 0.94:
                self.lines.append("delete " + key)
                state.pop(key, None)
            elif what < 0.96:
                end = "key%04d" % rng.randrange(400)
                if key > end:
                    key, end = end, key
                self.lines.append("range %s %s" % (key, end))
                state = {k: v for k, v in state.items() if not key <= k < end}
            elif what < 0.99:
                self.lines.append("flush")
            else:
                self.lines.append("compact")
            self.states.append(dict(state))
