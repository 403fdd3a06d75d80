# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What there must be to build librocktier.so, and how programs run with it."""

import os
import platform
import shutil
import subprocess
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The library of rocksdbjni for this system.
LIBRARY = ("librocksdbjni-linux64.so" if platform.machine() == "x86_64" else
           "librocksdbjni-linux-%s.so" % platform.machine())


def run(*argv, **variables):
    """The process has ended. `variables`: further ones in its environment; None: without it."""
    environment = {**os.environ, **variables}
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL,
                          env={name: value for name, value in environment.items()
                               if value is not None})


def succeed(*argv, **variables):
    """What it has printed, without the last end of line."""
    result = run(*argv, **variables)
    if result.returncode != 0:
        raise AssertionError("%s:\n%s%s" % (" ".join(argv), result.stdout, result.stderr))
    return result.stdout.rstrip("\n")


def library_of(jar, folder):
    """The library in a jar of rocksdbjni, extracted into the folder."""
    with zipfile.ZipFile(jar) as file:
        return file.extract(LIBRARY, folder)


class Needs(unittest.TestCase):
    """Skipped, with a printed reason, without PROGRAMS, and without what scripts/setup has for
    LANGUAGE. With another source tree rocksdbjni need not fit."""

    PROGRAMS = ()
    LANGUAGE = None

    @classmethod
    def setUpClass(cls):
        missing = [program for program in cls.PROGRAMS if shutil.which(program) is None]
        if os.environ.get("ROCKSDB_SRC"):
            missing.append("the default ROCKSDB_SRC")
        if cls.LANGUAGE is not None:
            setup = subprocess.run([ROOT + "/scripts/setup", cls.LANGUAGE],
                                   stderr=subprocess.PIPE, text=True)
            missing += [line.strip() for line in setup.stderr.splitlines()[1:]]
        if missing:
            print("skipped: there is no", ", no ".join(missing))
            raise unittest.SkipTest("missing: " + ", ".join(missing))
