"""What files, directories and definitions say of themselves, and how a project is built, as far as names tell."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from costing import costs_under
from running import fronted
from tables import every_row
from trees import make

from fledgling.broker.front import Front
from fledgling.broker.protocol import tools
from fledgling.messages.answers import Architecture, DependencyGraph, Exploration, Next, Refusal, Summaries, Summarized
from fledgling.messages.questions import Dependencies, Explore
from fledgling.worker.ranking import comments, documents
from fledgling.worker.ranking.sentences import Sentence
from fledgling.worker.tools import manifests
from fledgling.worker.tools.architecture import TOKENS, between
from fledgling.worker.tools.components import components, layers
from fledgling.worker.tools.links import ImportLinks, Package, PackageImport

# ---- sentences -------------------------------------------------------------------------------------------------------

COMMENT, DOCSTRING, HEADING = "comment", "docstring", "heading"

# The top of a file, and what it says; None where it says nothing of itself.
TOPS: dict[str, tuple[str, Sentence | None]] = {
    "what is left to do": (
        "// TODO: switch to patterns when these are there.\n\n// Finds what matches.\n",
        Sentence("Finds what matches.", "comment"),
    ),
    "a note alone": ("/* NOTE: the length is that of all of it, always. */\nint length;\n", None),
    "a docstring": ('"""Sends a file again. More of it."""\n', Sentence("Sends a file again.", DOCSTRING)),
    "behind a shebang": ("#!/bin/sh\n# Sends a file again.\necho\n", Sentence("Sends a file again.", COMMENT)),
    "behind a licence": (
        "// Copyright 2020 me.\n// Licensed under the MIT License.\n\n// Package up sends files again.\npackage up\n",
        Sentence("Package up sends files again.", COMMENT),
    ),
    "a block behind a licence and imports": (
        "/*\n * Copyright me.\n * Licensed under Apache.\n * Unless required by law.\n */\npackage a;\nimport b;\n\n"
        "/**\n * Sends a {@link File} <b>again</b>.\n *\n * @author me\n */\nclass A {}\n",
        Sentence("Sends a File again .", COMMENT),
    ),
    "a module of Rust": ("//! Sends a file again\nuse a;\n", Sentence("Sends a file again", COMMENT)),
    "a comment of Lua": ("--[[ Sends a file again ]]\n", Sentence("Sends a file again", COMMENT)),
    "of several lines": ("# Sends a file\n# again.\nimport a\n", Sentence("Sends a file again.", COMMENT)),
    "what tells a tool to look away": (
        "/* c8 ignore start */\n/* Sends a file again. */\n",
        Sentence("Sends a file again.", COMMENT),
    ),
    "of a tool alone": ("# rubocop:disable Metrics/ClassLength\nclass A\nend\n", None),
    "about what a tool ignores": (
        "# Tells Istanbul what to ignore.\nimport a\n",
        Sentence("Tells Istanbul what to ignore.", COMMENT),
    ),
    "what is no sentence": ("# ----\n# vim: a\n# !\nimport a\n", None),
    "preprocessing": ("#include <a.h>\n#define A 1\nint a;\n", None),
    "a comment behind code": ("a = 1\n# Sends a file again.\n", None),
    "a licence alone": ("# Copyright me.\n# Licensed under the MIT License.\n", None),
    "a comment on the first of several functions": (
        "#include <a.h>\n\n/* Sends a file again. */\nstatic int\nsend (int a)\n{\n}\n\nint stop(void)\n{\n}\n",
        None,
    ),
    "the same, a line of it": ("// Sends a file again.\nint *send(int a) {\n}\nint stop(void) {\n}\n", None),
    "a comment on the only function": (
        "/* Sends a file again. */\nint send(int a)\n{\n}\n",
        Sentence("Sends a file again.", COMMENT),
    ),
    "a comment above functions, and a blank line": (
        "/* Sends a file again. */\n\nint send(int a)\n{\n}\nint stop(void)\n{\n}\n",
        Sentence("Sends a file again.", COMMENT),
    ),
    "a comment on a class with arguments": (
        "/** Sends a file again. */\ndata class Send(val a: Int)\nfun send(a: Int) = a\nfun stop() = 1\n",
        Sentence("Sends a file again.", COMMENT),
    ),
    "nothing": ("", None),
}


@pytest.mark.parametrize("name", TOPS)
def test_the_top_of_a_file_is_its_first_comment_that_says_something(name: str) -> None:
    text, expected = TOPS[name]
    assert comments.of_code(text.encode()) == expected


DOCUMENTS: dict[str, tuple[str, str | None]] = {
    "what somebody else has said": (
        '# Flow\n\n_"Variables that flow are expressive"_\n[A. Name](https://a.com)\n\nRuns workflows at scale.\n',
        "Flow: Runs workflows at scale.",
    ),
    "a name in quotes": ('# Flow\n\n"Flow" runs what you give it.\n', 'Flow: "Flow" runs what you give it.'),
    "Markdown": ("# Uploads\n\n[![ci](a)](b)\n\nSends [files](a.md) again. More.\n", "Uploads: Sends files again."),
    "HTML in Markdown": (
        '<h1 align="c">\n<img src="a"\n alt="b">\n</h1>\n\nSends files again.\n',
        "Sends files again.",
    ),
    "reStructuredText": (
        "Uploads\n=======\n\n.. image:: a\n\nSends `files <a>`_ again.\n",
        "Uploads: Sends files again.",
    ),
    "AsciiDoc": ("= Uploads\n:toc:\n\nSends files again.\n", "Uploads: Sends files again."),
    "a document of AsciiDoc, below its authors and settings": (
        "= Uploads\nA. Writer <a@b.c>\n// settings:\n\nifdef::a[]\n{url-up}[It] sends https://a.b[files] again.\n",
        "Uploads: It sends files again.",
    ),
    "code at the beginning": ("# Uploads\n\n`up` sends files again.\n", "Uploads: up sends files again."),
    "markup in a heading": (
        "# **Up**&nbsp;&amp; [down](a.md)\n\nSends files again.\n",
        "Up & down: Sends files again.",
    ),
    "a sentence about a licence that goes on in further lines": (
        "By this you say that you may license\nyour files to us, and that they\nare ours.\n\nSends files again.\n",
        "Sends files again.",
    ),
    "pictures that break their lines": ("[![a](\nb)](\nc)\n[![a](b)](c)\n\nSends files again.\n", "Sends files again."),
    "pictures by reference": ("# Uploads [![a][1]][2]\n\nSends files again.\n", "Uploads: Sends files again."),
    "emphasis at the beginning": ("# Uploads\n\n**Sends** files again.\n", "Uploads: Sends files again."),
    "stars that are no emphasis": (
        "# Uploads\n\nTakes **options and **more.\n",
        "Uploads: Takes **options and **more.",
    ),
    "a list": (
        "# Uploads\n\nIt is:\n\n  1. one that sends files\n  2. and more\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a line that goes on below an item": (
        "# Uploads\n\n * It takes files\n   of all.\n\n   They come back.\n- Or\nthey go.\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "front matter": (
        '---\ntitle: "Uploads"\ndescription: Sends files again.\n---\n\nText.\n',
        "Uploads: Sends files again.",
    ),
    "front matter alone": ("---\ntitle: Uploads\n---", "Uploads"),
    "front matter above a heading": (
        "---\nlayout: page\nabout:\n---\n# Uploads\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "front matter of several lines": (
        "---\nname: Uploads\nabout: >\n  Sends\n---\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a heading below an item": ("- one\n# Uploads\n\nSends files again.\n", "Uploads: Sends files again."),
    "a heading with a number": ("1. Uploads\n==========\n\nSends files again.\n", "1. Uploads: Sends files again."),
    "code in fences": (
        "```sh\n# this is a comment\n```\n# Uploads\n\n```\nit = this is no prose\n```\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a line below a heading, which is no fence": (
        "Uploads\n~~~~~~~\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a fence below a line": (
        "# Uploads\n\nIt says:\n~~~\nit = code\n~~~\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "two fences, one behind the other": (
        "# Uploads\n~~~\nit is no prose\n~~~\n~~~\nit is no prose\n~~~\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "code between fences on a line": (
        "# Uploads\n\n```pip install x```\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a fence within one of another sign": (
        "# Uploads\n\n~~~\n```\nit is no prose\n~~~\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a fence within a longer one": (
        "# Uploads\n\n````\n```\nit is no prose\n````\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a fence that is closed by a longer one, and no other": (
        "# Uploads\n\n```\n```sh\nit is no prose\n````\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a fence that is never closed": ("# Uploads\n\n```\n\nSends files again.\n", "Uploads: Sends files again."),
    "a sentence above a fence": ("# Uploads\n\nSends files again\n```sh\ncode\n```\n", "Uploads: Sends files again"),
    "a field that goes on": (
        ":Version: 1\n:Keywords: one,\n  two, three, four\n\nSends files again.\n",
        "Sends files again.",
    ),
    "names that end in a line": ("Adds my_ and `class_` again_.\n", "Adds my_ and class_ again_."),
    "code in two marks beside a link": (
        "Sends ``all files`` by `up <a>`_, :py:class:`~a.Up` and `down`.\n",
        "Sends all files by up, a.Up and down.",
    ),
    "sections about money, with what is in them": (
        "Donations\n=========\n\nBuckets\n-------\n\nA community gives money.\n\n"
        "Our Sponsors\n============\n\nBig Corp sells it.\n\n"
        "Uploads\n=======\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a title above a section about money": (
        "# Uploads\n\n## 💖 Sponsors\n\nBig Corp sells it.\n\n### Gold\n\nMore of it is sold.\n\n"
        "## What it does\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "news, up to a line": (
        "# Uploads\n\n## 📰 Uploads 1.2.0 is now available!\n\nWe announce the release of it.\n\n---\n\n"
        "Sends files again.\n",
        "Uploads: Sends files again.",
    ),
    "what is new, up to a heading": (
        "Uploads\n=======\n\nWhat's new in 2.0\n-----------------\n\nIt is faster than before.\n\n"
        "What it does\n------------\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a release of something": ("# Release a lock\n\nSends files again.\n", "Release a lock: Sends files again."),
    "money alone": ("# Sponsors\n\nBig Corp sells it.\n", "Sponsors: Big Corp sells it."),
    "rows of links": (
        "# Uploads\n\n[English](a.md)\n • [Deutsch readme](b.md)\n • [Svenska](c.md)\n\n"
        "<h4>\n<a href=a>The docs</a> |\n<a href=b>Blog</a> |\n<a href=c>Our chat</a>\n</h4>\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "signs in a sentence": (
        "# Uploads\n\nSends a | b | c of files again.\n",
        "Uploads: Sends a | b | c of files again.",
    ),
    "a line above links to what follows": (
        "<div align=right>Table of Contents↗️</div>\n\n<h1>up</h1>\n\nSends files again.\n",
        "up: Sends files again.",
    ),
    "tags of headings": (
        '<p align="center">\n<h3>a <a href="a"><img src="b"></a> project</h3>\n</p>\n'
        '<h1 align="center">\n  Uploads\n</h1>\n'
        "<h3>Every file on time</h3>\n<p>Sends files again.</p>\n",
        "Uploads: Sends files again.",
    ),
    "how it is used": (
        "# Uploads\n\n## How to use it\n\nClick the green button first.\n\n### Local\n\nOr not.\n",
        "Uploads",
    ),
    "what it is behind how it is used": (
        "# Uploads\n\n## Usage\n\nPress the button first.\n\n## About\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a document about its use": (
        "# Installation\n\nPress the button first.\n",
        "Installation: Press the button first.",
    ),
    "examples in brackets": (
        "# Uploads\n\nSends many files (e.g. pictures) again.\n",
        "Uploads: Sends many files (e.g. pictures) again.",
    ),
    "a sentence that is too long": (
        f"# Uploads\n\n{'Sends files again, ' * 20}\n",
        f"Uploads: {'Sends files again, ' * 9}Sends files...",
    ),
    "a heading above links to what follows": ("# Table of Contents\n\n- [a](a.md)\n", None),
    "what is sold with it": (
        "<kbd>\n<br/>\nShow your love -- mugs and stickers are now available!\n</kbd>\n\nSends files again.\n",
        "Sends files again.",
    ),
    "a row of its languages with dashes between them": (
        "# Uploads\n\n**[English][en]** - [Deutsch][de] - [Suomi][fi] - [Norsk][no] - [Polski][pl] - [Svenska][sv]\n\n"
        "Sends files again.\n",
        "Uploads: Sends files again.",
    ),
    "what it is, with dashes between its words": (
        "# Uploads\n\nfast - small - simple\n",
        "Uploads: fast - small - simple",
    ),
    "a line that names its languages": (
        "# Uploads\n\nLanguage: English | [Deutsch](b.md)\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a tool whose name is a mark in comments": (
        "# ShellCheck\n\nShellCheck is a tool that warns:\n\n- a\n\n## Table of Contents\n",
        "ShellCheck: ShellCheck is a tool that warns:",
    ),
    "a heading behind a licence": ("# Uploads\n\nUnder the MIT license.\n\n## How it is made\n", "Uploads"),
    "pictures in links of AsciiDoc": (
        "https://a.org/b[image:https://img.org/c.svg[Some\nstate]]\n\n== Uploads\n\nSends files again.\n",
        "Uploads: Sends files again.",
    ),
    "a licence in capitals": (
        "# MIT License\n\nIT COMES WITHOUT WARRANTY OF ANY KIND,\nINCLUDING FITNESS FOR A PARTICULAR PURPOSE.\n",
        "MIT License",
    ),
    "prose alone": ("Sends files again. More.\n", "Sends files again."),
    "nothing": ("\n\n", None),
}


@every_row("name", DOCUMENTS)
def test_a_document_is_its_heading_and_its_first_sentence(name: str) -> None:
    text, expected = DOCUMENTS[name]
    found = documents.of_document(text.encode())
    assert found == (Sentence(expected, HEADING) if expected else None)


def test_a_reference_of_restructured_text_has_no_mark() -> None:
    text = b"Up_ sends __files__ with `class_` and my_.\n"
    found = documents.of_document(text, has_references=True)
    assert found == Sentence("Up sends __files__ with class_ and my.", HEADING)


CODE, TITLE = {"cell_type": "code", "source": ["# no prose"]}, {"cell_type": "markdown", "source": ["# Uploads\n"]}
SENDS = {"cell_type": "markdown", "metadata": {}, "source": ["# Uploads\n", "\n", "Sends files again. More."]}
# The cells of a notebook, and what it says of itself.
NOTEBOOKS: dict[str, tuple[object, str | None]] = {
    "a first cell of Markdown": ([SENDS, TITLE], "Uploads: Sends files again."),
    "one behind code": ([CODE, SENDS], "Uploads: Sends files again."),
    "a text that is no list": ([{**SENDS, "source": "# Uploads\n\nSends files again."}], "Uploads: Sends files again."),
    "a picture first": ([{**SENDS, "source": ["[![](a)](b)\n"]}, SENDS], "Uploads: Sends files again."),
    "code alone": ([CODE], None),
    "cells that are none": ([1, [], {"cell_type": "markdown", "source": {"a": 1}}, {**SENDS, "source": [1]}], None),
    "an object": ({"cell_type": "markdown"}, None),
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_its_first_cell_of_markdown(name: str, indent: int | None) -> None:
    cells, expected = NOTEBOOKS[name]
    found = documents.of_notebook(json.dumps({"metadata": {}, "cells": cells}, indent=indent).encode())
    assert found == (Sentence(expected, "Markdown cell") if expected else None)


@pytest.mark.parametrize("text", ["", '{"cells": [', '{"cells": [{"a": 1},', '{"cells": [' + "[" * 9000])
def test_a_notebook_that_is_cut_off_says_nothing(text: str) -> None:
    costs_under(0.5, lambda: documents.of_notebook(text.encode()))
    assert documents.of_notebook(text.encode()) is None


# Lines above a definition, its own lines, and what is said of it.
IT = "Sends a file again."
STRING = f'    """{IT}"""'
DEFINITIONS: dict[str, tuple[list[str], list[str], Sentence | None]] = {
    "a docstring": ([], ["@cached", "def f(", "    a: int,", ") -> str:", STRING], Sentence(IT, DOCSTRING)),
    "of several lines": ([], ["class A:", '    """', f"    {IT}", "", '    """'], Sentence(IT, DOCSTRING)),
    "a comment above": (["a()", "", f"// {IT}"], ["func f() {"], Sentence(IT, COMMENT)),
    "above an attribute": ([f"/// {IT}", "#[inline]"], ["fn f() {"], Sentence(IT, COMMENT)),
    "a comment further above": ([f"// {IT}", ""], ["func f() {"], None),
    "a string further below": ([], ["def f():", "    a = 1", STRING], None),
}


@every_row("name", DEFINITIONS)
def test_a_definition_is_its_docstring_or_the_comment_above(name: str) -> None:
    above, head, expected = DEFINITIONS[name]
    assert comments.of_definition(above, head, has_docstring=True) == expected


HOSTILE = [
    "<h1>" * 20_000,
    "<h2 " * 20_000,
    "# a" + " " * 100_000 + "b",
    "# " + "! is now out!" * 1000 + "b",
    "# News\n\n" + "- " * 50_000 + "b",
    "= a" + "= " * 50_000 + "b",
    "# " + "_" * 100_000 + "x",
    "# " + "_" * 50_000 + " " * 50_000 + "x y",
]
HOSTILE += [part * 100_000 for part in ("<", "[", "`a", "# a\n", "/*", "a. ", "![](", "<!--", "{@a ", "#[")]
HOSTILE += [
    "```a\n" * 4000,
    "```\n~~~\n" * 2000,
    "".join(f"{'~' * length}\n" for length in range(100, 3, -1)) + "```\n" * 2500,
]


# Of a manifest: its name, its text, and what it says the project is.
MANIFESTS = {
    "of Python": ("pyproject.toml", '[project]\ndescription = "Sends files away"  # so\n', "Sends files away"),
    "of Poetry": (
        "pyproject.toml",
        "[tool.poetry]\nname='a'\ndescription = 'Sends \"all\" files'\n",
        'Sends "all" files',
    ),
    "of another section": ("pyproject.toml", '[tool.other]\ndescription = "Sends files away"\n', None),
    "of Rust, on lines": ("Cargo.toml", '[package]\ndescription = """\nSends\nfiles away"""\n', "Sends files away"),
    "of a workspace": ("Cargo.toml", "[package]\ndescription.workspace = true\n", None),
    "of a workspace, in braces": ("Cargo.toml", "[package]\ndescription = { workspace = true }\n", None),
    "in single quotes, on lines": (
        "Cargo.toml",
        "[package]\ndescription = '''\nSends\nfiles away'''\n",
        "Sends files away",
    ),
    "with escapes": (
        "pyproject.toml",
        '[project]\ndescription = "Sends \\"caf\\u00e9\\" away \\ud800\\UFFFFFFFF"\n',
        'Sends "café" away',
    ),
    "with lines of Windows": ("Cargo.toml", '[package]\r\ndescription = "Sends files away"\r\n', "Sends files away"),
    "within another key": (
        "Cargo.toml",
        '[package]\nreadme = """\n[package]\ndescription = "no, not at all"\n"""\n',
        None,
    ),
    "behind another section": (
        "Cargo.toml",
        '[[bin]]\ndescription = "not it"\n[package] # so\nauthors = [\n"A"\n]\ndescription = "Sends files away"\n',
        "Sends files away",
    ),
    "of half a character": ("package.json", '{"description": "Sends \\ud800 files away"}', "Sends ? files away"),
    "of setuptools": ("setup.cfg", "[metadata]\ndescription = Sends files away\nname = up\n", "Sends files away"),
    "in another file": ("setup.cfg", "[metadata]\ndescription = file: README.md, CHANGES.md, and more\n", None),
    "of Node": ("package.json", '{"description": "Sends files\\nto a bucket"}', "Sends files to a bucket"),
    "of a name": ("package.json", '{"description": "web shop"}', None),
    "of a number": ("package.json", '{"description": 17}', None),
    "of no object": ("composer.json", '["Sends files away"]', None),
    "of no JSON": ("composer.json", '{"description": ', None),
    "of a gem": ("up.gemspec", "Gem.new do |s|\n  s.summary = 'Sends files away'.freeze\nend\n", "Sends files away"),
    "of a gem without": ("up.gemspec", "Gem.new do |s|\nend\n", None),
}


@every_row("case", MANIFESTS)
def test_a_manifest_says_what_the_project_is(case: str) -> None:
    name, text, expected = MANIFESTS[case]
    assert manifests.says(name, text) == expected


# What a pyproject.toml declares, and the commands that are its.
SCRIPTS: dict[str, tuple[str, list[str]]] = {
    "commands": ('[project.scripts]\nup = \'a:main\'\n"up-2" = "a:two" # not three\n', ["up = a:main", "up-2 = a:two"]),
    "of two sections": (
        "[project.gui-scripts]\nup = 'a:main'\n[tool.other]\nx = 'y'\n[tool.poetry.scripts]\ndown = 'b:main'\n",
        ["up = a:main", "down = b:main"],
    ),
    "below a head with a comment": ("[ project . scripts ] # of it\nup = 'a:main'\n", ["up = a:main"]),
    "with line ends of Windows": ("[project.scripts]\r\nup = 'a:main'\r\n", ["up = a:main"]),
    "by names with dots": ("[project]\nscripts.up = 'a:main'\nscript = 'x'\n", ["up = a:main"]),
    "in a table on a line": (
        "[project]\nscripts = { up = 'a:main', down = 'b:main' }\n",
        ["up = a:main", "down = b:main"],
    ),
    "of Poetry, by reference": (
        "[tool.poetry.scripts]\nup = { reference = 'bin/up', type = 'file' }\n",
        ["up = bin/up"],
    ),
    "in the text of a value": ('[project]\ntext = """\n[project.scripts]\nup = \'a:main\'\n"""\n', []),
    "without": ("[project]\nname = 'up'\n# [project.scripts]\n# up = 'a:main'\n", []),
}


