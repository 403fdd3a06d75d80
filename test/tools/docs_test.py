#!/usr/bin/env python3
"""make docs: the documents become a site without a warning, which needs no network when read."""

import os
import re
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What a page must not load from elsewhere; links to elsewhere are fine.
LOADED = re.compile(r'<(?:script|img|link)[^>]+(?:src|href)="(https?:)?//')
CANONICAL = 'rel="canonical"'


class DocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        result = subprocess.run([os.path.join(ROOT, "scripts/docs")], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"make docs: {result.stderr}")
        cls.warnings = [line for line in result.stderr.splitlines() if "warning" in line.lower()]
        cls.site = os.path.dirname(result.stdout.strip().splitlines()[-1])

    def read(self, name):
        with open(os.path.join(self.site, name), encoding="utf-8") as file:
            return file.read()

    def test_nothing_is_warned_of(self):
        self.assertEqual(self.warnings, [])

    def test_pages_are_there(self):
        for name, text in (("index.html", "rocktier"), ("docs/choose.html", "symptom"),
                           ("plugin/tiered_env/REFERENCE.html", "placement")):
            self.assertIn(text, self.read(name))

    def test_public_headers_are_there(self):
        found = [name for _, _, names in os.walk(os.path.join(self.site, "reference"))
                 for name in names]
        for struct in ("TieredOptions", "RawWalOptions", "BlobHybridOptions", "TieredCheck"):
            self.assertTrue(any(struct in name for name in found), struct)

    def test_no_network_is_needed(self):
        for folder, _, names in os.walk(self.site):
            for name in names:
                if name.endswith(".html"):
                    page = self.read(os.path.join(folder, name))
                    loaded = [tag.group(0) for tag in LOADED.finditer(page)
                              if CANONICAL not in tag.group(0)]
                    self.assertEqual(loaded, [], name)


if __name__ == "__main__":
    unittest.main()
