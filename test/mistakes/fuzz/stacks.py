# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What a database of each plugin is made of, and how an operator turns the plugin on."""

import os
import re

SIZES = {
    "write_buffer_size": 65536,
    "target_file_size_base": 32768,
    "max_bytes_for_level_base": 131072,
    "max_bytes_for_level_multiplier": 4,
    "level_compaction_dynamic_level_bytes": "false",
    "compression": "kNoCompression",
    "level0_file_num_compaction_trigger": 3,
}


class Stack:
    """A plugin's database.

    `parts`: what it has beside its home, which is "home"; a name that ends in "_file" is a file,
    all others are directories.
    """

    name = ""
    parts = ()
    # Directories that a database has besides, which RocksDB itself is told of. It does not know
    # them again, so that no mistakes are made with them.
    extra = ()
    tools = ()  # sub-commands of rocktier; @part is a path, @uri the URI
    # The sub-command of rocktier that makes a copy of home the owner of its parts, if it is needed.
    adopt = ()
    # An older home may be all of a database though there are parts that answers come from.
    home_alone = False
    # Parts that answers come from: without them, or with older ones, a database is refused.
    needs = ()

    def __init__(self, random):
        self.random = random

    def uri(self, paths):
        """--fs_uri; empty: the default FileSystem."""
        return ""

    def cache_uri(self, paths):
        return ""

    def flags(self, paths):
        """More of the worker."""
        return []

    def options(self, paths):
        """Sections of an OPTIONS file.

        DBOptions, options of the family, the table factory's line and section.
        """
        return {}, dict(SIZES), "", []

    def known(self, home):
        """Parts that home knows again.

        Who exchanges or empties one of the others has chosen where it is.
        """
        return self.parts

    def has_more(self, paths):
        """Whether the database has anything that is not at home."""
        return bool(self.needs)

    def is_placed(self, paths):
        """Whether home was where it is when it was opened last.

        Else a copy may be the home that was renamed.
        """
        return True

    def marks(self, path):
        """What an opening writes into a part that it takes for its own; None: no such mark."""
        return None