@every_row("case", SCRIPTS)
def test_a_manifest_declares_commands(case: str) -> None:
    text, expected = SCRIPTS[case]
    assert [*manifests.scripts(text)] == expected


# Likewise of a setup.cfg.
CONSOLE = "[options.entry_points]\nconsole_scripts =\n"
SETUP_CFG: dict[str, tuple[str, list[str]]] = {
    "commands": (f"{CONSOLE}    up = a:main\n    # no\n\n\tup-2=a.b:two [x]\n", ["up = a:main", "up-2 = a.b:two"]),
    "on the line of its name": (
        "[options.entry_points]\nother =\n    x = y:z\ngui_scripts = up = a:main\n",
        ["up = a:main"],
    ),
    "with line ends of Windows": (f"{CONSOLE}    up = a:main\n".replace("\n", "\r\n"), ["up = a:main"]),
    "before another section": (f"{CONSOLE}    up = a:main\n[flake8]\n    x = y:z\n", ["up = a:main"]),
    "of another section": ("[flake8]\nconsole_scripts =\n    up = a:main\n", []),
    "in a file": ("[options]\nentry_points = file: entry_points.txt\n", []),
}


@every_row("case", SETUP_CFG)
def test_a_setup_cfg_declares_commands(case: str) -> None:
    text, expected = SETUP_CFG[case]
    assert [*manifests.scripts_of_setup_cfg(text)] == expected


