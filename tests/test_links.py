"""Links of documents: which are found, where they lead, what is said of dead ones; sections of AsciiDoc; notebooks."""

import json
from collections.abc import AsyncIterator

import pytest
from costing import costs_under
from running import fronted
from trees import make

from fledgling.broker.front import Front
from fledgling.messages.answers import DependencyGraph, Excerpt, Hits, Importer, Ranking, Summaries
from fledgling.messages.questions import Dependencies, Explore, Read, Search
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.files.notebook import without_outputs
from fledgling.worker.languages.table import load_languages
from fledgling.worker.resolving.resolve import Resolution

LANGUAGES = load_languages()


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(LANGUAGES)


# ---- links -----------------------------------------------------------------------------------------------------------

MD, RST, ADOC = "markdown", "restructuredtext", "asciidoc"
ELSEWHERE = "[a](https://a.b/c.md) [b](#c) [c](mailto:a@b) [d](//e/f) [e]({{g}}) [f](crate::G) [g](@ref h) [i](@id)\n"
FENCED = "`[a](b.md)` ``[a](`b.md)``\n\n```\n[a](b.md)\n```\n\n~~~~ x\n[a](b.md)\n~~~~\n[c](d.md)\n"
ROLES = ":doc:`a` and :doc:`b <c/d>`, `e <f.rst>`_, `g <https://h.i>`_\n\n.. _j: k.txt\n"
MACROS = "link:a.txt[b], xref:c.adoc#d[e], <<f.adoc#g,h>>, <<i>> and link:https://j.k[l]\n\ninclude::m.adoc[]\n"
# The language of a text, the text, and its links, each with its line.
LINKS: dict[str, tuple[str, str, list[tuple[int, str]]]] = {
    "inline": (MD, "# A\n\nSee [b](b.md#c) and [c](<d e.md> 'f').\n", [(3, "b.md#c"), (3, "d e.md")]),
    "a picture": (MD, "![a](../b.png)\n", [(1, "../b.png")]),
    "a picture that is a link": (MD, "[![a](b.png)](c.md)\n", [(1, "b.png"), (1, "c.md")]),
    "brackets in a path": (MD, "[a](b_(c).md)\n", [(1, "b_(c).md")]),
    "a reference": (MD, "[a][b]\n\n[b]: c.md 'd'\n[^1]: no.md\n", [(3, "c.md")]),
    "of HTML": (MD, "<a href=\"b.md\"><img src='c.png'></a>\n", [(1, "b.md"), (1, "c.png")]),
    "elsewhere": (MD, ELSEWHERE, []),
    "in a longer fence": (MD, "````\n```\n[a](b.md)\n```\n````\n[c](d.md)\n", [(6, "d.md")]),
    "in a fence with a word inside": (MD, "```\n```python\n[a](b.md)\n```\n[c](d.md)\n", [(5, "d.md")]),
    "in code": (MD, FENCED, [(10, "d.md")]),
    "in code that holds more backticks": (MD, "`` a ``` [a](no.md) `` [b](b.md) ``` c\n", [(1, "b.md")]),
    "on a long line": (MD, f"{'a ' * 20_000} `[a](no.md)` [b](b.md)\n", [(1, "b.md")]),
    "on a long line of roles": (RST, f"{'a ' * 20_000} :doc:`b`\n", [(1, "b")]),
    "directives": (
        RST,
        ".. image:: a.png\n\n.. include:: ../b.rst\n\n.. note:: c.rst\n",
        [(1, "a.png"), (3, "../b.rst")],
    ),
    "what directives take that is no file": (
        RST,
        ".. raw:: html\n\n.. csv-table:: Title\n   :file: a.csv\n\n.. raw:: latex\n   :file: b.tex\n\n:file: `c.py`\n",
        [(4, "a.csv"), (7, "b.tex")],
    ),
    "roles and targets": (RST, ROLES, [(1, "a"), (1, "c/d"), (1, "f.rst"), (3, "k.txt")]),
    "a toctree": (RST, ".. toctree::\n   :maxdepth: 2\n\n   a\n   B <b/c>\n\nText.\n\n   d\n", [(4, "a"), (5, "b/c")]),
    "macros": (ADOC, MACROS, [(1, "a.txt"), (1, "c.adoc#d"), (1, "f.adoc"), (3, "m.adoc")]),
    "in comments": (ADOC, "// link:a.txt[]\n\n////\nlink:a.txt[]\n////\nlink:b.txt[]\n", [(6, "b.txt")]),
    "in a listing of an example": (ADOC, "====\n----\nlink:a.txt[]\n----\nlink:b.txt[]\n====\n", [(5, "b.txt")]),
    "attributes": (ADOC, "link:{base}/a.txt[b] image::c.png[]\n\n----\nlink:a.txt[]\n----\n", []),
}


