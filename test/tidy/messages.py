# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Messages that users see: the sources and docs/troubleshoot.md have the same ones."""

import collections
import itertools
import re

import sources
import unseen

PAGE = "docs/troubleshoot.md"
# The section whose messages RocksDB prints, not a plugin.
NOT_OURS = "RocksDB's own messages"
# What the page writes for what differs from one message to the next.
PLACEHOLDERS = ("LIST", "N", "NAME", "PATH", "TIER", "VALUE", "WHAT", "WHY")
HOLE = None  # a part of a message that differs

Message = collections.namedtuple("Message", "path line parts")
Group = collections.namedtuple("Group", "opening nodes")
# `literal`: the text is one, without quotes.
Token = collections.namedtuple("Token", "text literal line")

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)"""
    r"""|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])+'"""
    r"""|[A-Za-z_]\w*|\d[\w.']*|->|\+=|\+\+|<<|[=!<>]=|&&|\|\||::|.""",
    re.DOTALL | re.MULTILINE)
_CONSTANT = re.compile(
    r'(?:constexpr|const) (?:std::string|char|char\* const) (k\w+)(?:\[\])? ='
    r'((?:\s*"(?:\\.|[^"\\\n])*")+);')
_LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
_CONVERSION = re.compile(r"%(%|[-+ #0-9.*]*(?:hh|h|ll|l|z|j)?[a-zA-Z])")
_CLOSING = {"(": ")", "{": "}", "[": "]"}
# What a message does not go on over.
_SPLITTING = {"=", "+=", "return", "&&", "||", "==", "!=", "<=", ">=", "<", ">", "<<", "case", ":"}
_CODES = {"Aborted", "Busy", "Corruption", "IOError", "Incomplete", "InvalidArgument",
          "MemoryLimit", "NoSpace", "NotFound", "NotSupported", "PathNotFound", "TryAgain"}
# Calls whose arguments are no messages: what a command prints if all is well, and conditions.
_SILENT = ("printf", "fputs", "puts", "static_assert", "assert", "TEST_")
_HELP = re.compile(r"k\w*Help")
# Calls in the tool that declare commands, and functions there that declare parts of them; and what
# its verbs print if all is well.
_DECLARING = {"Bytes", "Change", "Command", "Computed", "Facts", "For", "Given", "Help", "Line",
              "Look", "MayBeOpen", "Moved", "Note", "Number", "Of", "OfDatabase", "OfDevice",
              "Option", "OptionalPositional", "Percent", "Positional", "Positionals", "Preset",
              "Print", "PrintsLines", "Problems", "Rate", "Switch", "SwitchFor", "Table",
              "TableFactory", "Text", "Texts", "Verb", "command", "table"}
# What lays out the declarations has no messages.
_LAYOUTS = ("tools/help.cc", "tools/completion/", "tools/man/")
_SENTENCE = re.compile(r"[A-Za-z]{2,}\S* +(?:[A-Za-z] +)?\S*[A-Za-z]{2,}")
# Enough for the argument of a Status.
_WORD = re.compile(_SENTENCE.pattern + r"|[A-Za-z]{4,}(?!=)")


def _unescape(text):
    blanks = {"n": "\n", "r": "\n", "t": " "}
    return re.sub(r"\\(.)", lambda match: blanks.get(match[1], match[1]), text)


def _tree(text, line):
    """Code as Tokens and the Groups that brackets make."""
    stack = [Group("", [])]
    for match in _TOKEN.finditer(text):
        token = match[0]
        nodes = stack[-1].nodes
        if match["text"] is not None:
            nodes.append(Token(_unescape(match["text"]), True, line))
        elif token in _CLOSING:
            stack.append(Group(token, []))
            nodes.append(stack[-1])
        elif token in _CLOSING.values():
            stack = stack[:-1] or stack
        elif match["skip"] is None:
            nodes.append(Token(token, False, line))
        line += token.count("\n")
    return stack[0].nodes


def _word(node):
    return node.text if isinstance(node, Token) and not node.literal else ""


def _is_literal(node):
    return isinstance(node, Token) and node.literal


def _has_literal(nodes):
    """Or what may be a constant of that name."""
    return any(node.literal or node.text.startswith("k") if isinstance(node, Token) else
               _has_literal(node.nodes) for node in nodes)


def _split(nodes, *separators):
    parts = [[]]
    for node in nodes:
        if _word(node) in separators:
            parts.append([])
        else:
            parts[-1].append(node)
    return parts