# Likewise of a setup.py.
SETUP_PY: dict[str, tuple[str, list[str]]] = {
    "a list": (
        "setup(entry_points={\n  'console_scripts': [\n"
        "    'up=a:main',  # 'x=y:z',\n    \"up-2 = a.b:two [x]\"\n  ]})\n",
        ["up = a:main", "up-2 = a.b:two"],
    ),
    "on one line": ("setup(entry_points=dict(console_scripts=['up = a:main']))\n", ["up = a:main"]),
    "a text": (
        "setup(entry_points='''\n  [x]\n  y=y:z\n  [gui_scripts]\n  # no\n  up=a:main\n''')\n",
        ["up = a:main"],
    ),
    "with line ends of Windows": ("setup(gui_scripts=[\r\n'up=a:main',\r\n])\r\n", ["up = a:main"]),
    "in a comment": ("# console_scripts=['up=a:main']\nx  # entry_points='''\n[console_scripts]\nup=a:main'''\n", []),
    "computed": ("setup(console_scripts=['up=a:main', f'{x}=a:b'])\nsetup(console_scripts=['up' '=a:main'])\n", []),
    "formatted": ("setup(console_scripts=['up%d=a:main' % 3])\nsetup(console_scripts=['up{}=a:main', '{x}'])\n", []),
    "of another group": ("setup(entry_points={'my_console_scripts': ['up=a:main'], 'pytest11': ['x=y']})\n", []),
}