@pytest.mark.parametrize("name", LINKS)
def test_links_to_files_are_found_on_their_lines(extractor: Extractor, name: str) -> None:
    language, text, expected = LINKS[name]
    found = extractor.extract(language, text.encode()).imports
    assert [(row.line_number, row.module) for row in found] == expected


FILES = (
    *("docs/a.md", "docs/b.md", "docs/c/README.md", "docs/c/d.rst", "docs/e f.md", "src/a.py"),
    *("docs/m/pages/x.adoc", "docs/m/nav.adoc", "img/z.png", "docs/m/partials/p.adoc"),
    *("docs/m/images/i.png", "docs/m/pages/gone.adoc"),
    *("lib/mix.exs", "lib/guides/one/two.md", "lib/guides/three.md", "lib/a/twice.md", "lib/b/twice.md"),
    *("lib/CHANGELOG.md", "lib/ui/mix.exs", "lib/ui/guides/four.md"),
    *("site/en/guide/start.md", "site/en/img/only.png", "site/en/img/two.png", "site/de/img/two.png"),
    *("web/static/logo.png", "web/content/p.md", "site/en/guide/deep/index.md"),
    *("README.md", "site/de/a.md", "site/src/assets/w.png"),
    *("vendor/lib/site/api/guide.html", "vendor/lib/a.md", "tests/site/api/data.html", "site/en/api/both.md"),
    *("third_party/site/api/both.md", "vendor/lib/img/z.png", "latest/site/api/own.html"),
)
# What a document says, and where that leads: None where it leads nowhere, "" where it is no link to a file.
PLACES: dict[tuple[str, str], str | None] = {
    ("docs/a.md", "b.md"): "docs/b.md",
    ("docs/a.md", "./b.md#part"): "docs/b.md",
    ("docs/a.md", "b"): "docs/b.md",
    ("docs/a.md", "b.html"): "docs/b.md",
    ("docs/a.md", "c/"): "docs/c/README.md",
    ("docs/a.md", "e%20f.md"): "docs/e f.md",
    ("docs/a.md", "../src/a.py"): "src/a.py",
    ("docs/a.md", "../src"): "",
    ("docs/a.md", "a.md#top"): "",
    ("docs/a.md", "/img/z.png"): "img/z.png",
    ("docs/a.md", "/b"): "docs/b.md",
    ("docs/a.md", "gone.md"): None,
    ("docs/a.md", "/img/only.png"): "site/en/img/only.png",
    ("docs/a.md", "/guide/start/"): "site/en/guide/start.md",
    ("docs/a.md", "/guide/deep/"): "site/en/guide/deep/index.md",
    ("docs/a.md", "/img/two.png"): None,
    ("site/de/a.md", "/img/two.png"): "site/de/img/two.png",
    ("docs/a.md", "/only.png"): None,
    ("README.md", "/api/guide.html"): None,  # of others
    ("README.md", "/api/data.html"): None,  # of a test
    ("README.md", "/api/both/"): "site/en/api/both.md",
    ("README.md", "/api/own.html"): "latest/site/api/own.html",
    ("vendor/lib/a.md", "/guide/start/"): None,
    ("vendor/lib/a.md", "/img/z.png"): "vendor/lib/img/z.png",
    ("web/content/p.md", "/logo.png"): "web/static/logo.png",
    ("README.md", "/p.md"): None,
    ("site/de/a.md", "~/assets/w.png"): "site/src/assets/w.png",
    ("site/de/a.md", "@/de/a"): "site/de/a.md",
    ("site/de/a.md", "~/assets/gone.png"): None,
    ("README.md", "/a"): "docs/a.md",
    ("docs/a.md", "../../out.md"): "",
    ("docs/a.md", "../../issues"): "",
    ("docs/c/d.rst", "/a"): "docs/a.md",
    ("lib/guides/three.md", "two.html#part"): "lib/guides/one/two.md",
    ("lib/guides/three.md", "two.md"): "lib/guides/one/two.md",
    ("lib/guides/three.md", "twice.html"): None,
    ("lib/guides/three.md", "changelog.html"): "lib/CHANGELOG.md",
    ("lib/guides/three.md", "four.html"): None,
    ("lib/ui/guides/four.md", "two.html"): None,
    ("lib/guides/three.md", "Lib.Module.html#run/1"): "",
    ("docs/a.md", "two.html"): None,
    ("docs/m/nav.adoc", "x.adoc"): "docs/m/pages/x.adoc",
    ("docs/m/nav.adoc", "partial$p.adoc"): "docs/m/partials/p.adoc",
    ("docs/m/pages/x.adoc", "partial$p.adoc"): "docs/m/partials/p.adoc",
    ("docs/m/pages/x.adoc", "image$i.png"): "docs/m/images/i.png",
    ("docs/m/pages/x.adoc", "partial$gone.adoc"): None,
}


