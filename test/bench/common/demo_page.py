"""The demo's page."""

from common.html_page import plot, tabular, text, whole

COLOURS = {"better": "#2e8b57", "worse": "#d9534f", "undecided": "#9e9e9e"}
STOCK_COLOUR, OURS_COLOUR = "#9e9e9e", "#2e8b57"
OTHER_COLOURS = ("#5b8ff9", "#f6bd16")
WIDTH, HEIGHT, LINE_HEIGHT = 1000, 340, 42


def page(document, results, notes):
    shown = [result for result in results if result.comparisons()]
    return whole("rocktier: the demo", [
        "<h1>RocksDB with each plugin, and without</h1>",
        f'<p class="note">{text(ground(document))}</p>',
        summary(results),
        *(f'<p class="note">{text(note)}</p>' for note in notes),
        plot(gains(shown), "gains") if shown else "",
        *(section(result) for result in results),
    ])


def ground(document):
    machine = document["machine"]
    return (f"{document['date']}, commit {document['commit']}, {document['rocktier']}. "
            f"{machine['cpu']}, {machine['cores']} CPUs, {machine['memory_gb']} GB, "
            f"{machine['disk']}; load average {document['load_average'][0]} before, "
            f"{document['load_average'][1]} after; {document['seconds']:.0f} s.")


def summary(results):
    rows = []
    for result in results:
        name = f'<a href="#{text(result.name)}">{text(result.thing)}</a>'
        if not result.comparisons():
            rows.append(f'<tr><td>{name}</td><td class="text" colspan="6">{text(result.status)}'
                        "</td></tr>")
        for i, one in enumerate(result.comparisons()):
            rows.append(row(name if i == 0 else "", one, result.part.ground if i == 0 else ""))
    return tabular(("", "", "plugin", "stock", "ratio", "interval", "ground"), rows)


def row(name, one, of_ground):
    told = one.ratio is not None
    ratio = f"{one.ratio:.2f}" if told else "-"
    span = f"{one.low:.2f} to {one.high:.2f}" if told else "-"
    verdict = f'<span class="{one.verdict}">{ratio} {one.verdict}</span>'
    return (f'<tr><td>{name}</td><td class="text">{text(one.measure.name)}</td>'
            f"<td>{text(one.measure.shown(one.value))}</td>"
            f"<td>{text(one.measure.shown(one.base))}</td><td>{verdict}</td><td>{span}</td>"
            f'<td class="text">{text(of_ground)}</td></tr>')


def section(result):
    lines = [f'<h2 id="{text(result.name)}">{text(result.thing)} '
             f"<small>{text(result.plugin)}</small></h2>", f"<p>{text(result.sentence())}</p>"]
    if not result.comparisons():
        return "\n".join(lines)
    lines.append(f'<p class="note">{text(result.part.about)} Ground: {text(result.part.ground)}.'
                 "</p>")
    lines.append(plot(slices(result), result.name))
    for system in result.others():
        rows = [row("", one, "") for one in result.comparisons(system.name)]
        lines.append(tabular(("", "", system.label, "stock", "ratio", "interval", ""), rows))
    lines += [f"<p>{text(system.label)}: <code>{text(result.commands[system.name])}</code></p>"
              for system in result.part.systems]
    return "\n".join(lines)


def terminal(height):
    return (f'set terminal svg size {WIDTH},{height} noenhanced font "sans,13" '
            'background "white"')


def quoted(value):
    return '"' + str(value).replace("\\", "/").replace('"', "'") + '"'


def gains(results):
    """Times better, by the first measure, with its interval."""
    lines, points, least = [], [], 0.5
    told = [(result, result.comparisons()[0]) for result in results]
    for i, (result, one) in enumerate(told):
        if one.ratio is None or min(one.ratio, one.low) <= 0:
            continue
        values = (one.ratio, one.low, one.high)
        if not one.measure.more_is_better:
            values = (1 / one.ratio, 1 / one.high, 1 / one.low)
        least = min(least, values[1] * 0.9)
        place = len(told) - i
        points.append(f"{values[0]:.6g} {place} {values[1]:.6g} {values[2]:.6g} "
                      f"0x{COLOURS[one.verdict][1:]}")
        lines.append(f"{quoted(f'{result.thing}: {one.measure.name}')} {place}")
    return "\n".join([
        terminal(90 + LINE_HEIGHT * len(told)),
        "$points << EOD", *points, "EOD",
        f"set ytics ({', '.join(lines)})" if lines else "unset ytics",
        f"set yrange [0.3:{len(told)}.7]",
        "set logscale x 2", f"set xrange [{least:.6g}:*]",
        "set format x '%gx'",
        "set xlabel 'times better than stock, with its interval (1x: no difference)'",
        "set grid xtics linewidth 1 linecolor rgb '#d0d0d0'",
        "set arrow from 1, graph 0 to 1, graph 1 nohead linewidth 2 linecolor rgb '#606060'",
        "set border 1", "set tics nomirror scale 0", "unset key",
        "plot $points using 1:2:3:4:5 with xerrorbars linewidth 3 pointtype 7 pointsize 0.8 "
        "linecolor rgb variable" if points else "plot NaN",
        "",
    ])


def colours(result):
    others = iter(OTHER_COLOURS)
    systems = result.part.systems
    return {system.name: STOCK_COLOUR if i == 0 else
            OURS_COLOUR if i == len(systems) - 1 else next(others)
            for i, system in enumerate(systems)}


def slices(result):
    """Every slice, in the order of time: a panel for each measure."""
    start = min(figures["begin"] for one in result.rounds for figures in one.values())
    lines = [terminal(HEIGHT),
             f"set multiplot layout 1,{len(result.part.measures)}",
             "set border 3", "set tics nomirror", "set yrange [0:*]", "set xlabel 'seconds'",
             "set grid ytics linewidth 1 linecolor rgb '#d0d0d0'",
             "set key outside bottom center vertical",
             "set format y '%g'"]
    colour_of = colours(result)
    for number, measure in enumerate(result.part.measures):
        plots = []
        for place, system in enumerate(result.part.systems):
            data = f"$data{number}x{place}"
            lines += [f"{data} << EOD", *points_of(result.rounds, system.name, measure, start),
                      "EOD"]
            plots.append(f"{data} using 1:2 with linespoints linewidth 2 pointtype 7 "
                         f"pointsize 0.6 linecolor rgb '{colour_of[system.name]}' "
                         f"title {quoted(system.label)}")
        better = "more" if measure.more_is_better else "less"
        lines += [f"set title {quoted(f'{measure.name} ({better} is better)')}",
                  "plot " + ", ".join(plots)]
    return "\n".join([*lines, "unset multiplot", ""])


def points_of(rounds, system, measure, start):
    for figures in (one[system] for one in rounds):
        value = measure.of(figures)
        middle = (figures["begin"] + figures["end"]) / 2 - start
        yield f"{middle:.3f} {'NaN' if value is None else format(value, '.6g')}"