@every_row("case", SETUP_PY)
def test_a_setup_py_declares_commands(case: str) -> None:
    text, expected = SETUP_PY[case]
    assert [*manifests.scripts_of_setup_py(text)] == expected


# Likewise of a gem.
GEMSPECS: dict[str, tuple[str, list[str]]] = {
    "a list": ("  g.executables = [\"up\", 'down'.freeze]\n", ["up", "down"]),
    "words": ("  g.executables  = %w[up down]\n", ["up", "down"]),
    "one": ('  g.executables << "up"\n', ["up"]),
    "on lines of Windows": ("g.executables = [\r\n  'up',\r\n]\r\n", ["up"]),
    "computed": ("g.executables = g.files.grep(%r{^exe/}) { |f| File.basename(f) }\n", []),
    "computed in part": ('g.executables = ["up", name]\ng.executables = ["#{name}"]\n', []),
    "in a comment": ('# g.executables = ["up"]\n', []),
}


@every_row("case", GEMSPECS)
def test_a_gemspec_declares_programs(case: str) -> None:
    text, expected = GEMSPECS[case]
    assert [*manifests.executables(text)] == expected


LONG = [
    "g.executables = [",
    "g.executables = %w[",
    "console_scripts=[",
    "'q',",
    "entry_points='''",
    "entry_points ",
    "#",
    "\n",
    "q",
    "q=",
    " ",
    "q={a=",
    "q='{",
    "'q",
    "[[",
    'description="""',
    "description = ' ",
    "' ",
    "s.summary = ' ",
    "[project]\n",
    '{"a":[',
    "mod: {",
    "main_module: A.",
]


