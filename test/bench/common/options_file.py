"""RocksDB's OPTIONS files: options that db_bench has no flags for."""

import dataclasses

BLOCK_BASED = "BlockBasedTable"


@dataclasses.dataclass(frozen=True)
class Options:
    """By name: of the database, of its one column family, and of that one's tables."""

    db: dict = dataclasses.field(default_factory=dict)
    family: dict = dataclasses.field(default_factory=dict)
    table: dict = dataclasses.field(default_factory=dict)
    table_name: str = BLOCK_BASED

    def text(self):
        # What a RocksDB finds here that is older or newer than it says does not matter.
        sections = (
            ("Version", {"rocksdb_version": "9.10.0", "options_file_version": "1.1"}),
            ("DBOptions", {"create_if_missing": "true", **self.db}),
            ('CFOptions "default"', {"table_factory": self.table_name, **self.family}),
            (f'TableOptions/{self.table_name} "default"', self.table),
        )
        return "\n".join(f"[{title}]\n" + "".join(f"  {name}={value}\n"
                                                  for name, value in values.items())
                         for title, values in sections)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())
        return path


def pairs_of(text):
    """{name: value} of "name=value;name={name=value;...}"."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return dict(part.split("=", 1) for part in parts if part)


def of_text(text):
    """Of such pairs, whose braces have no others around them than a listener's, a factory's."""
    family = pairs_of(text)
    db = {name: family.pop(name) for name in ("listeners",) if name in family}
    table = inside(family.pop("block_based_table_factory", ""))
    named = inside(family.pop("table_factory", ""))
    name = named.pop("id", BLOCK_BASED)
    return Options(db, family, {**table, **named}, name)


def inside(braced):
    return pairs_of(braced[1:-1])
