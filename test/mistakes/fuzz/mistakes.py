# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What operators do by mistake, each with its undoing.

Each function is given a Sequence, makes the mistake, yields the Situation in which databases are
opened and tools are called, and undoes it. It yields None where there is nothing to do it to.
"""

import contextlib
import os

from world import Model, copy, remove


class Situation:
    """What databases are opened in.

    `paths`: what the operator says. `model`: what a database that opens must answer. `old`: what it
    may answer instead. `same`: it is the database itself, only called otherwise, so that it may be
    written to.
    """

    def __init__(self, paths, model, same=False, cwd=None, create=False, old=None):
        self.paths, self.model, self.same = paths, model, same
        self.cwd, self.create, self.old = cwd, create, old


@contextlib.contextmanager
def aside(path):
    """Nothing is at the path until this ends; what comes there meanwhile is removed."""
    os.rename(path, path + ".aside")
    try:
        yield path
    finally:
        remove(path)
        os.rename(path + ".aside", path)


def a_part(s, names=None):
    names = [n for n in (names or s.stack.parts) if os.path.exists(s.path(n))]
    return s.random.choice(names) if names else None


@contextlib.contextmanager
def part_is_not_named(s):
    """A URI without the tier, the device or the cache."""
    name = a_part(s)
    paths = s.paths()
    if name:
        del paths[name]
    yield Situation(paths, s.model, same=name not in s.stack.needs) if name else None


@contextlib.contextmanager
def plugin_is_not_named(s):
    paths = {k: v for k, v in s.paths().items() if k in ("home", "slow_path") + s.stack.extra}
    yield Situation(paths, s.model, create=s.random.random() < 0.5)


@contextlib.contextmanager
def paths_are_exchanged(s):
    paths = s.paths()
    if len(s.stack.parts) < 2 or not s.stack.known(paths["home"]):
        yield None
        return
    one, two = s.stack.parts[:2]
    paths[one], paths[two] = paths[two], paths[one]
    yield Situation(paths, s.model)


@contextlib.contextmanager
def two_parts_are_one(s):
    """A tier that is another one, or home, by another spelling."""
    name = a_part(s)
    if not name or name.endswith("_file"):
        yield None
        return
    other = s.path(s.random.choice([n for n in ("home",) + s.stack.parts if n != name]))
    link = s.root + "/link"
    os.symlink(other, link)
    paths = s.paths()
    paths[name] = s.random.choice((other, other + "/.", other + "/", link))
    yield Situation(paths, s.model)
    os.unlink(link)


@contextlib.contextmanager
def part_is_gone(s):
    """Not mounted: nothing is there, an empty directory or file, or something of another kind."""
    name = a_part(s)
    if not name or name not in s.stack.known(s.path("home")):
        yield None
        return
    with aside(s.path(name)) as path:
        what = s.random.choice(("nothing", "directory", "file"))
        if what == "directory":
            os.mkdir(path)
        elif what == "file":
            with open(path, "wb") as file:
                file.truncate(s.random.choice((0, 8 << 20)))
        yield Situation(s.paths(), s.model)


@contextlib.contextmanager
def part_is_old(s):
    """A part, home maybe, is restored from a copy.

    Where it was not opened since the copy was made, the copy is as good as the original: whichever
    is opened is the database's from then on.
    """
    if not s.snapshots:
        yield None
        return
    name, kept, model = s.random.choice(s.snapshots)
    path = s.path(name)
    if not os.path.exists(path):
        yield None
        return
    # A home that no tier has heard of is a database of its own.
    whole = name == "home" and (s.stack.home_alone or not s.stack.needs or not s.stack.known(kept))
    if whole and s.stack.extra:
        yield None  # RocksDB itself deletes what this home does not know
        return
    os.rename(path, path + ".aside")
    copy(kept, path)
    before = s.stack.marks(path)
    yield Situation(s.paths(), s.model, old=model.copy() if whole else None)
    opened = s.stack.marks(path) != before
    if opened and not whole and (name == "home" or name in s.stack.needs):
        s.say("it stays")
        remove(path + ".aside")
        return
    remove(path)
    os.rename(path + ".aside", path)
    if opened and whole and "memory" in s.stack.parts:  # the memory is the older home's now
        if s.random.random() < 0.5:
            s.adopt(("tier", "adopt", "@uri", "@home", "--force"))
        else:
            s.lose_memory(chance=1)


@contextlib.contextmanager
def home_is_renamed(s):
    moved = s.root + "/moved"
    os.rename(s.path("home"), moved)
    paths = dict(s.paths(), home=moved)
    yield Situation(paths, s.model, same=True)
    os.rename(moved, s.path("home"))


@contextlib.contextmanager
def spelled_otherwise(s):
    """By symbolic links, relative, with more slashes."""
    paths = s.paths()
    links = []
    for name in [n for n in paths if n in ("home",) + s.stack.parts]:
        how = s.random.choice(("", "link", "slash", "dot"))
        if how == "link":
            links.append(s.root + "/to-" + name)
            os.symlink(paths[name], links[-1])
            paths[name] = links[-1]
        elif how == "slash":
            paths[name] = paths[name].replace("/" + name, "//" + name)
        elif how == "dot":
            paths[name] = paths[name].replace("/" + name, "/./" + name)
    cwd = None
    if s.random.random() < 0.5:
        cwd, paths["home"] = s.root, "home"
    yield Situation(paths, s.model, same=True, cwd=cwd)
    for link in links:
        os.unlink(link)


@contextlib.contextmanager
def home_is_copied(s):
    """The copy is used with the parts of the original."""
    stock = s.stack.extra and not s.stack.known(s.path("home"))  # no tier has heard of it
    if stock or not s.stack.is_placed(s.paths()):
        yield None
        return
    copied = s.root + "/copy"
    copy(s.path("home"), copied)
    yield Situation(dict(s.paths(), home=copied), s.model.copy(), same=True)
    remove(copied)


@contextlib.contextmanager
def home_is_replaced_by_its_copy(s):
    """As after a move to another file system.

    It is what it was, and owner of nothing until it is adopted.
    """
    if not s.stack.adopt:
        yield None
        return
    away = s.root + "/away"
    os.rename(s.path("home"), away)
    copy(away, s.path("home"))
    yield Situation(s.paths(), s.model)
    if s.random.random() < 0.5:
        s.adopt()
        remove(away)
    else:
        remove(s.path("home"))
        os.rename(away, s.path("home"))


@contextlib.contextmanager
def all_is_copied(s):
    """To another place, all of it."""
    other = s.root + "/copies"
    os.mkdir(other)
    for name in ("home",) + s.stack.parts + s.stack.extra:
        if os.path.exists(s.path(name)):
            copy(s.path(name), other + "/" + name)
    yield Situation(s.paths(other), s.model.copy(), same=True)
    remove(other)


@contextlib.contextmanager
def another_database(s):
    """A new one, with the parts of this one.

    RocksDB itself does not tell whose the logs are in a `wal_dir` of two databases, or the SSTs in
    one of `db_paths`.
    """
    paths = dict(s.paths(), home=s.root + "/new")
    for name in s.stack.extra:
        paths[name] = s.root + "/new-" + name
        os.mkdir(paths[name])
    yield Situation(paths, Model(), same=True, create=True)
    for name in ("home",) + s.stack.extra:
        remove(paths[name])


@contextlib.contextmanager
def manifest_is_gone(s):
    """Only where it is refused, because there is more than home.

    RocksDB by itself makes a new database then, and deletes what it does not know.
    """
    if not s.stack.has_more(s.paths()) or s.stack.name == "raw_wal_fs":
        yield None
        return
    home = s.path("home")
    gone = [n for n in os.listdir(home) if n == "CURRENT" or n.startswith("MANIFEST")]
    os.mkdir(s.root + "/gone")
    for name in gone:
        os.rename(home + "/" + name, s.root + "/gone/" + name)
    yield Situation(s.paths(), s.model, create=s.random.random() < 0.5)
    for name in gone:
        os.rename(s.root + "/gone/" + name, home + "/" + name)
    os.rmdir(s.root + "/gone")


MISTAKES = (part_is_not_named, plugin_is_not_named, paths_are_exchanged, two_parts_are_one,
            part_is_gone, part_is_old, part_is_old, home_is_renamed, spelled_otherwise,
            home_is_copied, all_is_copied, home_is_replaced_by_its_copy, another_database,
            manifest_is_gone)
