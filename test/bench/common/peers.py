"""Programs of other systems, which are measured beside ours: run.py --peer NAME=PATH.

They are built elsewhere, and nothing here says how. README.md says what one must offer.
"""

import re

# What each is a peer of.
KNOWN = {"hotrap": "hot_promotion", "titan": "blob_hybrid", "parallax": "blob_hybrid"}
VERSION = "--peer_version"  # prints what it is, its version and its settings, on one line


class Unknown(Exception):
    """What is wrong with a --peer."""


def of(words):
    """{name: path} of NAME=PATH."""
    found = dict(word.partition("=")[::2] for word in words)
    for name, path in found.items():
        if name not in KNOWN or not path:
            raise Unknown(f"--peer {name}={path}: NAME=PATH, with one of {', '.join(KNOWN)}")
    return found


def chosen(args, benchmark):
    """{name: path} of those of a benchmark that this run has."""
    return {name: path for name, path in args.peers.items() if KNOWN[name] == benchmark}


def versions(context, names):
    """{name: what its program says of itself}."""
    told = {name: context.child([context.peer(name), VERSION]).strip() for name in names}
    for name, text in told.items():
        if not text or "\n" in text:
            raise RuntimeError(f"the program of {name} does not tell its version on one line")
    return told


def without_path(word):
    """Of a command: where a peer is says nothing to others."""
    return re.sub(rf"^(--peer=)?({'|'.join(KNOWN)})=.+$", r"\1\2=PATH", word)
