"""What the pages have in common: one HTML file with its plots in it, which needs nothing else."""

import html
import re
import shutil
import subprocess

STYLE = """
body { font: 16px/1.5 sans-serif; color: #222; background: #fff; max-width: 66em; margin: 2em auto;
       padding: 0 1em; }
h2 { margin: 2.5em 0 .3em; font-size: 1.2em; }
h2 small { font-weight: normal; color: #666; }
p { margin: .4em 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .8em 0; white-space: nowrap; }
th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child, th.text, td.text { text-align: left; }
.better, .met { color: #1b6e3c; font-weight: bold; }
.worse, .missed { color: #b3261e; font-weight: bold; }
.undecided, .note, .not { color: #666; }
svg { max-width: 100%; height: auto; }
code { font-size: .8em; overflow-wrap: anywhere; }
td.wide { white-space: normal; }
small { color: #666; }
"""


def whole(title, parts):
    """A page of these parts."""
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{text(title)}</title>", f"<style>{STYLE}</style>", "</head>", "<body>",
        *(part for part in parts if part), "</body>", "</html>", "",
    ])


def text(value):
    return html.escape(str(value))


def tabular(headings, rows, left=("", "ground")):
    """`left`: the headings of columns of text."""
    cells = "".join(f'<th class="{"text" if one in left else "number"}">{text(one)}</th>'
                    for one in headings)
    head = [f"<tr>{cells}</tr>"] if cells else []
    return "\n".join(['<div class="scroll">', "<table>", *head, *rows, "</table>", "</div>"])


def plot(script, name):
    """The SVG that gnuplot draws, with names of its own: there are several in the page."""
    if not shutil.which("gnuplot"):
        return '<p class="note">No plot: gnuplot is not installed.</p>'
    drawn = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, check=False)
    if drawn.returncode != 0 or "<svg" not in drawn.stdout:
        return f'<p class="note">No plot: {text(drawn.stderr.strip())}</p>'
    svg = drawn.stdout[drawn.stdout.index("<svg"):]
    svg = re.sub(r'\bid=(["\'])', rf"id=\1{name}-", svg)
    svg = re.sub(r'href=(["\'])#', rf"href=\1#{name}-", svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace("xlink:href", "href")
    # The address of a name space, which nobody fetches; HTML knows it by itself.
    svg = re.sub(r' xmlns(:xlink)?=("[^"]*"|\'[^\']*\')', "", svg)
    return f'<div class="scroll">{svg}</div>'