def _concatenated(alternatives):
    """Each way to take one of each."""
    return [sum(choice, ()) for choice in itertools.product(*alternatives)]


def _constants(tokens):
    """The parts of literals that stand side by side, with holes for the conversions of printf()."""
    text = "".join(token.text if token.literal else "llu" for token in tokens)
    parts = []
    end = 0
    for match in _CONVERSION.finditer(text):
        before = text[end:match.start()]
        parts += [before + "%"] if match[1] == "%" else [before, HOLE]
        end = match.end()
    return tuple(parts + [text[end:]])


def _lines(parts):
    """The lines of a message, without holes side by side and without blanks at the ends."""
    text = "".join("\0" if part is HOLE else part for part in parts)
    for line in text.split("\n"):
        line = re.sub(r"\s+", " ", re.sub("\0+", "\0", line)).strip()
        yield tuple(HOLE if part == "\0" else part for part in re.split("(\0)", line) if part)


class _Reader:
    """Collects the messages of a file: sums of literals and of what is between them."""

    def __init__(self, path, constants):
        self.path = path
        self.silent = _DECLARING if "tools/" in path else ()
        self.constants = constants
        self.messages = []

    def read(self, nodes):
        """Collects from statements or arguments."""
        for expression in _split(nodes, ",", ";"):
            if _has_literal(expression):
                self.collect(self.evaluate(expression))

    def collect(self, alternatives, needed=_SENTENCE):
        for line, whole in alternatives:
            for parts in _lines(whole):
                if needed.search("".join(part for part in parts if part is not HOLE)):
                    self.messages.append(Message(self.path, line, parts))

    def evaluate(self, nodes):
        """The texts that an expression can be, as (line, parts).

        Collects from parts of it that are evaluated apart, such as arguments of calls.
        """
        words = [_word(node) for node in nodes]
        if any(_HELP.fullmatch(word) for word in words[:3]):
            return []
        if "?" in words:
            return self.choose(nodes, words)
        *before, last = _split(nodes, *_SPLITTING)
        for each in before:
            self.collect(self.add(each))
        return self.add(last)

    def choose(self, nodes, words):
        question = words.index("?")
        begin = max((at for at in range(question) if words[at] in _SPLITTING), default=-1) + 1
        self.collect(self.evaluate(nodes[:begin]))
        self.read(nodes[begin:question])
        depth = 1
        for at in range(question + 1, len(nodes)):
            depth += {"?": 1, ":": -1}.get(words[at], 0)
            if depth == 0:
                return self.evaluate(nodes[question + 1:at]) + self.evaluate(nodes[at + 1:])
        return []

    def add(self, nodes):
        terms = [self.term(term) for term in _split(nodes, "+")]
        line = next((line for term in terms for line, _ in term if line), 0)
        parts = [[parts for _, parts in term] for term in terms]
        return [(line, each) for each in _concatenated(parts)]

    def term(self, nodes):
        words = [_word(node) for node in nodes]
        group = nodes[-1] if nodes and isinstance(nodes[-1], Group) else None
        if nodes and all(_is_literal(node) or _word(node).startswith("PRI") for node in nodes):
            return [(nodes[0].line, _constants(nodes))]
        if len(nodes) == 1 and words[0] in self.constants:
            return [(nodes[0].line, (self.constants[words[0]],))]
        if group and group.opening == "(" and words[:-1] in ([], ["std", "::", "string"]):
            return self.evaluate(group.nodes)
        if group and len(nodes) > 3 and words[-2] in _CODES and words[-4].endswith("Status"):
            self.collect(self.status(nodes[-2].line, group.nodes), _WORD)
        else:
            self.read_calls(nodes, words)
        return [(0, (HOLE,))]

    def status(self, line, nodes):
        """Status::Code(first, second) says "first: second"."""
        first, *second = [[parts for _, parts in self.evaluate(each)]
                          for each in _split(nodes, ",")[:2]]
        texts = [first, [(": ",)], *second] if second else [first]
        return [(line, parts) for parts in _concatenated(texts)]

    def read_calls(self, nodes, words):
        for at, node in enumerate(nodes):
            callee = words[at - 1] if at > 0 else ""
            if isinstance(node, Group) and _has_literal(node.nodes):
                to_stdout = callee == "fprintf" and _word(node.nodes[0]) != "stderr"
                if (not to_stdout and not callee.startswith(_SILENT) and
                        callee not in self.silent):
                    self.read(node.nodes)
            elif _is_literal(node) and callee != "extern":
                self.collect([(node.line, _constants([node]))])


