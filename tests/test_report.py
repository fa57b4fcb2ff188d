"""The report: where things stand, what hostile names become, and what file it is written to."""

import asyncio
import errno
import html
import os
import random
import re
import shutil
import stat
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from forking import fledgling
from running import PATIENCE, fronted
from trees import make

from fledgling.broker.cli import look
from fledgling.broker.protocol import app
from fledgling.broker.reporting import explorer, output, report
from fledgling.broker.reporting.treemap import LEAST_AREA, Box, cells, squarified, tree
from fledgling.config import ConfigError
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Built, LanguageStats
from fledgling.messages.generations import GRAPH
from fledgling.messages.inner_answers import (
    Area,
    CallGraph,
    CallHub,
    Circles,
    Hub,
    LongFunction,
    Neighbour,
    Overview,
    Parsed,
    SkippedFiles,
)
from fledgling.messages.questions import QUESTIONS

BUILT = Built(
    files=3, lines=30, symbols=2, imports=1, image_bytes=1, seconds={"total": 0.5},
    languages=(LanguageStats("python", 3, 30, 300, 2, 0.1),), skipped={}, left_out={"ignored": 4}, slowest=(),
)  # fmt: skip
EMPTY = Overview(files=0, lines=0, areas=[], hubs=[], functions=[], parsed=[], skipped=[])
HOSTILE = "</title></svg><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\x1b[2J\u202e\udcff"


def overview_of(name: str) -> Overview:
    return Overview(
        files=3,
        lines=30,
        areas=[Area(name, name, 2, 20), Area("src/a", "python", 1, 9), Area(None, None, 1, 1)],
        hubs=[Hub(name, 7, [1]), Hub("b.py", 3, [0, 1])],
        functions=[LongFunction(name, name, (1, 9))],
        parsed=[Parsed(name, 1, 1, 1, 0), Parsed(None, 0, 0, 0, 1)],
        skipped=[SkippedFiles("binary", 9, [name])],
        circles=Circles(2, [13], [[Neighbour(name), Neighbour("b.py")]]),
        calls=CallGraph(
            languages=[name],
            hubs=[CallHub(name, name, "function", 3, 9, 2, 2, 1, [Neighbour(name, name, 1, name)], [Neighbour(name)])],
            circles=Circles(1, [1], [[Neighbour(name, name, 3)]]),
            missing=name,
        ),
    )


# ---- where things stand


def overlap(a: Box, b: Box) -> float:
    wide = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    high = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    return max(wide, 0) * max(high, 0)


WEIGHTS = {
    "one": [5],
    "equal": [1] * 7,
    "one that is nearly all": [1_000_000, 1, 1],
    "falling": [2**n for n in range(20, 0, -1)],
    "none": [],
    **{f"any {n}": sorted(random.Random(n).choices(range(1, 5000), k=n * 13), reverse=True) for n in range(1, 6)},
}


@pytest.mark.parametrize("box", [Box(0, 0, 1200, 560), Box(3, 4, 10, 900)], ids=["wide", "high"])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_areas_are_in_proportion_and_do_not_overlap(weights: list[int], box: Box) -> None:
    boxes = squarified(weights, box)
    for weight, at in zip(weights, boxes, strict=True):
        assert at.area == pytest.approx(box.area * weight / sum(weights))
        assert overlap(at, box) == pytest.approx(at.area)
    assert all(overlap(a, b) < 1e-6 for n, a in enumerate(boxes) for b in boxes[:n])


def test_equal_weights_are_nearly_square() -> None:
    assert max(max(b.width / b.height, b.height / b.width) for b in squarified([1] * 24, Box(0, 0, 600, 400))) < 1.6


TREES = {
    "one file": [("", "python", 5)],
    "directories that only hold another are one": [("src/main/java", "java", 5), ("src/main/java/a", "java", 5)],
    "two languages in one directory": [("a", "python", 5), ("a", "sql", 4), ("b", "python", 4)],
    "as deep as a path may be": [("/".join("x" * 1000), "python", 5), ("y", "python", 1)],
    "wide": [(f"d{n}", "python", 601 - n) for n in range(600)],
    "both": [("/".join(f"d{n}" for n in range(at % 30)), "python", at) for at in range(1, 500)],
}