@pytest.mark.parametrize("part", LONG)
def test_a_hostile_manifest_takes_no_time(part: str) -> None:
    text = part * (manifests.MOST_BYTES // len(part))
    costs_under(0.2, lambda: [*manifests.scripts(f"[project.scripts]\n{text}")])
    for heading in ("[options.entry_points]\n", CONSOLE):
        costs_under(0.2, lambda heading=heading: [*manifests.scripts_of_setup_cfg(f"{heading}{text}")])
    for heading in ("", 'entry_points="""[console_scripts]\n', "console_scripts=['q',"):
        costs_under(0.2, lambda heading=heading: [*manifests.scripts_of_setup_py(f"{heading}{text}")])
    costs_under(0.2, lambda: [*manifests.modules(f"mod: {{{text}")])
    costs_under(0.2, lambda: [*manifests.executables(f"g.executables = [{text}")])
    for name in (*manifests.SPEAKING, "a.gemspec"):
        costs_under(0.2, lambda name=name: manifests.says(name, f"[package]\ndescription = '{text}"))
        costs_under(0.2, lambda name=name: manifests.says(name, f"[package]\n{text}"))


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:4])
@pytest.mark.parametrize("sentence", [comments.of_code, documents.of_document])
def test_a_hostile_text_takes_no_time(text: str, sentence: Callable[[bytes], Sentence | None]) -> None:
    costs_under(0.5, lambda: sentence(text.encode()))


# ---- what stands on what ---------------------------------------------------------------------------------------------


def test_components_are_circles_each_behind_those_that_it_leads_to() -> None:
    edges = {"a": ["b"], "b": ["c", "d"], "c": ["b"], "d": []}
    assert [sorted(each) for each in components(edges)] == [["d"], ["b", "c"], ["a"]]
    assert layers(edges) == [["a"], ["b", "c"], ["d"]]


def test_a_chain_as_long_as_a_project_is_no_matter() -> None:
    chain = {number: [number + 1] for number in range(30_000)}
    assert len(components(chain)) == 30_001
    assert layers(chain)[0] == [0]


def test_a_package_is_counted_once_however_many_import_it() -> None:
    members, importers = (
        [f"acme/W{number}.cs" for number in range(4000)],
        [f"shop/S{number}.cs" for number in range(4000)],
    )
    acme = Package("Acme", "dotnet")
    links = ImportLinks([], [PackageImport(path, acme) for path in importers], {acme: members})
    units = {path: path[:5] for path in (*members, *importers)}
    counts, spread = costs_under(0.05, lambda: between(links, units))
    assert counts == {"acme/": {}, "shop/": {"acme/": 4000}}
    assert not any(spread.values())


# ---- a project -------------------------------------------------------------------------------------------------------

FILES = {
    "README.md": "# Uploads\n\nSends files to a bucket.\n",
    "pyproject.toml": '[project]\nname = "up"\n\n[project.scripts]\nup = "up.cli:main"\n',
    "Makefile": "all:\n\techo\n",
    ".github/workflows/ci.yml": "on: push\n",
    "src/up/__init__.py": '"""Uploads."""\n',
    "src/up/cli.py": '"""The command line of uploads."""\nfrom up.core.send import send\n\n\ndef main():\n    send()\n',
    "src/up/core/__init__.py": '"""What sends files, again and again."""\n',
    "src/up/core/send.py": "# Sends a file.\nfrom up.util.retry import retry\n\n\nclass Send:\n"
    '    """A file on its way."""\n\n    def now(self):\n        # at once\n        return 1\n\n\n'
    "def send():\n    return retry(Send)\n",
    "src/up/core/queue.py": "import up.core.pool\n\n\nclass Queue: ...\n",
    "src/up/core/pool.py": "import up.core.queue\n\n\nclass _Hidden: ...\n\n\nclass Pool: ...\n",
    "src/up/util/retry.py": "import sqlite3\n\n\ndef retry(what):\n    return what()\n",
    "lib_test/up.ml": "let sends = ()\n",
    "tests/test_send.py": "from up.core.send import send\n\n\ndef test_send():\n    send()\n",
    "vendor/zlib-1.2/inflate.c": "int main(void) { return 0; }\n",
    "data.json": '{"a": 1}\n',
    "shop/script/sell": "#!perl\nuse strict;\n",
    **{f"shop/bin/stub{number}": "#!/usr/bin/env ruby\n" for number in range(7)},
    "shop/script/sell.txt": "",
    "shop/README.asciidoc": "= Shop\n\nSells what there is.\n",
    "shop/Makefile.PL": "use ExtUtils::MakeMaker;\n",
    "shop/shop.podspec": "Pod::Spec.new\n",
    "old/build.mill": "object old extends mill.Module\n",
    "web/Sell.Tests.ps1": "Describe 'selling' { }\n",
    "shop/src/shop_app.erl": "-module(shop_app).\nstart(_, _) -> ok.\n",
    "many/run.py": 'if __name__ == "__main__":\n    first()\n',
    "many/first.py": "def first():\n" + "    pass\n" * 50,
    "many/z.py": "def first(): ...\n",
    "many/c.py": "".join(f"class C{number}: ...\n" for number in range(6)),
    "old/setup.cfg": "[options.entry_points]\nconsole_scripts =\n    old-up = old:main\n",
    "old/new/setup.py": "setup(entry_points={'console_scripts': ['new-up = new:main']})\n",
    "web/package.json": '{"name": "web", "main": "./lib/", "description": "Sells it to browsers"}\n',
    "web/README.md": "# Web\n\nThanks to those who pay for it.\n",
    "web/conftest.py": "",
    "web/t/unit/__init__.py": "",
    "web/t/unit/test_web.py": "",
    "web/lib/index.js": "",
    "web/lib/package.json": '{"bin": {"a": ".", "b": "./data", "c": "dist/c.js"}}\n',
    "web/lib/data.json": "{}\n",
}