def _chunks(text):
    """Functions, and what is between them, that may have messages; with their lines."""
    line = 1
    for chunk in re.split(r"(?<=\n\})\n", text):
        if re.search(r'"[^"\n]* [^"\n]*"', chunk) or "Status::" in chunk:
            yield line, chunk
        line += chunk.count("\n") + 1


def _named(text):
    """Constants by name."""
    return {match[1]: "".join(_unescape(literal) for literal in _LITERAL.findall(match[2]))
            for match in _CONSTANT.finditer(text)}


def extract():
    """The messages of all plugins, of librocktier.so and of the tool."""
    result = []
    for folder in ["plugin/%s/" % plugin for plugin in sources.plugins()] + ["shared/", "tools/"]:
        texts = {path: sources.read(path)
                 for path in sources.files(folder + "*.h", folder + "*.cc")}
        shared = _named("\n".join(text for path, text in texts.items() if path.endswith(".h")))
        for path, text in texts.items():
            if path.startswith(_LAYOUTS):
                continue
            reader = _Reader(path, {**shared, **_named(text)})
            for line, chunk in _chunks(text):
                reader.read(_tree(chunk, line))
            result += reader.messages
    return result


def show(parts):
    return "".join("..." if part is HOLE else part for part in parts)


# What a short text must stand between: ends of a line, placeholders, marks between two messages.
_BEGIN = r'(?:^|(?<=[\1:;"]) |(?<=[\1"]))'
_END = r'(?=$| ?[\1:;,"])'
_SHORT = 3  # words


def _expression(parts):
    """Matches the quotation of a message; its groups are the constant parts."""
    body = "".join(".*?" if part is HOLE else "(%s)" % re.escape(part) for part in parts)
    short = len(" ".join(part for part in parts if part is not HOLE).split()) <= _SHORT
    begin = _BEGIN if short and parts[0] is not HOLE and parts[0][0].isalnum() else ""
    end = _END if short and parts[-1] is not HOLE and parts[-1][-1].isalnum() else ""
    return re.compile(begin + body + end)


def quotations(text):
    """The messages that the page quotes, as (line, text): placeholders are \\1."""
    ours = True
    block = False
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            ours = line != "## " + NOT_OURS
        elif line.startswith("```"):
            block = line == "```text" and ours and not block
        elif block and line.startswith("  ") and found:
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
        elif block and line:
            found.append((number, line))
    holes = re.compile(r"\b(?:%s)\b" % "|".join(PLACEHOLDERS))
    return [(number, re.sub(r"\s+", " ", holes.sub("\1", line))) for number, line in found]


def check():
    page = quotations(sources.read(PAGE))
    left = {number: list(line) for number, line in page}
    excluded = {text: False for text in unseen.TEXTS}
    for message in extract():
        text = show(message.parts)
        if text in excluded:
            excluded[text] = True
        elif not _is_quoted(message.parts, page, left):
            yield "%s:%d: \"%s\" is neither in %s nor in unseen.py" % (
                message.path, message.line, text, PAGE)
    for number, text in _unknown(left):
        yield "%s:%d: no source has \"%s\" of this" % (PAGE, number, text)
    for text, known in excluded.items():
        if not known:
            yield "test/tidy/unseen.py: no source has \"%s\"" % text


def _unknown(left):
    """What is left of quotations and is no literal either, such as the name of an option."""
    paths = sources.files(*("%s/*.%s" % (folder, kind) for folder in ("plugin", "shared", "tools")
                            for kind in ("h", "cc")))
    literals = "\n".join(literal for path in paths
                         for literal in _LITERAL.findall(sources.read(path)))
    for number, line in left.items():
        for text in re.split("[\0\1]|: ", "".join(line)):
            text = re.sub(r"\w+=", "", text).strip(" :;,()\"")
            if re.search(r"[A-Za-z]{3,}", text) and text not in literals:
                yield number, text


def _is_quoted(parts, page, left):
    """Whether a quotation has the message; takes it out of what is `left` of the quotations."""
    expression = _expression(parts)
    longest = max((part for part in parts if part is not HOLE), key=len)
    quoted = False
    for number, line in page:
        for match in expression.finditer(line) if longest in line else ():
            quoted = True
            for group in range(1, expression.groups + 1):
                begin, end = match.span(group)
                left[number][begin:end] = "\0" * (end - begin)
    return quoted


if __name__ == "__main__":  # lists them
    for each in extract():
        print("%s:%d: %s" % (each.path, each.line, show(each.parts)))
