"""The part of a report that is explored: directories, hubs with their neighbours, circles and functions, with a filter.

Everything opens and closes without the script, by mouse and by keyboard. The script alone filters; the page's policy
names it by its hash, so that nothing else runs whatever a project is called.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator

from fledgling.broker.reporting.related import calls, circles, shown
from fledgling.broker.reporting.treemap import Node, tree
from fledgling.messages.inner_answers import Hub, Overview
from fledgling.plain import counted

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
    yield '<div class="pair"><div class="tree"><h3>Directories</h3>'
    pieces = [
        (ELSEWHERE if area.directory is None else area.directory, area.language, area.lines) for area in overview.areas
    ]
    for node in tree(pieces).children if pieces else ():
        yield from _node(node, "")
    yield "</div><div><h3>Files most imported</h3>"
    for number, hub in enumerate(overview.hubs):
        importers = [other.path for other in overview.hubs if number in other.imports]
        yield from _hub(hub, [overview.hubs[other].path for other in hub.imports], importers)
    if not overview.hubs:
        yield '<p class="faint">No import leads to a file of the project.</p>'
    yield "<h3>Circles of imports</h3>"
    yield from circles(overview.circles, "No file imports itself by way of others.")
    yield "</div><div>"
    yield from calls(overview.calls)
    yield "</div><div><h3>Longest functions</h3>"
    for each in overview.functions:
        place = f"{each.path}:{each.lines[0]}"
        length = each.lines[1] - each.lines[0] + 1
        said = f'{shown(each.name)} <span class="faint">{counted(length, "line")}, {shown(place)}</span>'
        yield f'<p data-name="{shown(f"{each.name} {each.path}")}">{said}</p>'
    yield f"</div></div></section><script>{SCRIPT}</script>"


def _node(node: Node, above: str) -> Iterator[str]:
    """Yield a directory with what is in it; a piece is a line."""
    if not node.children:
        language = node.language or "unknown"
        words, more = (node.name, f"{language}, ") if node.name else (language, "files here, ")
        said = f'{shown(words)} <span class="faint">{shown(more)}{counted(node.weight, "line")}</span>'
        yield f'<p data-name="{shown(f"{above}{node.name} {language}")}">{said}</p>'
        return
    path = f"{above}{node.name}/"
    lines = f'<span class="faint">{counted(node.weight, "line")}</span>'
    yield f'<details data-name="{shown(path)}"><summary>{shown(node.name)} {lines}</summary>'
    for child in node.children:
        yield from _node(child, path)
    yield "</details>"


def _hub(hub: Hub, imports: Iterable[str], importers: Iterable[str]) -> Iterator[str]:
    yield (
        f'<details data-name="{shown(hub.path)}"><summary>{shown(hub.path)} '
        f'<span class="faint">{counted(hub.importers, "importer")}</span></summary>'
    )
    for what, paths in (("imports", imports), ("is imported by", importers)):
        for path in paths:
            yield f'<p><span class="faint">{what}</span> {shown(path)}</p>'
    yield "</details>"