def text_of(path):
    """Empty if there is no such file."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def tiers_of(paths, names, kinds):
    return ";".join("%s={path=%s%s}" % (name, paths[name], kinds.get(name, "")) for name in names
                    if name in paths)


class Tiered(Stack):
    name = "tiered_env"
    parts = ("fast", "slow")
    needs = ("fast", "slow")
    tools = (("tier", "ls", "@uri", "@home"), ("tier", "df", "@uri", "@home"),
             ("tier", "check", "@uri", "@home"), ("tier", "check", "@uri", "@home", "--repair"),
             ("tier", "drain", "@uri", "@home", "fast"), ("tier", "evacuate", "@uri", "@home"))
    kinds = {}

    def __init__(self, random):
        super().__init__(random)
        self.placement = "0..1=%s;2..=slow" % self.parts[0]
        if random.random() < 0.5:
            self.placement += ";blob=slow"
        for what in ("wal", "meta"):
            if random.random() < 0.3:
                self.placement += ";%s=%s" % (what, self.log_tier)
        self.listener = random.random() < 0.7

    log_tier = "fast"

    def uri(self, paths):
        placement = ";".join(rule for rule in self.placement.split(";")
                             if rule.split("=")[1] in paths)
        return "id=TieredFileSystem;tiers={%s};placement={%s}" % (
            tiers_of(paths, self.parts, self.kinds), placement)

    def known(self, home):
        lines = text_of(home + "/TIERS").split("\n")
        return [line.split()[1] for line in lines if re.match("tier ", line)]

    def folders(self, paths):
        name = re.search("^folder (.*)$", text_of(paths["home"] + "/TIERS"), re.M)
        folders = [paths[part] + "/" + name.group(1) for part in self.parts] if name else []
        return [folder for folder in folders if os.path.isdir(folder)]

    def has_more(self, paths):
        return any(re.match(r"\d+\.(sst|blob|log)\.", file)
                   for folder in self.folders(paths) for file in os.listdir(folder))

    def is_placed(self, paths):
        owners = [text_of(folder + "/OWNER") for folder in self.folders(paths)]
        return all("\ndirectory %s\n" % paths["home"] in owner for owner in owners)

    def marks(self, path):
        folders = sorted(name for name in os.listdir(path) if os.path.isdir(path + "/" + name))
        return [text_of(path + "/TIERS")] + [
            (name, text_of(path + "/" + name + "/OWNER")) for name in folders]

    def options(self, paths):
        db, family, table, section = super().options(paths)
        if self.listener:
            db["listeners"] = "{id=TieredEnvListener}"
        return db, family, table, section


class TieredMemory(Tiered):
    name = "tiered_memory"
    parts = ("memory", "slow")
    needs = ("slow",)
    kinds = {"memory": ";kind=memory"}
    log_tier = "slow"
    tools = (("tier", "ls", "@uri", "@home"), ("tier", "df", "@uri", "@home"),
             ("tier", "check", "@uri", "@home"), ("tier", "check", "@uri", "@home", "--repair"),
             ("tier", "check", "@uri", "@home", "--rebuild"), ("tier", "recover", "@uri", "@home"),
             ("tier", "drain", "@uri", "@home", "memory"), ("tier", "evacuate", "@uri", "@home"))

    def __init__(self, random):
        super().__init__(random)
        # The meta files of a tier in memory stay at home, as do its logs.
        self.placement = ";".join(r for r in self.placement.split(";") if not r.startswith("meta"))
        self.listener = True


class WalDir(Stack):
    """Logs outside home."""

    extra = ("logs",)

    def options(self, paths):
        db, family, table, section = super().options(paths)
        return dict(db, wal_dir=paths["logs"]), family, table, section


class DbPaths(Stack):
    """SSTs outside home: the first of two paths is small, the second is home."""

    extra = ("first",)

    def flags(self, paths):
        return ["--first_path=" + paths["first"]]


class TieredWalDir(WalDir, Tiered):
    name = "tiered_wal_dir"


class MemoryWalDir(WalDir, TieredMemory):
    name = "memory_wal_dir"


class TieredDbPaths(DbPaths, Tiered):
    name = "tiered_db_paths"


class MemoryDbPaths(DbPaths, TieredMemory):
    name = "memory_db_paths"


class MemoryAlone(TieredMemory):
    """All levels are in memory."""

    name = "memory_alone"
    parts = ("memory",)
    needs = ()

    def __init__(self, random):
        super().__init__(random)
        self.placement = "0..=memory"


class RawWal(Stack):
    name = "raw_wal_fs"
    parts = ("wal_file",)
    needs = ("wal_file",)
    home_alone = True
    tools = (("wal", "df", "@wal_file"), ("wal", "ls", "@wal_file"), ("wal", "check", "@wal_file"),
             ("wal", "adopt", "@wal_file", "@home"), ("wal", "export", "@wal_file", "@home"),
             ("wal", "import", "@wal_file", "@home"))
    adopt = ("wal", "adopt", "@wal_file", "@home", "--force")

    def uri(self, paths):
        if "wal_file" not in paths:
            return ""
        return "id=RawWalFileSystem;device=%s;size=8M;segment_size=64K" % paths["wal_file"]


class Hot(Stack):
    name = "hot_promotion"
    parts = ("hot",)
    tools = (("hot", "stats", "@hot"), ("hot", "verify", "@hot"),
             ("hot", "clear", "@hot", "--force"))

    def options(self, paths):
        db, family, table, section = super().options(paths)
        if "hot" not in paths:
            return db, family, table, section
        return db, family, "HotPromotionTable", [
            "path=" + paths["hot"], "budget=4000000", "slow=" + paths["slow_path"],
            "slow_read_micros=0", "promotion_cache=65536",
        ]


class Blob(Stack):
    name = "blob_hybrid"
    tools = (("blob", "stats", "@home"), ("blob", "verify", "@home"))

    def __init__(self, random):
        super().__init__(random)
        self.medium = random.random() < 0.5
        self.on = True

    def options(self, paths):
        db, family, table, section = super().options(paths)
        family.update(enable_blob_files="true", min_blob_size=1024 if self.medium else 200,
                      blob_file_size=65536)
        if "plugin" in paths:
            hybrid = ("medium_value_size=100;merge_level=last;transient_log_budget=0.5"
                      if self.medium else "max_space_amplification=1.5;space_floor=64K")
            db["listeners"] = "{id=BlobHybridListener}"
            family["compaction_filter_factory"] = "{id=BlobHybrid;%s}" % hybrid
            return db, family, "BlobHybridTable", []
        return db, family, table, section


class Cache(Stack):
    name = "secondary_cache_2q"
    parts = ("cache_file",)
    tools = (("cache", "info", "@cache_file"), ("cache", "verify", "@cache_file"))

    def cache_uri(self, paths):
        if "cache_file" not in paths:
            return ""
        return ("id=TwoQSecondaryCache;capacity=4M;storage=file;carry=true;path="
                + paths["cache_file"])


STACKS = {stack.name: stack for stack in (
    Tiered, TieredMemory, TieredWalDir, MemoryWalDir, TieredDbPaths, MemoryDbPaths, MemoryAlone,
    RawWal, Hot, Blob, Cache)}