# A project in languages with packages: none of its files says what imports another.
PACKAGES = {
    "main.tf": 'resource "a" "b" {}\n',
    "Package.swift": 'let package = Package(name: "Up", targets: [.target(name: "Core"), .target(name: "run")])\n',
    "Sources/Core/Aside/First.swift": "public struct First {}\n",
    "Sources/Core/Sender.swift": "public protocol Command {}\nextension Command { public static func main() {} }\n",
    "Sources/run/Run.swift": "import Core\n\n@main\nstruct Run: Command {\n    static func stop() {}\n}\n",
    "Sources/run/Stop.swift": "import Core\nstruct Stop {}\n",
    "Tests/CoreTests/SenderTests.swift": "import Core\n",
    "ios/Core/Package.swift": 'let package = Package(name: "Core", targets: [.target(name: "Core")])\n',
    "ios/Core/Sources/Core/A.swift": "public struct A {}\n",
    "ios/Core/Sources/Core/B.swift": "public struct B {}\n",
    "ios/Core/Sources/tool/Tool.swift": "import Core\n",
    "net/Acme/Aside/Odd.cs": "namespace Acme;\nclass Odd {}\n",
    "net/Acme/Sender.cs": "namespace Acme;\nclass Sender {}\n",
    "net/Acme/Word.cs": "namespace Acme { class Word {} }\nnamespace Microsoft.Hosting { class Hosts {} }\n",
    "net/Shop/Seller.cs": "using Acme;\nnamespace Shop;\nclass Seller { static void Main() {} }\n",
    "net/Shop/Hosted.cs": "using Microsoft.Hosting;\nclass Hosted {}\n",
    "net/Acme.Tests/Sending.cs": "using Acme;\n",
    "net/Made.cs": "// <auto-generated> Code generated by a tool.\n" + "class Made {}\n" * 50,
    "jvm/src/jvmTest/kotlin/Sending.kt": "class Sending\n",
    "rust/build.rs": "fn main() {}\n",
    "rust/src/tests.rs": "fn sends() {}\n",
    "rust/src/lib.rs": "pub mod tests;\n",
    "site/index.html": "<script src=/index.tsx></script>\n",
    "site/index.tsx": "import './data';\n",
    "site/data/index.ts": "export const a = 1;\n",
    "site/package.json": "{}\n",
    "kit/package.json": "{}\n",
    "rust/run/package.json": '{"main": "index.js"}\n',
    "rust/run/index.js": "",
    "rust/run/Dockerfile": "FROM a\n",
    "rust/gem/sell.gemspec": "Gem.new do |g|\n  g.executables = %w[sell gone]\nend\n",
    "rust/gem/bin/sell": "#!/usr/bin/env ruby\n",
    "net/Acme/Aside/go.mod": "module a.com/order\n",
    "net/Acme/Aside/order.go": "package order\n\ntype Order struct{}\n",
    "Sources/Core/Aside/go.mod": "module a.com/tools\n",
    "Sources/Core/Aside/tools.go": "package tools\n",
    "kit/src/index.ts": "export const b = 1;\n",
    "net/All.slnx": "<a/>\n",
    "net/Acme/Acme.csproj": "<a/>\n",
    "net/Shop/Shop.csproj": "<a/>\n",
    "net/One.csproj": "<a/>\n",
    "net/Two.csproj": "<a/>\n",
    "rust/jvm/build.gradle.kts": "",
    "rust/jvm/src/jvmMain/kotlin/Sender.kt": "class Sender\n",
    "rust/war/pom.xml": "<a/>\n",
    "rust/war/src/main/java/Served.java": "class Served {}\n",
    "rust/war/src/main/webapp/WEB-INF/web.xml": "<a/>\n",
    "rust/php/composer.json": "{}\n",
    "rust/php/src/Sender.php": "<?php\nclass Sender {}\n",
    "rust/cart/composer.json": "{}\n",
    "rust/cart/src/Cart.php": "<?php\nclass Cart {}\n",
    "rust/cart/public/index.php": "<?php\nrequire 'a.php';\n",
}
MANY = {
    **{f"core/use{number}/index.ts": "export const a = 1;\n" for number in range(30)},
    "app/run.ts": "import '../core/use1';\n",
}


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    async with fronted(make(tmp_path_factory.mktemp("summaries"), **FILES)) as (front, indexing):
        await indexing.built()
        yield front


async def summarized(front: Front, path: str, **arguments: int) -> list[Summarized]:
    found = await front.ask(Explore(path, detail="summary", **arguments))
    assert isinstance(found, Summaries), found
    assert found.total == len(found.summaries)
    return found.summaries


@pytest.mark.anyio
async def test_a_directory_is_summarized_by_what_is_in_it(front: Front) -> None:
    core, util, init, cli = await summarized(front, "src/up")
    assert (core.path, core.files, core.defines) == ("src/up/core/", 4, ["Send", "Pool", "Queue", "send"])
    assert (core.says, core.source) == ("What sends files, again and again.", "__init__.py")
    assert util == Summarized("src/up/util/", files=1, defines=["retry"])
    assert init == Summarized("src/up/__init__.py", language="python")
    assert (cli.says, cli.source, cli.defines) == ("The command line of uploads.", "docstring", ["main"])
    top = {each.path: each for each in await summarized(front, "")}
    assert (top["README.md"].says, top["README.md"].source) == ("Uploads: Sends files to a bucket.", "heading")
    assert top["data.json"] == Summarized("data.json", language="json")
    assert top["many/"].defines == ["first", "C0", "C1", "C2", "C3"]  # defined in another file, too, as its last
    deep = {each.path for each in await summarized(front, "", depth=9)}
    assert {*FILES} <= deep


@pytest.mark.anyio
async def test_a_file_is_summarized_with_what_it_defines(front: Front) -> None:
    path = "src/up/core/send.py"
    assert await summarized(front, path) == [
        Summarized(path, language="python", says="Sends a file.", source="comment", defines=["Send", "send"]),
        Summarized(path, "Send", "class", (5, 10), says="A file on its way.", source="docstring"),
        Summarized(path, "Send.now", "method", (8, 10)),
        Summarized(path, "send", "function", (13, 14)),
    ]
    text = tools.text(await answered(front, Explore(path, detail="summary")))
    assert '  5-10  class Send "A file on its way." [docstring]' in text.split("\n")


async def answered(front: Front, question: Explore) -> Summaries | Architecture | Exploration:
    found = await front.ask(question)
    assert isinstance(found, Summaries | Architecture | Exploration), found
    return found


async def architecture(front: Front, path: str = "") -> Architecture:
    found = await answered(front, Explore(path, detail="architecture"))
    assert isinstance(found, Architecture)
    return found


@pytest.mark.anyio
async def test_the_picture_of_a_project_is_what_someone_says_who_knows_it(front: Front) -> None:
    found = await architecture(front)
    lines = found.lines
    assert lines[1] == '"Uploads: Sends files to a bucket." [README.md]'
    manifests = (
        "Makefile, pyproject.toml, old/build.mill, old/setup.cfg, shop/Makefile.PL, shop/shop.podspec, "
        "web/package.json, old/new/setup.py, web/lib/package.json"
    )
    assert f"built by: {manifests}, .github/workflows/ (1)" in lines
    inner = "a = web/lib, b = web/lib/data, c = web/lib/dist/c.js (not in the index)"
    commands = f"up = up.cli:main, old-up = old:main, new-up = new:main, {inner}"
    assert f"entry points: {commands}, src/up/cli.py:5, shop/src/shop_app.erl, many/run.py" in lines
    parts = [line.split()[0] for line in lines if line.startswith("  src/")]
    assert parts == ["src/up/*", "src/up/core/", "src/up/util/"]
    assert "import cycles: 1" in lines
    assert "  2 files: src/up/core/pool.py, src/up/core/queue.py" in lines
    assert "tests: web/ 2, web/t/ 2, lib_test/ 1, tests/ 1" in lines
    assert "tagged by rules, in files: database 1" in lines
    assert not any("zlib" in line for line in lines)
    assert found.tokens <= TOKENS
    shop = await architecture(front, "shop")
    assert shop.lines[1] == '"Shop: Sells what there is." [README.asciidoc]'
    web = await architecture(front, "web")
    assert web.lines[1] == '"Sells it to browsers" [package.json]'
    below = await architecture(front, "src/up/core")
    assert below.path == "src/up/core/"
    assert (
        "largest files: send.py (14 lines), pool.py (7 lines), queue.py (4 lines), __init__.py (1 line)" in below.lines
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("web", "./lib/, a = lib, b = lib/data, c = lib/dist/c.js (not in the index)"),
        ("web/lib", "a = ., b = ./data, c = dist/c.js (not in the index)"),
        ("shop", "bin/ (7 files), script/sell, src/shop_app.erl"),
    ],
)
async def test_what_a_package_begins_at_is_looked_for_as_node_does(front: Front, path: str, begins: str) -> None:
    found = await architecture(front, path)
    assert f"entry points: {begins}" in found.lines
    assert ("tests: at the top 2, t/ 2" in found.lines) == (path == "web")


