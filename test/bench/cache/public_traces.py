"""Traces of other systems' caches, which the jar of Caffeine's simulator has (Apache License 2.0;
those of cache2k are CC BY 4.0). They are downloaded by Maven, and read from the jar."""

import array
import functools
import gzip
import lzma
import os
import shutil
import sys
import zipfile

ARTIFACT = ("com.github.ben-manes.caffeine", "simulator", "3.1.8")
FOLDER = "com/github/benmanes/caffeine/cache/simulator/parser/"
BLOCK = 4096  # bytes of each object: the traces have no sizes


def _numbers(code, data):
    """Big-endian integers, as Java writes them."""
    numbers = array.array(code)
    numbers.frombytes(data[:len(data) // numbers.itemsize * numbers.itemsize])
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def _lines(data):
    return array.array("q", (int(line) for line in data.split() if line != b"*"))


# What a trace is of -> its file in the jar, how it is packed, and what is in it.
TRACES = {
    "disk of a virtual machine (w106)": ("cloud_physics/w106.trace.xz", lzma,
                                         functools.partial(_numbers, "I")),
    "file system (sprite)": ("lirs/sprite.trace.gz", gzip, _lines),
    "four programs' blocks (multi3)": ("lirs/multi3.trace.gz", gzip, _lines),
    "objects of a shop (orm-busy)": ("cache2k/orm-busy.trace.xz", lzma,
                                     functools.partial(_numbers, "i")),
    "pages of a shop (web12)": ("cache2k/web12.trace.xz", lzma, functools.partial(_numbers, "i")),
    "recommendations (scarab-recs)": ("scarab/scarab-recs.trace.xz", lzma,
                                      functools.partial(_numbers, "q")),
}


def missing():
    """Why they cannot be had; empty if they can."""
    return "" if shutil.which("mvn") else "please install Maven (mvn)"


def jar(context):
    def make(folder):
        context.child(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={':'.join(ARTIFACT)}",
                       f"-DoutputDirectory={folder}"])

    return os.path.join(context.shared("public-traces", make), "-".join(ARTIFACT[1:]) + ".jar")


def write(context, name, path):
    """Writes a trace as block_trace.h has it; returns its number of different blocks."""
    file, packing, parse = TRACES[name]
    with zipfile.ZipFile(jar(context)) as archive:
        keys = parse(packing.decompress(archive.read(FOLDER + file)))
    numbers = {}
    accesses = array.array("Q")
    for key in keys:
        accesses.extend((numbers.setdefault(key, len(numbers) + 1), BLOCK))
    with open(path, "wb") as out:
        accesses.tofile(out)
    return len(numbers)
