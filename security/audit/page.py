"""A report as one HTML page that a reviewer forwards: no scripts, nothing loaded from elsewhere, everything escaped."""

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path

import fledgling
from fledgling.messages.questions import QUESTIONS
from fledgling.security.audit.report import (
    FAMILIES,
    HELD,
    LAYERS,
    STATUSES,
    Report,
    Result,
    by_layer,
    counted,
    headline,
)

_BAD = ("through", "unproven")


def page(report: Report) -> str:
    """Return the page: the verdict, what is behind it by profile, family, layer and threat, then every row."""
    style = Path(fledgling.__file__).with_name("page.css").read_text("utf-8")
    title = f"Audit of {', '.join(profile.name for profile in report.profiles)}"
    body = [*_summary(report, title), *_matrix(report), *_layers(report), *_threats(report), *_rows(report)]
    return "\n".join([
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_e(title)}</title>", f"<style>\n{style}</style>", "</head>", "<body>", '<main class="audit">', *body,
        "</main>", "</body>", "</html>\n",
    ])  # fmt: skip


def _summary(report: Report, title: str) -> Iterator[str]:
    count = counted(report.results)
    is_good = report.exit_code == HELD
    yield f"<h1>{_e(title)}</h1>"
    yield f'<p class="verdict {"held" if is_good else "through"}">{_e(headline(report))}</p>'
    yield '<ul class="counts">'
    for status, words in STATUSES.items():
        yield f'<li class="{_class(status) if count[status] else ""}"><b>{count[status]:,}</b> {_e(words)}</li>'
    yield "</ul>"
    yield "<dl>"
    yield f"<dt>When</dt><dd>{_e(report.at)}, in {report.seconds:.0f} seconds</dd>"
    yield f"<dt>Fledgling</dt><dd>{_e(report.version)}</dd><dt>Machine</dt><dd>{_e(report.machine)}</dd>"
    for profile in report.profiles:
        about = filter(None, (", ".join(profile.tools), profile.leaves))
        yield f"<dt>{_e(profile.name)}</dt><dd>{'<br>'.join(map(_e, about))}<br><code>{_e(profile.digest)}</code></dd>"
    yield "</dl>"
    yield from _failures(report)


def _failures(report: Report) -> Iterator[str]:
    bad = [result for result in report.results if result.status in _BAD]
    if bad:
        yield "<h2>What got through</h2>"
        yield from _table(("Profile", "Family", "Attack", "Must be stopped by", "Seen"), (
            ("", (_profile(r), FAMILIES[r.family], r.name, r.expected, r.evidence)) for r in bad
        ))  # fmt: skip


def _matrix(report: Report) -> Iterator[str]:
    """Yield profile x tool x family, in counts."""
    yield "<h2>Profiles, tools and families</h2>"
    rows = []
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in report.results:
        groups.setdefault((_profile(result), result.family, _tool(report, result)), []).append(result)
    for (profile, family, tool), results in sorted(groups.items(), key=lambda g: (g[0][0], [*FAMILIES].index(g[0][1]))):
        count = counted(results)
        layers = ", ".join(f"{layer} {number}" for layer, number in by_layer(results))
        worst = next(status for status in STATUSES if count[status])
        said = ", ".join(f"{count[status]} {STATUSES[status]}" for status in STATUSES if count[status])
        rows.append((_class(worst), (profile, FAMILIES[family], tool, said, layers)))
    yield from _table(("Profile", "Family", "Tool", "Result", "Stopped by"), rows)


def _layers(report: Report) -> Iterator[str]:
    yield "<h2>What stopped them</h2>"
    rows = [("", (layer, f"{number:,}", LAYERS[layer])) for layer, number in by_layer(report.results)]
    yield from _table(("Layer", "Attacks", "What it is"), rows)


def _threats(report: Report) -> Iterator[str]:
    yield "<h2>Threats</h2>"
    tried: dict[int, Counter[str]] = {number: Counter() for number in report.threats}
    for result in report.results:
        for number in result.threats:
            tried[number][result.status] += 1
    rows = []
    for number, name in report.threats.items():
        count = tried[number]
        said = ", ".join(f"{count[status]} {STATUSES[status]}" for status in STATUSES if count[status])
        rows.append((_class("through" if count["through"] or count["unproven"] else ""), (str(number), name, said)))
    yield from _table(("", "Threat", "Rows"), rows)


def _rows(report: Report) -> Iterator[str]:
    ordered = sorted(report.results, key=lambda r: (_profile(r), [*FAMILIES].index(r.family)))
    for (profile, family), results in groupby(ordered, key=lambda r: (_profile(r), r.family)):
        yield f"<h2>{_e(FAMILIES[family])}: {_e(profile)}</h2>"
        yield from _table(("Attack", "Tool", "Known as", "Must be stopped by", "Result", "Seen"), (
            (_class(r.status), (r.name, _tool(report, r), r.source, r.expected, _said(r), r.evidence)) for r in results
        ))  # fmt: skip


def _said(result: Result) -> str:
    return f"stopped by {result.layer}" if result.status == "held" else STATUSES[result.status]


def _profile(result: Result) -> str:
    return f"{result.profile} on {result.project}" if result.profile else "every profile"


def _tool(report: Report, result: Result) -> str:
    """Return the tool; attacks call many that do not exist, or only under another profile."""
    tools = next((profile.tools for profile in report.profiles if profile.name == result.profile), ())
    if result.tool in (*QUESTIONS, *tools):
        return result.tool
    return "no such tool" if result.tool or result.family == "arguments" else ""


def _table(heads: Iterable[str], rows: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    yield f"<table><thead><tr>{''.join(f'<th>{_e(head)}</th>' for head in heads)}</tr></thead><tbody>"
    for style, cells in rows:
        yield f'<tr class="{style}">{"".join(f"<td>{_e(cell)}</td>" for cell in cells)}</tr>'
    yield "</tbody></table>"


def _class(status: str) -> str:
    return status.replace(" ", "-")


def _e(text: str) -> str:
    """Return a text as HTML, with what is not printable shown as what it is."""
    return escape("".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text))
