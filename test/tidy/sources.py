# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The files of the repository, and C++ without what is no code in it."""

import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""",
    re.DOTALL)


def files(*patterns):
    """Paths, relative to the root, of the files that match: those that git tracks, and new ones."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *patterns],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted({path for path in listing.split("\0") if path and os.path.isfile(absolute(path))})


def absolute(path):
    return os.path.join(ROOT, path)


def read(path):
    with open(absolute(path), encoding="utf-8") as file:
        return file.read()


def code(text):
    """C++ whose comments and literals are blank; lines stay where they are."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def plugins():
    return sorted({path.split("/")[1] for path in files("plugin/*/*.mk")})