@pytest.mark.anyio
async def test_a_package_is_not_its_first_file(tmp_path: Path) -> None:
    async with fronted(make(tmp_path, **PACKAGES)) as (front, indexing):
        await indexing.built()
        found = await architecture(front)
        shown = "\n".join(found.lines)
        assert ", 51 of these lines generated (" in found.lines[0], shown
        declared = "sell = rust/gem/bin/sell, rust/run/index.js"
        begins = "main.tf, site/index.tsx, Sources/run/Run.swift:3, net/Shop/Seller.cs:3, rust/cart/public/index.php"
        assert f"entry points: {declared}, {begins}" in found.lines, shown
        assert "libraries: kit/, net/Acme/, rust/jvm/, rust/php/, net/Acme/Aside/" in found.lines, shown
        assert any("net/All.slnx, *.csproj (4), site/" in line for line in found.lines), shown
        assert (
            "imported by most files: all of Core (Sources/Core/) (2), all of Acme (1), "
            "all of Core (ios/Core/Sources/Core/) (1), site/data/index.ts (1)"
        ) in found.lines, shown
        assert any(line.startswith("  net/Shop/") and line.endswith("-> Acme/* 1") for line in found.lines), shown
        run = "-> all of Core (Sources/Core/) 2"
        assert any(line.startswith("  Sources/run/") and line.endswith(run) for line in found.lines), shown
        assert "tests: Tests/ 1, jvm/src/jvmTest/ 1, net/Acme.Tests/ 1, beside the code 1" in found.lines, shown
        for path, directory, files in (
            ("Sources/run/Run.swift", "Sources/Core/", 2),
            ("ios/Core/Sources/tool/Tool.swift", "ios/Core/Sources/Core/", 2),
            ("net/Shop/Seller.cs", "net/Acme/", 3),
        ):
            graph = await front.ask(Dependencies(path, direction="imports", depth=2))
            assert isinstance(graph, DependencyGraph)
            assert [(each.resolved, each.files) for each in graph.imports] == [(directory, files)]
            assert f" -> {directory} (a package of {files} files)" in tools.text(graph)


# Projects of a directory each, and where someone begins who knows them.
ENTRIES: dict[str, tuple[dict[str, str], str]] = {
    "a template of what others begin": (
        {
            "conf/project_template/manage.py-tpl": "def main(): ...\n",
            "create/skeletons/theme/main.js": "run();\n",
            "{{cookiecutter.name}}/main.py": "run()\n",
            "manage.py": "run()\n",
        },
        "manage.py",
    ),
    "a file of a name that another imports": (
        {
            "app/main.py": "from app.api import main\n",
            "app/api/main.py": "router = 1\n",
            "app/__main__.py": "from app.cli import a\n",
        },
        "app/__main__.py, app/main.py",
    ),
    "a component, and a function of Go, that is called Main": (
        {
            "go.mod": "module a.com/up\n",
            "cmd/main.go": "package cmd\n\nfunc Main() {}\n",
            "cmd/up/main.go": "package main\n\nfunc main() {}\n",
            "web/Main.tsx": "export function Main() { return 1 }\n",
            "web/src/main.tsx": "run();\n",
        },
        "cmd/up/main.go:3, web/src/main.tsx",
    ),
    "a declaration of what another file defines": (
        {"up/run.pyi": "def main() -> None: ...\n", "up/run.py": "def main(): ...\n"},
        "up/run.py:1",
    ),
    "scripts of those who work on it": (
        {
            "scripts/release.py": "def main(): ...\n",
            "tools/a/run.py": "def main(): ...\n",
            "src/back/up.py": "def main(): ...\n",
        },
        "src/back/up.py:1, scripts/release.py:1, tools/a/run.py:1",
    ),
    "what starts a server of Node": (
        {
            "package.json": '{"scripts": {"start": "next  start -p 3000"}}',
            "src/app/page.tsx": "export default 1;\n",
            "scripts/seed.ts": "export function main() {}\n",
        },
        "npm start = next start -p 3000, scripts/seed.ts:1",
    ),
    "what builds the pages of a program": (
        {"package.json": '{"scripts": {"start": "webpack --watch"}}', "manage.py": "run()\n", "web/a.js": "a();\n"},
        "manage.py",
    ),
    "a package of Go called deps": (
        {
            "go.mod": "module a.com/up\n",
            "deps/main.go": "package main\n\nfunc main() {}\n",
            "deps/lua/lua.c": "int main() {}\n",
        },
        "deps/main.go:3",
    ),
    "scripts alone": (
        {
            "hole": "#!/bin/bash\n. ./lib/util.sh\nrun\n",
            "install.sh": "#!/bin/sh\nrun\nrun\nrun\n",
            "lib/util.sh": "run\n",
            "lib/hole-list": "#!/bin/sh\nrun\n",
            "lib/COLORS": "#!/bin/sh\nrun\n",
            "gen.py": "run()\n",
        },
        "hole, install.sh, lib/hole-list",
    ),
    "what an application of Elixir starts": (
        {
            "mix.exs": "defmodule Up.MixProject do\n  # mod: {Old, []}\n"
            "  def application, do: [mod: {Up.Application, []}]\n  def escript, do: [main_module: Up.CLI]\nend\n",
            "lib/up/application.ex": "defmodule Up.Application do\nend\n",
        },
        "application = Up.Application, escript = Up.CLI",
    ),
    "a script among code": (
        {"format.sh": "#!/bin/sh\nrun\n", "main.py": "run()\nrun()\nrun()\n"},
        "main.py",
    ),
}
PLACES = {name: f"p{number}" for number, name in enumerate(ENTRIES)}
PACKAGED = {
    "draw/package.json": '{"module": "dist/draw.mjs"}',
    "draw/src/draw.ts": "export const draw = 1;\n",
    "draw/scripts/release.ts": "function main() {}\n",
    "go.mod": "module a.com/up\n",
    "up.go": "package up\n",
    "internal/types/main.go": "package main\n\nfunc main() {}\n",
}
GUARDED = {
    "json.h": "#ifndef MP_JSON_H_\n#define MP_JSON_H_\n#define MAX_DEPTH 50\n#endif\n",
    "move.rs": "pub fn step() {}\n\n#[cfg(test)]\nmod tests {\n    fn moves() {\n        step();\n    }\n}\n",
    "queue.ex": "defmodule Queue do\n  @type t :: list\n  def push(queue) do\n    queue\n  end\nend\n",
}
DOCUMENTED = {
    "README.md": "# Spec\n\nSays what events are.\n\n[spec](spec/spec.md)\n",
    "spec/spec.md": "# Events\n",
    "spec/formats/json.md": "# JSON\n\n[spec](../spec.md)\n",
    "spec/formats/avro.md": "# Avro\n\n[spec](../spec.md) [json](json.md)\n",
    "tool/check.py": "run()\n",
    "tool/see.md": "# See\n",
    "tool/values.yaml": "a: 1\n",
}


