# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Private copies: what several plugins have alike differs by the namespace only."""

import collections
import re

import sources

# Names of files that are copies where several plugins have them. A plugin shares no code with
# another one, so that each can be taken alone.
COPIES = ("logger.h",)


def check():
    for name in COPIES:
        versions = collections.defaultdict(list)
        for path in sources.files("plugin/**/" + name, "plugin/*/" + name):
            plugin = path.split("/")[1]
            versions[re.sub(r"\b%s\b" % plugin, "PLUGIN", sources.read(path))].append(path)
        if len(versions) > 1:
            paths = [paths[0] for paths in versions.values()]
            yield "%s: differs from %s by more than the plugin's name" % (
                paths[0], ", ".join(paths[1:]))
