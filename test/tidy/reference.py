# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The public headers: Doxygen makes pages of them without a warning, so each member has a comment.
"""

import os
import subprocess
import tempfile

import sources


def check():
    with open(os.path.join(sources.ROOT, "docs/site/Doxyfile"), encoding="utf-8") as file:
        settings = file.read()
    with tempfile.TemporaryDirectory() as folder:
        settings += "GENERATE_HTML = NO\nGENERATE_XML = YES\nOUTPUT_DIRECTORY = %s\n" % folder
        result = subprocess.run(["doxygen", "-"], input=settings, cwd=sources.ROOT, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for line in result.stdout.splitlines():
        yield line.replace(sources.ROOT + "/", "")