@pytest.mark.parametrize("link", PLACES, ids=str)
def test_a_link_leads_to_the_file_that_a_reader_gets(extractor: Extractor, link: tuple[str, str]) -> None:
    path, name = link
    [row] = extractor.extract("markdown", f"[a](<{name}>)\n".encode()).imports
    languages = {file: LANGUAGES.detect(file.rpartition("/")[2], b"") for file in FILES}
    found = Resolution(LANGUAGES, languages).of(path, [row])
    assert [row.resolved_path for row in found] == ([] if PLACES[link] == "" else [PLACES[link]])
    assert all(row.is_relative for row in found)  # so that one that leads nowhere is not taken for another project's


HOSTILE = [
    part * 50_000
    for part in ("[", "](", "`", "[a](", "<<", "link:", "```\n", ":doc:`", "`a <", "====\n", "[![", "[a]: ", ".. _")
] + ["a".join("`" * number for number in range(1000, 0, -1))]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("language", ["markdown", "restructuredtext", "asciidoc"])
def test_hostile_documents_cost_in_proportion(extractor: Extractor, language: str, every: int) -> None:
    for text in HOSTILE[::every]:
        costs_under(2.0, lambda text=text: extractor.extract(language, text.encode()))


# ---- AsciiDoc --------------------------------------------------------------------------------------------------------

SECTIONS = {
    "levels": ("= A\n\n== B\n\n=== C\n\n== D\n", ["A", "A.B", "A.B.C", "A.D"]),
    "marks of Markdown": ("# A\n\n## B\n", ["A", "A.B"]),
    "the old form": (
        "A title\n=======\n\nPart\n----\n\nMore\n~~~~\n",
        ["A title", "A title.Part", "A title.Part.More"],
    ),
    "in blocks": ("= A\n\n----\n== no\n----\n\n====\n== no\n====\n\n....\n== no\n....\n\n== B\n", ["A", "A.B"]),
    "in comments": ("= A\n\n////\n== no\n////\n// == no\n\n== B\n", ["A", "A.B"]),
    "discrete": ("= A\n\n[discrete]\n== no\n\n== B\n", ["A", "A.B"]),
    "no titles": ("==A\n\n=\n\na == b\n", []),
}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_of_asciidoc_are_those_of_a_reader(extractor: Extractor, name: str) -> None:
    text, expected = SECTIONS[name]
    found = extractor.extract("asciidoc", text.encode())
    assert [row.qualified_name for row in found.symbols if row.kind == "section"] == expected
    assert found.complete


# ---- notebooks -------------------------------------------------------------------------------------------------------

CELL = {"cell_type": "code", "source": ["def load(path):\n", "    return 'outputs'\n"], "execution_count": 1}
SAYING = {"cell_type": "markdown", "source": ["# Tides\n", "\n", "Loads what the moon does to water."]}
PUT_OUT = [
    {"data": {"image/png": "iVBORneedle", "text/plain": ["[needle]", '"}]'], "application/json": {"outputs": []}}}
]
NOTEBOOK = {
    "cells": [{**CELL, "outputs": PUT_OUT, "attachments": {"a.png": {"image/png": "needle"}}}, {**CELL, "outputs": []}]
}


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_without_outputs_has_all_else_and_its_lines(indent: int | None) -> None:
    text = json.dumps(NOTEBOOK, indent=indent).encode()
    left = without_outputs(text)
    assert b"needle" not in left
    assert left.count(b"\n") == text.count(b"\n")
    assert [cell["source"] for cell in json.loads(left)["cells"]] == [CELL["source"]] * 2
    assert [number for number, line in enumerate(left.split(b"\n")) if b"def load" in line] == [
        number for number, line in enumerate(text.split(b"\n")) if b"def load" in line
    ]


BROKEN = ['"outputs": [' * 50_000, '"outputs": ["' + "a" * 500_000, '"outputs": ' + "[" * 500_000, '\\"' * 200_000]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:14])
def test_a_hostile_notebook_costs_in_proportion(text: str) -> None:
    costs_under(1.0, lambda: without_outputs(text.encode()))


# ---- a project -------------------------------------------------------------------------------------------------------

