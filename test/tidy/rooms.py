# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The rooms of a plugin: which folder, and which file, includes which other one.

A file here is a header and its source. The graph must have no circle, neither of folders nor of
files.
"""

import collections
import posixpath

import includes
import sources


def _module(path):
    return path.rsplit(".", 1)[0]


def files_of(plugin):
    """file -> the files of this plugin that it includes; names are relative to its folder."""
    prefix = "plugin/%s/" % plugin
    graph = collections.defaultdict(set)
    for path in sources.files(prefix + "*.h", prefix + "*.cc"):
        own = _module(path[len(prefix):])
        graph[own].update(_module(header[len(prefix):]) for header in includes.of(path)
                          if header.startswith(prefix))
        graph[own].discard(own)
    return graph


def folders_of(plugin):
    """The same for folders. A file in the plugin's own folder is a room of its own: what all of the
    plugin uses is there, and what uses all of it."""
    graph = collections.defaultdict(set)
    for file, others in files_of(plugin).items():
        own = posixpath.dirname(file) or file
        graph[own].update(posixpath.dirname(other) or other for other in others)
        graph[own].discard(own)
    return graph


def circles(graph):
    """The sets of nodes that reach each other (Tarjan's algorithm), those of one node left out."""
    index, low, stack, result = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                result.append(sorted(circle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return result


def floors(graph):
    """Nodes by floors: each is above all that it uses. Requires a graph without circles."""
    height = {}

    def visit(node):
        if node not in height:
            height[node] = 1 + max((visit(other) for other in graph.get(node, ())), default=-1)
        return height[node]

    rows = collections.defaultdict(list)
    for node in sorted(graph):
        rows[visit(node)].append(node)
    return [rows[floor] for floor in sorted(rows, reverse=True)]


def check():
    for plugin in sources.plugins():
        for what, graph in (("folders", folders_of(plugin)), ("files", files_of(plugin))):
            for circle in circles(graph):
                yield "plugin/%s: a circle of %s: %s" % (plugin, what, ", ".join(circle))
