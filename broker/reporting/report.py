"""The index as one HTML page to look at: SVG, one script of ours, nothing loaded from elsewhere, everything escaped."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import fledgling
from fledgling.broker.reporting.explorer import ELSEWHERE, SCRIPT, policy, section
from fledgling.broker.reporting.related import shown
from fledgling.broker.reporting.treemap import Box, Cell, Node, cells, tree
from fledgling.messages.control import Built
from fledgling.messages.inner_answers import Area, Hub, LongFunction, Overview, Parsed
from fledgling.plain import counted, one_line

STYLE = Path(fledgling.__file__).with_name("page.css").read_text("utf-8")  # before files are out of reach
MARK = "<!doctype html>\n<!-- fledgling report -->\n"  # how a report begins: nothing else is overwritten by one
MAP = Box(0, 0, 1200, 560)
COLORS = 9  # languages with a colour of their own; the others share one
HALF = 480  # pixels; the width of a picture that shares its row, and of one that a telephone shows whole
COVERED = 20  # languages with a bar of their own
ROW = 22  # pixels; the height of a row
# Pixels that a letter of 12 pixels takes in DejaVu Sans, the widest of the usual fonts.
WIDE, CAPITAL, USUAL, THIN = 12.0, 9.2, 7.8, 5.0
WIDE_LETTERS, THIN_LETTERS = frozenset("mwMW@%—…"), frozenset("fijlrt.,:;/|!'()[]I ")
UNKNOWN = "unknown"

# What is said of files by how far they are understood, and its colour.
PARSED = (
    ("whole", "parsed whole", "c2"),
    ("in_part", "in part", "c6"),
    ("given_up", "given up", "c3"),
    ("without_parser", "no parser for it", "c9"),
)


def page(project: str, profile: str, at: str, built: Built, overview: Overview, script: str = "") -> str:
    """Return the page of a project, as one profile shows it; another `script` of ours may be put into it."""
    body = [
        *_summary(project, profile, at, built, overview),
        *_treemap(overview),
        '<div class="pair">',
        *_hubs(overview.hubs),
        *_functions(overview.functions),
        "</div>",
        *section(overview),
        *_parsed(overview.parsed),
        *_skipped(built, overview),
        *([f"<script>{script}</script>"] if script else []),
    ]
    allowed = policy(*filter(None, (SCRIPT, script)))
    return MARK + "\n".join([
        '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{shown(project)}</title>", f"<style>{STYLE}</style>", "</head>", "<body>", '<main class="report">',
        *body,
        "</main>", "</body>", "</html>\n",
    ])  # fmt: skip


def _summary(project: str, profile: str, at: str, built: Built, overview: Overview) -> Iterator[str]:
    yield f"<h1>{shown(project)}</h1>"
    seconds = built.seconds["total"]
    yield f'<p class="faint">As the profile {shown(profile)} shows it, {shown(at)}. Indexed in {seconds:.1f} s.</p>'
    if built.partial:
        yield f'<p class="partial">{shown(built.partial)}</p>'
    counts = {
        "files": overview.files,
        "lines": overview.lines,
        "definitions": built.symbols,
        "imports": built.imports,
    }
    yield '<ul class="counts">'
    for name, count in counts.items():
        yield f"<li><b>{count:,}</b> {name}</li>"
    yield "</ul>"


# ---- languages and sizes --------------------------------------------------------------------------------------------


def _treemap(overview: Overview) -> Iterator[str]:
    yield "<h2>Languages and sizes</h2>"
    if not overview.areas:
        yield '<p class="faint">No file has text in this index.</p>'
        return
    lines = Counter[str]()
    for area in overview.areas:
        lines[area.language or ""] += area.lines
    ranked = [language for language, _ in lines.most_common() if language][:COLORS]
    colors = {language: f"c{number}" for number, language in enumerate(ranked)}
    yield '<ul class="legend">'
    for language in ranked:
        share = lines[language] / sum(lines.values())
        percent = f"{share:.0%}" if share >= 0.005 else "under 1%"
        yield _key(colors[language], language, f"{lines[language]:,} lines, {percent}")
    others = sum(lines.values()) - sum(lines[language] for language in ranked)
    if others:
        yield _key("c9", "other or unknown", f"{others:,} lines")
    yield "</ul>"
    yield f"<figure>{_svg('Treemap of directories by lines', MAP.width, MAP.height, 'map')}"
    for cell in cells(tree(_pieces(overview.areas)), MAP):
        if cell.depth or not cell.is_framed:
            yield _cell(cell, colors)
    yield "</svg><figcaption>Directories by lines of text, coloured by language.</figcaption></figure>"


def _pieces(areas: Iterable[Area]) -> list[tuple[str, str | None, int]]:
    return [(ELSEWHERE if area.directory is None else area.directory, area.language, area.lines) for area in areas]


def _cell(cell: Cell, colors: dict[str, str]) -> str:
    box, node = cell.box, cell.node
    language = _language(node)
    style = "frame" if cell.is_framed else f"cell {colors.get(language, 'c9')}"
    where = cell.path or "the root"
    title = f"{where}: {node.weight:,} lines" + ("" if cell.is_framed else f", {language or UNKNOWN}")
    words = node.name or language or UNKNOWN
    label = ""
    if box.height >= 15 and (words := fitted(words, box.width - 6)):
        kind = ' class="head"' if cell.is_framed else ""
        label = f'<text{kind} x="3" y="12">{shown(words)}</text>'
    # A picture of its own clips what a font makes wider than it should be.
    return (
        f'<svg x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}">'
        f'<title>{shown(title)}</title><rect class="{style}" width="100%" height="100%"/>{label}</svg>'
    )


def _language(node: Node) -> str:
    """Return the language of a piece, or of the largest piece of a directory."""
    while node.children:
        node = node.children[0]
    return node.language or ""


# ---- hubs, functions, coverage --------------------------------------------------------------------------------------


def _hubs(hubs: Sequence[Hub]) -> Iterator[str]:
    yield "<section><h2>Hubs of the import graph</h2>"
    if not hubs:
        yield '<p class="faint">No import leads to a file of the project.</p></section>'
        return
    yield '<p class="faint">The files that most others import; arcs join hubs that import each other.</p>'
    most = hubs[0].importers
    yield _svg("Hubs of the import graph", HALF, len(hubs) * ROW)
    joined = {(min(a, b), max(a, b)) for a, hub in enumerate(hubs) for b in hub.imports if a != b}
    for a, b in sorted(joined):
        middle = (b - a) * ROW / 2
        width = min(110.0, 14.0 + 7 * (b - a))
        names = f"{hubs[a].path} — {hubs[b].path}"
        yield (
            f'<path class="arc" d="M130 {_middle(a):g} A{width:g} {middle:g} 0 0 0 130 {_middle(b):g}">'
            f"<title>{shown(names)}</title></path>"
        )
    for number, hub in enumerate(hubs):
        radius = 2.5 + 6 * math.sqrt(hub.importers / most)
        yield f'<circle class="dot" cx="130" cy="{_middle(number):g}" r="{radius:.1f}"/>'
        label = fitted(hub.path, HALF - 146 - 50, keep_end=True)
        yield _text(146, number, label, title=hub.path)
        yield _text(HALF, number, f"{hub.importers:,}", "end faint")
    yield "</svg></section>"


def _functions(functions: Sequence[LongFunction]) -> Iterator[str]:
    yield "<section><h2>Longest functions</h2>"
    if not functions:
        yield '<p class="faint">No function was found.</p></section>'
        return
    yield '<p class="faint">In lines, generated files left out.</p>'
    most = _length(functions[0])
    yield _svg("Longest functions", HALF, len(functions) * ROW)
    for number, function in enumerate(functions):
        width = max(1.0, _length(function) / most * HALF)
        place = f"{function.path}:{function.lines[0]}"
        yield _bar(0, number, width, "bar", f"{function.name} in {place}", from_top=ROW - 4)
        name = fitted(function.name, HALF * 0.45)
        yield _text(0, number, name, title=f"{function.name} in {place}")
        taken = text_width(name) + 10
        yield _text(HALF - 45, number, fitted(place, HALF - 45 - taken, keep_end=True), "end faint")
        yield _text(HALF, number, f"{_length(function):,}", "end")
    yield "</svg></section>"


def _length(function: LongFunction) -> int:
    return function.lines[1] - function.lines[0] + 1


def _parsed(parsed: Sequence[Parsed]) -> Iterator[str]:
    yield "<section><h2>Parse coverage</h2>"
    if not parsed:
        yield '<p class="faint">No file has text in this index.</p></section>'
        return
    yield '<ul class="legend">'
    for key, words, color in PARSED:
        count = sum(getattr(row, key) for row in parsed)
        yield _key(color, words, counted(count, "file"))
    yield "</ul>"
    shown = parsed[:COVERED]
    label = "Files by language and how far they are parsed"
    yield f"<figure>{_svg(label, MAP.width, len(shown) * ROW, 'wide')}"
    for number, row in enumerate(shown):
        files = sum(getattr(row, key) for key, _, _ in PARSED)
        yield _text(0, number, fitted(row.language or UNKNOWN, 150))
        x = 160.0
        for key, words, color in PARSED:
            width = getattr(row, key) / files * 940
            if width:
                title = f"{row.language or UNKNOWN}: {getattr(row, key):,} {words}"
                yield _bar(x, number, width, f"bar {color}", title)
            x += width
        yield _text(MAP.width, number, f"{files:,}", "end faint")
    yield "</svg></figure>"
    if len(parsed) > len(shown):
        yield f'<p class="faint">And {len(parsed) - len(shown)} languages with fewer files.</p>'
    yield "</section>"


def _skipped(built: Built, overview: Overview) -> Iterator[str]:
    yield "<section><h2>Skipped, and why</h2>"
    if not overview.skipped and not built.left_out:
        yield '<p class="faint">Nothing: every file is listed with its text.</p></section>'
        return
    yield "<table><thead><tr><th>Why</th><th></th><th>Files</th><th>Such as</th></tr></thead><tbody>"
    for row in overview.skipped:
        examples = ", ".join(row.examples) + (", …" if row.files > len(row.examples) else "")
        yield _row(row.reason, "listed without text", row.files, examples)
    for reason, count in built.left_out.items():
        yield _row(reason, "not listed", count, "")
    yield "</tbody></table></section>"


def _row(reason: str, what: str, count: int, examples: str) -> str:
    return (
        f'<tr><td>{shown(reason)}</td><td>{what}</td><td class="number">{count:,}</td><td>{shown(examples)}</td></tr>'
    )


# ---- text in pictures -----------------------------------------------------------------------------------------------


def _svg(label: str, width: float, height: float, kind: str = "") -> str:
    return f'<svg class="{kind}" role="img" aria-label="{label}" viewBox="0 0 {width:g} {height:g}">'


def _key(color: str, words: str, count: str) -> str:
    return f'<li><i class="{color}"></i> {shown(words)} <span class="faint">{count}</span></li>'


def _bar(x: float, number: int, width: float, kind: str, title: str, from_top: int = 2) -> str:
    """Return a bar in a row: as high as the row, or from so many pixels below its top."""
    y, height = number * ROW + from_top, ROW - 2 - from_top
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}">'
        f"<title>{shown(title)}</title></rect>"
    )


def _middle(number: int) -> float:
    return number * ROW + ROW / 2


def _text(x: float, number: int, words: str, kind: str = "", title: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    told = f"<title>{shown(title)}</title>" if title else ""
    return f'<text{style} x="{x:g}" y="{_middle(number) + 4:g}">{told}{shown(words)}</text>'


def fitted(words: str, width: float, *, keep_end: bool = False) -> str:
    """Return words cut to so many pixels, `fitted("a long name", 40)` to `a lo…`; none where not two letters fit."""
    words = one_line(words)
    if text_width(words) <= width:
        return words
    room, kept = width - WIDE, 0
    for letter in reversed(words) if keep_end else words:
        room -= _letter_width(letter)
        if room < 0:
            break
        kept += 1
    if kept < 2:
        return ""
    return f"…{words[-kept:]}" if keep_end else f"{words[:kept]}…"


def text_width(words: str) -> float:
    """Return the pixels that words take at most, as far as that can be known without a font."""
    return sum(map(_letter_width, words))


def _letter_width(letter: str) -> float:
    if letter in WIDE_LETTERS or unicodedata.east_asian_width(letter) in "WF":
        return WIDE
    if letter in THIN_LETTERS:
        return THIN
    return CAPITAL if letter.isupper() else USUAL