# Two packages of Go, and documents with links to files of both.
PACKAGES = {
    "m/go.mod": "module example.com/m\n",
    "m/gen/a.go": "package gen\n",
    "m/gen/b.go": "package gen\n",
    "m/m.go": 'package m\n\nimport "example.com/m/gen"\n',
    "m/n.go": 'package m\n\n\nimport "example.com/m/gen"\n',
    "m/a.md": "[b](gen/b.go)\n",
    "m/b.md": "\n[n](n.go)\n",
}
IMPORTERS = {  # of a file, and further ones by their own
    ("m/gen/a.go", 1): ([("m/m.go", 3), ("m/n.go", 4)], {}),
    ("m/gen/b.go", 1): ([("m/a.md", 1), ("m/m.go", 3), ("m/n.go", 4)], {}),
    ("m/gen/a.go", 2): ([("m/m.go", 3), ("m/n.go", 4)], {"m/n.go": [("m/b.md", 2)]}),
}


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    root = tmp_path_factory.mktemp("links")
    texts = {
        "docs/a.md": "# A\n\n[b](b.adoc) and [code](../src/app.py)\n\n[gone](gone.md)\n[site](/img/x.png)\n"
        "[alias](~/x.png)\n",
        "docs/b.adoc": "= B\n\n== Tries\n\nAn upload is tried three times.\n",
        "src/app.py": "x = 1\n",
        "n.ipynb": json.dumps(NOTEBOOK, indent=1) + "\n",
        "m.ipynb": json.dumps({"cells": [SAYING, *NOTEBOOK["cells"]]}, indent=1) + "\n",
    }
    async with fronted(make(root, **texts, **PACKAGES)) as (front, indexing):
        await indexing.built()
        yield front


async def of(front: Front, path: str) -> DependencyGraph:
    found = await front.ask(Dependencies(path))
    assert isinstance(found, DependencyGraph), found
    return found


@pytest.mark.anyio
async def test_links_are_edges_and_dead_ones_are_said(front: Front) -> None:
    found = await of(front, "docs/a.md")
    edges = [(edge.line, edge.resolved, edge.unresolved) for edge in found.imports]
    assert edges == [
        (3, "src/app.py", None),
        (3, "docs/b.adoc", None),
        (5, None, "not found"),
        *((line, None, "external") for line in (6, 7)),
    ]
    assert found.note == (
        "Links to what is not in the index: line 5. Not looked at: links from a site's root or by an alias, line 6, 7."
    )
    for path in ("docs/b.adoc", "src/app.py"):
        assert (await of(front, path)).imported_by == [Importer("docs/a.md", 3)]


@pytest.mark.anyio
async def test_a_link_to_a_file_of_a_package_means_that_file(front: Front) -> None:
    for (path, depth), (importers, further) in IMPORTERS.items():
        found = await front.ask(Dependencies(path, "imported_by", depth))
        assert isinstance(found, DependencyGraph)
        assert [(each.path, each.line) for each in found.imported_by] == importers, path
        assert {node.path: [(each.path, each.line) for each in node.imported_by] for node in found.further} == further
    found = await front.ask(Dependencies("m/a.md", "imports", 2))
    assert isinstance(found, DependencyGraph)
    assert [each.resolved for each in found.imports] == ["m/gen/b.go"]


@pytest.mark.anyio
async def test_sections_of_asciidoc_are_searched(front: Front) -> None:
    found = await front.ask(Search("how often is an upload tried", mode="docs"))
    assert isinstance(found, Ranking)
    assert (found.files[0].path, found.files[0].name) == ("docs/b.adoc", "B.Tries")


@pytest.mark.anyio
async def test_outputs_of_a_notebook_are_not_text_and_that_is_said(front: Front) -> None:
    found = await front.ask(Search("needle"))
    assert isinstance(found, Hits)
    assert found.total == 0
    assert "Outputs of notebooks are not indexed" in (found.note or "")
    text = (json.dumps(NOTEBOOK, indent=1)).split("\n")
    shown = await front.ask(Read("n.ipynb"))
    assert isinstance(shown, Excerpt)
    assert len(shown.lines) == len(text)
    assert all(whole.endswith(line) for line, whole in zip(shown.lines, text, strict=True))
    assert "blank here: n.ipynb" in (shown.note or "")
    code = await front.ask(Read("n.ipynb", symbol="load"))
    assert not isinstance(code, Hits)


@pytest.mark.anyio
async def test_a_notebook_is_found_and_summarized_by_its_first_cell_of_markdown(front: Front) -> None:
    found = await front.ask(Explore("m.ipynb", detail="summary"))
    assert isinstance(found, Summaries)
    said = found.summaries[0]
    assert (said.says, said.source) == ("Tides: Loads what the moon does to water.", "Markdown cell")
    ranked = await front.ask(Search("moon and water", mode="meaning", explain=True))
    assert isinstance(ranked, Ranking)
    assert ranked.files[0].path == "m.ipynb"
    assert ranked.files[0].why
    assert "comment" in ranked.files[0].why.words["moon"]