@pytest.mark.parametrize("pieces", TREES.values(), ids=TREES)
def test_what_is_drawn_is_inside_its_frame_and_beside_the_others(pieces: list[tuple[str, str, int]]) -> None:
    root = tree(pieces)
    assert root.weight == sum(weight for _, _, weight in pieces)
    drawn = list(cells(root, report.MAP))
    leaves = [cell for cell in drawn if not cell.is_framed]
    assert sum(leaf.node.weight for leaf in leaves) == root.weight
    frames = len(drawn) - len(leaves)
    assert sum(leaf.box.area < LEAST_AREA for leaf in leaves) <= frames  # what is left of each is drawn as one
    assert all(overlap(leaf.box, report.MAP) == pytest.approx(leaf.box.area) for leaf in leaves)
    assert all(overlap(a.box, b.box) < 1e-6 for n, a in enumerate(leaves) for b in leaves[:n])


def test_names_are_joined_and_sorted() -> None:
    assert tree(TREES["directories that only hold another are one"]).name == "src/main/java"
    assert [child.name for child in tree(TREES["two languages in one directory"]).children] == ["a", "b"]


FITTED = {
    ("name.py", 100.0): "name.py",
    ("a_long_name.py", 60.0): "a_long…",
    ("mmmmmm", 40.0): "mm…",
    ("iiiiiiii", 40.0): "iiiiiiii",
    ("a_long_name.py", 15.0): "",
    ("漢字漢字", 30.0): "",
    ("漢字漢字", 40.0): "漢字…",
}


@pytest.mark.parametrize(("given", "expected"), FITTED.items(), ids=[repr(words) for words in FITTED])
def test_label_fits(given: tuple[str, float], expected: str) -> None:
    words, width = given
    assert report.fitted(words, width) == expected
    assert report.text_width(expected) <= width
    assert report.fitted(words[::-1], width, keep_end=True) == expected[::-1]


# ---- hostile names


