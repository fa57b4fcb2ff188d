"""The part of a report that is explored: directories, hubs with their neighbours, cycles and functions, with a filter.

Everything opens and closes without the script, by mouse and by keyboard. The script alone filters; the page's policy
names it by its hash, so that nothing else runs whatever a project is called.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from fledgling.broker.reporting.treemap import Node, tree
from fledgling.messages.answers import Hub, Overview
from fledgling.plain import one_line

ELSEWHERE = "(elsewhere)"  # directories that were too small to be listed

SCRIPT = """
(() => {
  const box = document.getElementById("filter");
  const told = document.getElementById("told");
  const rows = [...document.querySelectorAll("[data-name]")];
  box.parentElement.hidden = false;
  box.addEventListener("input", () => {
    const asked = box.value.toLowerCase();
    const hits = rows.filter((row) => row.dataset.name.toLowerCase().includes(asked));
    const shown = new Set(hits);
    for (const hit of hits) {
      for (let above = hit.parentElement; above; above = above.parentElement) shown.add(above);
    }
    for (const row of rows) {
      row.hidden = !shown.has(row);
      if (row.tagName === "DETAILS") row.open = asked !== "" && shown.has(row);
    }
    told.textContent = asked === "" ? "" : hits.length + " of " + rows.length;
  });
  document.addEventListener("keydown", (key) => {
    if (key.key === "/" && document.activeElement !== box) {
      key.preventDefault();
      box.focus();
    }
  });
})();
"""


def policy(*scripts: str) -> str:
    """Return the policy of a page: these scripts run, each known by its hash, and nothing is loaded."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    known = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {known}"


POLICY = policy(SCRIPT)


def section(overview: Overview) -> Iterator[str]:
    """Yield the section. Its rows say in `data-name` what the filter finds them by."""
    yield '<section class="explore"><h2>Explore</h2>'
    yield (
        '<p hidden><label for="filter">Filter</label> <input type="search" id="filter" '
        'placeholder="part of a path, a name or a language"> <span id="told" role="status"></span></p>'
    )
    yield "<h3>Directories</h3>"
    pieces = [
        (ELSEWHERE if area.directory is None else area.directory, area.language, area.lines) for area in overview.areas
    ]
    for node in tree(pieces).children if pieces else ():
        yield from _node(node, "")
    yield "<h3>Hubs and their neighbours</h3>"
    for number, hub in enumerate(overview.hubs):
        importers = [other.path for other in overview.hubs if number in other.imports]
        yield from _hub(hub, [overview.hubs[other].path for other in hub.imports], importers)
    yield "<h3>Cycles among hubs</h3>"
    circles = cycles(overview.hubs)
    for circle in circles:
        names = " · ".join(_e(overview.hubs[number].path) for number in circle)
        yield f'<p data-name="{names}">{names}</p>'
    if not circles:
        yield '<p class="faint">No hub imports itself by way of other hubs.</p>'
    yield "<h3>Longest functions</h3>"
    for each in overview.functions:
        place = f"{each.path}:{each.lines[0]}"
        length = each.lines[1] - each.lines[0] + 1
        said = f'{_e(each.name)} <span class="faint">{length:,} lines, {_e(place)}</span>'
        yield f'<p data-name="{_e(f"{each.name} {each.path}")}">{said}</p>'
    yield f"</section><script>{SCRIPT}</script>"


def cycles(hubs: Sequence[Hub]) -> list[list[int]]:
    """Return hubs that reach each other, as places in the list: a hub that imports itself is a cycle of one.

    They are few (fewer than 100), so what each reaches is looked at for each.
    """
    reach = [_reached(hubs, number) for number in range(len(hubs))]
    circles = (
        [other for other in sorted(reach[number]) if number in reach[other]]
        for number in range(len(hubs))
        if number in reach[number]
    )
    return [list(circle) for circle in dict.fromkeys(map(tuple, circles))]


def _reached(hubs: Sequence[Hub], start: int) -> set[int]:
    """Return what a hub imports, and what that imports."""
    reached: set[int] = set()
    waiting = [*hubs[start].imports]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += hubs[number].imports
    return reached


def _node(node: Node, above: str) -> Iterator[str]:
    """Yield a directory with what is in it; a piece is a line."""
    if not node.children:
        language = node.language or "unknown"
        words, more = (node.name, f"{language}, ") if node.name else (language, "")
        said = f'{_e(words)} <span class="faint">{_e(more)}{node.weight:,} lines</span>'
        yield f'<p data-name="{_e(f"{above}{node.name} {language}")}">{said}</p>'
        return
    path = f"{above}{node.name}/"
    lines = f'<span class="faint">{node.weight:,} lines</span>'
    yield f'<details data-name="{_e(path)}"><summary>{_e(node.name)} {lines}</summary>'
    for child in node.children:
        yield from _node(child, path)
    yield "</details>"


def _hub(hub: Hub, imports: Iterable[str], importers: Iterable[str]) -> Iterator[str]:
    yield (
        f'<details data-name="{_e(hub.path)}"><summary>{_e(hub.path)} '
        f'<span class="faint">{hub.importers:,} importers</span></summary>'
    )
    for what, paths in (("imports", imports), ("is imported by", importers)):
        for path in paths:
            yield f'<p><span class="faint">{what}</span> {_e(path)}</p>'
    yield "</details>"


def _e(words: str) -> str:
    """Return words as HTML, with what is not printable shown as what it is."""
    return escape(one_line(words))
