#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""librocktier.so with sanitizers, in a process of Python: examples/python with all plugins.

RocksDB's library has no sanitizers. So what the plugins do is looked at, and what RocksDB itself
does is not. TEST_TMPDIR: an empty folder.
"""

import os
import sys
import unittest

import languages_test
import needs

SANITIZERS = "address,undefined"
# Of GCC. The process must have exceptions before the sanitizer looks for them.
PRELOADED = ("libasan.so", "libubsan.so", "libstdc++.so.6")
# Containers and objects come from code without sanitizers, and go there; Python itself leaks.
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:detect_odr_violation=0:"
                    "alloc_dealloc_mismatch=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


class Sanitized(languages_test.Language):
    PROGRAMS = ("mvn", "c++", "nm")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        found = [needs.succeed("c++", "-print-file-name=" + name) for name in PRELOADED]
        if not all(map(os.path.isabs, found)):
            print("skipped: the compiler has no", ", no ".join(PRELOADED))
            raise unittest.SkipTest("no sanitizers")
        cls.lib = needs.succeed(needs.ROOT + "/scripts/shared", ROCKTIER_SANITIZER=SANITIZERS)
        cls.variables = {**OPTIONS, "LD_PRELOAD": " ".join(found)}

    def plugins(self):
        program = languages_test.EXAMPLES + "/python/plugins.py"
        return needs.succeed(sys.executable, program, self.lib + "/librocktier.so",
                             languages_test.FOLDER, **self.variables)

    def test_it_has_sanitizers(self):
        symbols = needs.succeed("nm", "-D", "--undefined-only", self.lib + "/librocktier.so")
        for symbol in ("__asan_report_store8", "__ubsan_handle_type_mismatch_v1_abort"):
            self.assertIn(symbol, symbols)

    def test_all_plugins(self):
        self.check_written(self.plugins())
        self.check_read(self.plugins())


if __name__ == "__main__":
    unittest.main()
