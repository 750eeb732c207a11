#!/usr/bin/env python3
"""Makes the pictures of README.md from the samples in data/, with the program and Python's standard library.

    docs/images/make.py [PROGRAM]

PROGRAM is target/release/lanefish unless another one is named. The pictures are written beside this file:

    show.svg                    what `lanefish show` prints in colour
    page-light.svg, -dark.svg   a part of the page that `lanefish stats --html` writes, in the colours of that page
"""

import html
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/lanefish").resolve())
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',Arial,sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"


def lanefish(*arguments):
    """Standard output of a command."""
    done = subprocess.run([PROGRAM, "--quiet", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def write(name, width, height, title, body, style):
    """A drawing as a file."""
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{html.escape(title)}">\n<style>{style}</style>\n{body}\n</svg>\n'
    )
    (HERE / name).write_text(text)
    print(f"{name}: {len(text.encode()):,} bytes")


def xterm(number):
    """A colour of the 256 that terminals have, from the cube of 216 or the greys after it."""
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    cube = number - 16
    return "#" + "".join(f"{steps[cube // place % 6]:02x}" for place in (36, 6, 1))


def pieces_of(line):
    """The runs of a line of a terminal: text, colour of the letters, colour behind them, whether it is faint."""
    front = back = None
    faint = False
    for codes, text in re.findall(r"\x1b\[([\d;]*)m|([^\x1b]+)", line):
        if text:
            yield text, front, back, faint
            continue
        numbers = [int(code or 0) for code in codes.split(";")]
        while numbers:
            code = numbers.pop(0)
            if code == 0:
                front, back, faint = None, None, False
            elif code == 2:
                faint = True
            elif code in (38, 48):
                colour = xterm(numbers[1])
                front, back = (colour, back) if code == 38 else (front, colour)
                del numbers[:2]


def terminal(name, command, arguments, title):
    """What a command prints, as a window of a terminal that is dark on any page."""
    cell, height, left, top = 8.4, 21, 20, 50
    lines = lanefish(*arguments, "--color", "always").splitlines()
    drawn = [f'<text class="p" x="{left}" y="30">$ {html.escape(command)}</text>']
    widest = len(command) + 2
    for row, line in enumerate(lines):
        column = 0
        for text, front, back, faint in pieces_of(line):
            x, y = left + column * cell, top + row * height
            if back:
                box = f'x="{x:.1f}" y="{y}" width="{len(text) * cell:.1f}" height="{height}"'
                drawn.append(f'<rect {box} fill="{back}"/>')
            letters = text.strip()
            if letters:
                x += (len(text) - len(text.lstrip())) * cell
                kind = 'class="f"' if faint else f'class="b" fill="{front}"' if front else ""
                drawn.append(f'<text {kind} x="{x:.1f}" y="{y + 15}">{html.escape(letters)}</text>')
            column += len(text)
        widest = max(widest, column)
    width, tall = round(2 * left + widest * cell), top + len(lines) * height + 14
    panel = f'<rect width="{width}" height="{tall}" rx="8" fill="#14191f"/>'
    # No rule for all text has a colour: it would override that of the pieces, which is an attribute.
    style = f"svg{{fill:#dfe4ea}}text{{font:14px {MONO};white-space:pre}}"
    style += ".f{fill:#8a95a1}.p{fill:#9fb4c8}.b{font-weight:700}"
    write(name, width, tall, title, panel + "\n" + "\n".join(drawn), style)


def figure(page, heading):
    """A drawing of the page: its remark, and what is in its `svg`, without what only a mouse can reach."""
    pattern = r"<figure>\s*<figcaption><h\d>(?:<span[^>]*>[^<]*</span> )?" + re.escape(heading) + r".*?</figure>"
    text = next(found for found in re.findall(pattern, page, re.S))
    remark = re.search(r"<p>(.*?)</p>", text, re.S)[1]
    kind, inner = re.search(r'<svg class="([\w ]*)"[^>]*>(.*)</svg>', text, re.S).groups()
    inner = re.sub(r"<title>.*?</title>", "", inner, flags=re.S)
    inner = re.sub(r'<rect class="h"[^>]*></rect>', "", inner)
    # Rectangles of a colour become one path, which is a third as long.
    paths = {}

    def collect(rect):
        kind, x, y, wide, tall = rect.groups()
        paths.setdefault(kind, []).append(f"M{x} {y}h{wide}v{tall}h-{wide}z")
        return ""

    inner = re.sub(
        r'<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"></rect>', collect, inner
    )
    squares = "".join(f'<path class="{level}" d="{"".join(each)}"/>' for level, each in paths.items() if level != "z")
    return html.unescape(re.sub(r"<[^>]*>", "", remark)).strip(), f'<g class="{kind}">{inner}{squares}</g>'


def colours(page, block):
    """The colours of the page: those of its first rule for `:root`, or those that the dark one replaces as well."""
    blocks = [dict(re.findall(r"--([\w-]+):\s*(#\w+)", text)) for text in re.findall(r":root\s*{(.*?)}", page, re.S)]
    return {**blocks[0], **blocks[block]}


def page_picture(name, page, block, title):
    """The head of the page, its results and some of its drawings."""
    hue = colours(page, block)
    width, left, gap = 880, 24, 14
    drawn = [
        '<text class="k" x="24" y="34">lanefish <tspan class="s">dataset report</tspan></text>',
        f'<text class="t" x="24" y="62">{re.search(r"<h1>(.*?)</h1>", page)[1]}</text>',
    ]
    numbers = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)(?:<small>(.*?)</small>)?</dd></div>", page)
    wanted = ["Positions", "Games", "Distinct", "In check", "Legal moves", "Pieces"]
    chosen = [number for label in wanted for number in numbers if number[0] == label]
    wide = (width - 2 * left - gap * (len(chosen) - 1)) / len(chosen)
    for at, (label, value, more) in enumerate(chosen):
        x = left + at * (wide + gap)
        more = more.split(",")[0].split(";")[0]
        drawn.append(f'<rect class="box" x="{x:.1f}" y="80" width="{wide:.1f}" height="72" rx="5"/>')
        drawn.append(f'<text class="s" x="{x + 10:.1f}" y="99">{label}</text>')
        drawn.append(f'<text class="v" x="{x + 10:.1f}" y="122">{value}</text>')
        drawn.append(f'<text class="s" x="{x + 10:.1f}" y="141">{more}</text>')
    # Each drawing: the heading, the place, and how much larger than on the page it is.
    places = [
        ("Legal moves", 24, 184, 1.12),
        ("Pieces on the board", 456, 184, 1.12),
        ("Pieces and legal moves", 24, 462, 1.12),
        ("Attacked by White", 456, 462, 1.12),
        ("Black king", 668, 462, 1.12),
    ]
    for heading, x, y, scale in places:
        remark, inner = figure(page, heading)
        drawn.append(f'<text class="h" x="{x}" y="{y}">{heading}</text>')
        drawn.append(f'<text class="s" x="{x}" y="{y + 18}">{html.escape(remark)}</text>')
        drawn.append(f'<g transform="translate({x} {y + 30}) scale({scale})">{inner}</g>')
    # The bar of results, which is made of boxes on the page.
    label, bar, legend = re.search(
        r'<dt>(Results by game.*?)</dt><dd><span class="stack"[^>]*>(.*?)</span><small>(.*?)</small>', page
    ).groups()
    x, y, wide = 472, 722, 384
    drawn.append(f'<text class="s" x="{x}" y="{y - 8}">{label}</text>')
    for kind, share in re.findall(r'class="(\w)" style="width:([\d.]+)%', bar):
        length = wide * float(share) / 100
        if length:
            drawn.append(f'<rect class="s{kind}" x="{x:.1f}" y="{y}" width="{length:.1f}" height="14"/>')
        x += length
    drawn.append(f'<text class="s" x="472" y="{y + 30}">{legend}</text>')
    tall = 794
    panel = f'<rect class="page" x=".5" y=".5" width="{width - 1}" height="{tall - 1}" rx="8"/>'
    style = (
        f"text{{font:11px {SANS};fill:{hue['soft']}}}.page{{fill:{hue['bg']};stroke:{hue['line']}}}"
        f".box{{fill:none;stroke:{hue['line']}}}.t{{font-size:22px;font-weight:650;fill:{hue['fg']}}}"
        f".k{{font-size:13px;font-weight:600}}.s{{font-size:12px;font-weight:400}}.h{{font-size:15px;font-weight:600;"
        f"fill:{hue['fg']}}}text.v{{font-size:20px;font-weight:600;fill:{hue['fg']}}}.n,.r{{text-anchor:middle}}"
        f".y{{text-anchor:end}}.g{{stroke:{hue['line']};stroke-width:.7}}.x{{stroke:{hue['soft']};stroke-width:.8;"
        f"fill:none}}.b{{fill:{hue['counts']}}}.moves .b{{fill:{hue['moves']}}}"
        f".light{{fill:{hue['light-square']}}}"
        f".dark{{fill:none;stroke:{hue['dark-square']};stroke-width:20;stroke-dasharray:20}}"
    )
    for level, opacity in re.findall(r"\.q(\d) {[^}]*--o: ([.\d]+);", page):
        style += f".q{level}{{fill:{hue['heat' + level]}}}.board .q{level}{{fill-opacity:{opacity}}}"
    fills = {"sw": "white", "sd": "draw", "sb": "black"}
    for kind in fills:
        style += f".{kind}{{fill:{hue[fills[kind]]};stroke:{hue['edge']}}}"
    write(name, width, tall, title, panel + "\n" + "\n".join(drawn), style)


def main():
    record = ["show", "data/famous.epd", "--index", "124", "--attacks", "white"]
    command = "lanefish " + " ".join(record)
    terminal("show.svg", command, record, "A board in the terminal: squares that White attacks, and a mated king")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "page.html"
        lanefish("stats", "data/lichess-2025-05.pgn", "--html", str(path))
        page = path.read_text()
    title = "Part of a report: numbers of positions and games, histograms, results by phase and heat maps of squares"
    page_picture("page-light.svg", page, 0, title)
    page_picture("page-dark.svg", page, 1, title)


if __name__ == "__main__":
    main()