@pytest.fixture(scope="module")
async def several(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    """Projects of a directory each."""
    trees = {PLACES[name]: tree for name, (tree, _) in ENTRIES.items()}
    trees |= {"packaged": PACKAGED, "guarded": GUARDED, "documented": DOCUMENTED, "many": MANY}
    files = {f"{place}/{path}": text for place, tree in trees.items() for path, text in tree.items()}
    async with fronted(make(tmp_path_factory.mktemp("several"), **files)) as (front, indexing):
        await indexing.built()
        yield front


@pytest.mark.anyio
async def test_a_project_begins_where_someone_begins_it(several: Front) -> None:
    for name, (_, expected) in ENTRIES.items():
        found = await architecture(several, PLACES[name])
        assert [line for line in found.lines if line.startswith("entry points")] == [f"entry points: {expected}"], name


@pytest.mark.anyio
async def test_what_is_done_for_a_package_makes_it_no_program(several: Front) -> None:
    found = await architecture(several, "packaged")
    assert "entry points: draw/scripts/release.ts:1, internal/types/main.go:3" in found.lines
    assert "libraries: ./, draw/" in found.lines


@pytest.mark.anyio
async def test_a_file_is_not_about_its_guard_or_its_tests(several: Front) -> None:
    defines = {path: (await summarized(several, f"guarded/{path}"))[0].defines for path in GUARDED}
    assert defines == {"json.h": ["MAX_DEPTH"], "move.rs": ["step"], "queue.ex": ["push", "t"]}


@pytest.mark.anyio
async def test_a_project_of_documents_is_told_by_them(several: Front) -> None:
    found = await architecture(several, "documented")
    assert "markdown, 5 files with 13 lines: spec/formats/ 2, ./* 1, spec/* 1, tool/ 1" in found.lines, found.lines
    linked = "documents that most others link to: spec/spec.md (3)"  # to json.md only one
    assert linked in found.lines, found.lines
    assert not any(line.startswith("yaml") for line in found.lines)
    found = await architecture(several, "documented/spec/formats")
    assert "markdown, 2 files with 6 lines: ./* 2" in found.lines, found.lines


@pytest.mark.anyio
async def test_a_directory_of_very_many_small_parts_is_one_part(several: Front) -> None:
    found = await architecture(several, "many")
    parts = [line for line in found.lines if line.startswith("  ")]
    assert parts == ["  app/  1 file, 1 line -> core/ 1", "  core/  30 files, 30 lines"]
    assert not any(line.startswith("imported by most") for line in found.lines), "of one importer each"


UNIMPORTED = {  # files of a package, and what is said of their edges
    "swift": ({"Sources/a/A.swift": "class A {}\n", "Sources/b/B.swift": "class B { let a = A() }\n"}, "2 of 2"),
    "ruby": ({"Vagrantfile": "puts 1\n", "b.rb": "puts 2\n"}, "2 of 2"),
    "php": ({"a.php": "<?php class A {}\n", "b.php": "<?php new A();\n"}, "2 of 2"),
    "r": ({"R/a.R": "f <- function() 1\n", "R/b.R": "g <- function() f()\n"}, "2 of 2"),
    "hcl": (
        {
            "main.tf": 'module "a" {\n  source = "./m"\n}\n',
            "m/main.tf": 'variable "b" {}\n',
            "m/more.tf": "locals {}\n",
            "n/main.tf": "locals {}\n",
        },
        None,
    ),
    "python": ({"a.py": "A = 1\n", "b.py": "B = 1\n"}, None),
}

BY_NAME = {
    "ruby": "A class or namespace may be used",
    "php": "A class, interface, trait or enum may be used",
}


@pytest.mark.anyio
@pytest.mark.parametrize("languages", [["swift"], pytest.param([*UNIMPORTED], marks=pytest.mark.long)])
async def test_files_that_need_no_import_are_not_said_to_stand_alone(tmp_path: Path, languages: list[str]) -> None:
    for language in languages:
        tree, expected = UNIMPORTED[language]
        async with fronted(make(tmp_path / language, **tree)) as (front, indexing):
            await indexing.built()
            found = await architecture(front)
            how = BY_NAME.get(language, "Files of one package use each other")
            said = f"{how} without an import: {expected} files of {language} have no edge."
            assert found.note == (said if expected else None), language


@pytest.mark.anyio
async def test_what_there_is_no_picture_of_is_refused(front: Front) -> None:
    for arguments in ({"depth": 2}, {"pattern": "*.py"}, {"path": "src/up/cli.py"}, {"path": "nowhere"}):
        refused = await front.call("explore", {"detail": "architecture", **arguments})
        assert isinstance(refused, Refusal), arguments


@pytest.mark.anyio
async def test_pages_of_summaries_lose_and_repeat_nothing(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"m{number:03}.py").write_text(f'"""{"Does it. " * 40}"""\n\n\ndef f{number}(): ...\n')
    async with fronted(tmp_path) as (front, indexing):
        await indexing.built()
        following: Next | None = Next("explore", {"detail": "summary"})
        seen: list[str] = []
        pages = 0
        while following:
            found = await front.call(following.tool, following.arguments)
            pages += 1
            assert isinstance(found, Summaries)
            assert found.total == 300
            seen += [each.path for each in found.summaries]
            following = found.next
        assert seen == [f"m{number:03}.py" for number in range(300)]
        assert pages > 1


@pytest.mark.anyio
async def test_the_picture_of_any_project_fits_its_tokens(tmp_path: Path) -> None:
    """Long names, many parts, many circles."""
    for number in range(60):
        place = tmp_path / f"{'part' * 20}{number}"
        place.mkdir()
        for name in ("a", "b"):
            other = "b" if name == "a" else "a"
            (place / f"{name}.py").write_text(f"from . import {other}\n\n\ndef main(): ...\n")
        (place / "pom.xml").write_text("<a/>\n")
    async with fronted(tmp_path) as (front, indexing):
        await indexing.built()
        found = await architecture(front)
        assert TOKENS / 2 < found.tokens <= TOKENS
        assert found.lines.count("  2 files: a.py, b.py") == 3, found.lines