class Page(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", [HOSTILE, "", "x" * 5000, "/" * 400, "a/" * 150, "\n\t\0"])
def test_name_becomes_no_markup(name: str) -> None:
    usual = Page(report.page("p", "core", "now", BUILT, overview_of("a.py")))
    text = report.page(name, name, "now", BUILT, overview_of(name))
    found = Page(text)
    assert found.open == []
    assert found.tags <= usual.tags
    assert found.attributes <= usual.attributes
    assert text.count("<script") == 1
    assert f"<script>{explorer.SCRIPT}</script>" in text
    assert not found.tags & {"img", "link", "iframe", "object", "foreignobject", "a", "use", "image"}
    assert all(c.isprintable() or c == "\n" for c in text)
    text.encode()


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")
def test_browser_runs_the_script_of_the_page_and_nothing_else(tmp_path: Path) -> None:
    """The script shows the filter, which is hidden where it does not run; another one would add a paragraph."""
    page = report.page("p", "core", "now", BUILT, overview_of(HOSTILE))
    other = "<script>document.body.append(Object.assign(document.createElement('p'), {id: 'added'}))</script>"
    (tmp_path / "page.html").write_text(page.replace("</main>", f"{other}</main>"))
    run = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}/profile",
        "--dump-dom",
    ]
    command = [*run, f"file://{tmp_path}/page.html"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    assert '<p><label for="filter">' in shown
    assert "<img" not in shown
    assert 'id="added"' not in shown


SEEN_BY_A_PERSON = """<script>
const sizes = [...document.querySelectorAll("svg text")].map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
const wider = [...document.querySelectorAll(".pair > *")].map((part) => part.scrollWidth - part.clientWidth);
const page = document.documentElement.scrollWidth;
document.body.dataset.seen = [innerWidth, page, Math.min(...sizes), Math.max(...wider)].join(" ");
</script>"""


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")
@pytest.mark.parametrize("width", [420, pytest.param(1400, marks=pytest.mark.long)])
def test_page_fits_a_screen_and_pictures_can_be_read_on_it(tmp_path: Path, width: int) -> None:
    page = report.page("p", "core", "now", BUILT, overview_of("a.py"))
    page = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</main>", f"</main>{SEEN_BY_A_PERSON}")
    (tmp_path / "page.html").write_text(page)
    run = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile"]
    run += [f"--window-size={width},900", "--hide-scrollbars", "--dump-dom", f"file://{tmp_path}/page.html"]
    shown = subprocess.run(run, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    seen = re.search(r'data-seen="([^"]*)"', shown)
    assert seen
    inner, whole, least, wider = map(float, seen[1].split())
    assert whole <= inner
    assert wider <= 0  # what stands in pairs is not moved sideways, either
    assert least >= 9  # pixels of a letter, as they are drawn


def channels(color: str, scheme: int) -> tuple[float, ...]:
    """The linear red, green and blue of a colour of the style, in the light (0) or the dark (1) scheme."""
    if named := re.fullmatch(r"var\(--(\w+)\)", color):
        [color] = re.findall(rf"--{named[1]}: ([^;]+);", report.STYLE)
    if both := re.fullmatch(r"light-dark\((#\w+), (#\w+)\)", color):
        color = both[1 + scheme]
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def contrast(first: str, second: str, scheme: int) -> float:
    """The ratio of WCAG 2.2, from 1 to 21."""
    weights = (0.2126, 0.7152, 0.0722)
    light = [sum(w * c for w, c in zip(weights, channels(each, scheme), strict=True)) for each in (first, second)]
    return (max(light) + 0.05) / (min(light) + 0.05)


# What is read, and on what it stands; what is seen beside the ground, which is what tells a picture's parts apart.
CELLS = re.findall(r"\.c\d \{ fill: ([^;]+);", report.STYLE)
[FRAME] = re.findall(r"\.frame \{ fill: ([^;]+);", report.STYLE)
[PARTIAL] = re.findall(r"\.partial \{.*[ ;]color: ([^;]+);", report.STYLE)
READ = [
    *((color, "var(--ground)") for color in ("var(--text)", "var(--faint)", "var(--good)", "var(--bad)", PARTIAL)),
    *(("var(--label)", color) for color in (*CELLS, FRAME)),
]
SEEN = [*CELLS, "var(--bar)", "var(--faint)"]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_stand_out_as_wcag_asks(scheme: int) -> None:
    assert len(CELLS) == report.COLORS + 1
    assert not [(text, ground) for text, ground in READ if contrast(text, ground, scheme) < 4.5]
    assert not [color for color in SEEN if contrast(color, "var(--ground)", scheme) < 3]


def test_nothing_is_loaded() -> None:
    text = report.page("p", "core", "now", BUILT, overview_of("a.py"))
    assert "default-src 'none'" in text
    assert not re.search(r"https?:|url\(|@import|href|src=", text)


HOST = """<!doctype html><pre id="heard"></pre><iframe sandbox="allow-scripts" srcdoc="{page}"></iframe><script>
addEventListener("message", (event) => {{
  document.getElementById("heard").textContent += event.data.method + " ";
  if (event.data.id === 1) event.source.postMessage({{jsonrpc: "2.0", id: 1, result: {{}}}}, "*");
}});</script>"""


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")
def test_page_in_a_frame_tells_the_client_that_shows_it(tmp_path: Path) -> None:
    page = report.page("p", "core", "now", BUILT, overview_of(HOSTILE), app.SCRIPT)
    (tmp_path / "host.html").write_text(HOST.format(page=html.escape(page)))
    run = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/p", "--dump-dom"]
    run += ["--virtual-time-budget=30000", f"file://{tmp_path}/host.html"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    heard = re.search(r'<pre id="heard">([^<]*)', done.stdout)
    assert heard
    first = ["ui/initialize", "ui/notifications/initialized", "ui/notifications/size-changed"]
    assert heard[1].split()[:3] == first


def test_pictures_grow_with_the_page_and_their_rows_are_as_many_as_there_are() -> None:
    text = report.page("p", "core", "now", BUILT, overview_of("a.py"))
    assert re.findall(r'viewBox="0 0 (\d+) (\d+)"', text) == [
        ("1200", "560"), ("480", str(2 * report.ROW)), ("480", str(report.ROW)), ("1200", str(2 * report.ROW)),
    ]  # fmt: skip


def test_empty_index_has_a_page() -> None:
    text = report.page("p", "core", "now", msgspec.structs.replace(BUILT, left_out={}), EMPTY)
    for words in ("No file has text", "No import leads", "No function was found", "Nothing: every file is listed"):
        assert words in text


def test_neighbours_and_circles_say_how_many_more_there_are() -> None:
    text = report.page("p", "core", "now", BUILT, overview_of("a.py"))
    for words in (
        "2 callers, 9 calls, 2 certain",
        "is called by 1 more",
        "and 11 more",
        "And 1 more circle.",
        "(a.py)",
    ):
        assert words in text


def test_what_the_index_lacks_is_said() -> None:
    assert "half is missing" in report.page(
        "p", "c", "now", msgspec.structs.replace(BUILT, partial="half is missing"), EMPTY
    )


# ---- the question


def test_a_package_that_is_a_directory_is_a_hub_by_its_name(tmp_path: Path) -> None:
    make(
        tmp_path,
        **{
            "go.mod": "module example.org/m\n",
            "log/a.go": "package log\n",
            "log/b.go": "package log\n",
            "main.go": 'package main\n\nimport "example.org/m/log"\n',
        },
    )

    async def ask() -> Overview | Refusal:
        async with fronted(tmp_path) as (front, _):
            return await front.survey()

    found = asyncio.run(ask())
    assert isinstance(found, Overview)
    assert [(hub.path, hub.importers) for hub in found.hubs] == [("log/", 1)]


def test_survey_counts_what_is_there_and_is_no_tool(project: Path) -> None:
    async def ask() -> tuple[Overview | Refusal, object]:
        async with fronted(project) as (front, _):
            return await front.survey(), await front.call("survey", {})

    found, refused = asyncio.run(ask())
    assert isinstance(found, Overview)
    assert "survey" not in QUESTIONS
    assert isinstance(refused, Refusal)
    assert refused.kind == "denied"
    assert sum(area.lines for area in found.areas) == found.lines > 0
    assert found.hubs[0].importers >= found.hubs[-1].importers >= 1
    assert {hub.path for hub in found.hubs} >= {"src/core/engine.py"}
    lengths = [last - first for first, last in (function.lines for function in found.functions)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths
    assert {row.reason: row.examples for row in found.skipped} == {
        "binary": ["logo.png"],
        "secret": [".env"],
        "symlink": ["link.py"],
    }
    assert {row.language for row in found.parsed if row.whole} >= {"python", "javascript"}
    assert "python" in found.calls.languages
    assert found.calls.missing is None


BARE = """
SET tools = 'explore';
CREATE VIEW files AS SELECT path FROM files;
CREATE VIEW symbols AS SELECT path, kind FROM symbols;
CREATE VIEW imports AS SELECT path, resolved_path FROM imports;
"""


def test_profile_may_leave_out_every_column_but_the_path(small_root: Path, tmp_path: Path) -> None:
    (tmp_path / "bare.sql").write_text(BARE)

    async def ask() -> Overview | Refusal:
        async with fronted(small_root, str(tmp_path / "bare.sql")) as (front, _):
            return await front.survey()

    found = asyncio.run(ask())
    assert isinstance(found, Overview)
    assert found.files > 0
    assert (found.lines, found.areas, found.functions) == (0, [], [])
    assert found.calls == CallGraph(missing="Uses of definitions are not resolved under this profile.")
    assert report.page("p", "bare", "now", BUILT, found)


# ---- the file


def test_command_waits_for_the_graph_before_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else waits for it: half of one call's time, which is not all there is, may be less than it takes."""
    functions = "\n".join(f"def f{n}(a):\n    return f{n + 1}(a).g(f{n // 2})\n" for n in range(60))
    root = make(tmp_path / "tree", **{f"m{n}.py": f"from m{n // 2} import *\n{functions}" for n in range(12)})

    async def ask() -> tuple[bool, Overview | Refusal]:
        there = []
        async with fronted(root) as (front, indexing):
            survey = front.survey

            async def surveyed(**asked: bool) -> Overview | Refusal:
                there.append(await indexing.is_sealed(GRAPH, 0))
                return await survey(**asked)

            monkeypatch.setattr(front, "survey", surveyed)
            _, overview = await look._surveyed(front, indexing)
        return there == [True], overview

    was_there, overview = asyncio.run(ask())
    assert was_there
    assert isinstance(overview, Overview)
    assert overview.calls is not None
    assert (overview.calls.languages, overview.calls.missing) == (["python"], None)


def test_command_writes_a_page_over_an_earlier_one(small_root: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(report.MARK + "x" * 100_000)
    done = fledgling("report", "--root", str(small_root), "--html", str(page))
    assert done.returncode == 0, done.stderr
    assert page.read_text().startswith(report.MARK)
    assert page.read_text().endswith("</html>\n")
    assert "xx" not in page.read_text()


def test_failed_build_leaves_an_earlier_report_as_it_was(small_root: Path, tmp_path: Path) -> None:
    page, profile = tmp_path / "page.html", tmp_path / "wrong.sql"
    page.write_text(report.MARK + "earlier")
    profile.write_text("SET tools = 'explore';\nCREATE VIEW files AS SELECT nothing FROM files;\n")
    done = fledgling("report", "--root", str(small_root), "--profile", str(profile), "--html", str(page))
    assert done.returncode == 2
    assert page.read_text() == report.MARK + "earlier"


REFUSED = {
    "a file that is no report": lambda path: path.write_text("<!doctype html>\n"),
    "a link to a report": lambda path: path.symlink_to(_report_beside(path)),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a directory": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
}


def _report_beside(path: Path) -> Path:
    beside = path.with_name("report.html")
    beside.write_text(report.MARK)
    return beside


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_other_file_is_not_overwritten(make, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    make(path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if stat.S_ISREG(p.stat(follow_symlinks=False).st_mode)}
    with pytest.raises(ConfigError, match="name a new file, or an earlier report"), output.opened(path, report.MARK):
        pass
    assert before == {name: (tmp_path / name).read_bytes() for name in before}
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("directory", ["/nowhere/at/all", "a\0b"])
def test_place_that_is_none_is_refused(directory: str) -> None:
    with pytest.raises(ConfigError, match="cannot be opened"), output.opened(Path(directory, "page.html"), report.MARK):
        pass


FULL = """
import resource, signal, sys
from pathlib import Path
from fledgling.broker.reporting import output, report
from fledgling.config import ConfigError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with output.opened(Path(sys.argv[1]), report.MARK) as target:
    try:
        target.write(report.MARK + "x" * 5000)
    except ConfigError as refused:
        print(refused)
"""


@pytest.mark.parametrize("earlier", ["", report.MARK + "earlier"])
def test_no_half_of_a_page_is_left_where_there_is_no_room(earlier: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    if earlier:
        page.write_text(earlier)
    done = subprocess.run([sys.executable, "-c", FULL, page], capture_output=True, text=True, check=True)
    assert "it cannot be written" in done.stdout
    assert page.read_text() == earlier


@pytest.mark.parametrize(
    ("failing", "left"), [("posix_fallocate", report.MARK + "earlier"), ("pwrite", ""), ("fsync", "")]
)
def test_disk_that_fails_leaves_the_earlier_page_or_none(
    failing: str, left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text(report.MARK + "earlier")

    def half(fd: int, *_: object) -> None:
        os.ftruncate(fd, 2000)
        raise OSError(errno.EIO, "Input/output error")

    with output.opened(page, report.MARK) as target:
        monkeypatch.setattr(os, failing, half)
        with pytest.raises(ConfigError, match="it cannot be written"):
            target.write(report.MARK + "x" * 5000)
    assert page.read_text() == left
