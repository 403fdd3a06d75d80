"""Tables and lists of documents, and the lines of comments that say what they show."""

import textwrap

COLUMNS = 100


class Mistake(Exception):
    """What is wrong with a comment, or with a file that it names."""


def names(text, default):
    """[(name, how it is called)] of `name = text; name`."""
    if not text:
        return [(name, name) for name in default]
    pairs = [part.split(" = ", 1) for part in text.split(";")]
    return [(pair[0].strip(), pair[-1].strip()) for pair in pairs if pair[0].strip()]


def shown(value, shape, scale):
    text = shape.format(value * scale)
    whole, point, rest = text.partition(".")
    digits = whole.lstrip("-")
    if digits.isdigit() and len(digits) > 3:
        text = f"{int(whole):,}{point}{rest}"
    return text


def table(heading, lines):
    def line(cells):
        return ("| " + " | ".join(cells) + " |").replace("  ", " ")
    return [line(heading), "|" + "---|" * len(heading), *map(line, lines)]


def wrapped(text, bullet):
    return textwrap.wrap(bullet + text, COLUMNS, subsequent_indent=" " * len(bullet),
                         break_long_words=False, break_on_hyphens=False)
