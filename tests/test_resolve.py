"""Resolution: small projects as tables of files, and what each import in them means."""

import json
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest
from costing import costs_under
from running import fronted
from tables import every_row
from trees import make

from fledgling.broker.front import Front
from fledgling.messages.answers import DependencyGraph, Relations
from fledgling.messages.questions import Dependencies, Direction, Symbols
from fledgling.worker.languages.table import load_languages
from fledgling.worker.resolving import resolve
from fledgling.worker.resolving.project import (
    MAX_MANIFEST,
    MAX_NESTED,
    MAX_PLACES,
    Declared,
    InnerModules,
    Project,
    Resolver,
)
from fledgling.worker.resolving.resolve import Resolution, UnresolvedError, without_faulty
from fledgling.worker.rows import ImportRow
from fledgling.worker.tools.chained_imports import MAX_CHAIN

LANGUAGES = load_languages()
TABLES = Path(__file__).parent / "resolution"


class Said(msgspec.Struct, forbid_unknown_fields=True):
    """An import as a file says it, and where it leads; "nothing" is none. `unlike`: why a compiler thinks otherwise."""

    module: str
    names: tuple[str, ...] = ()
    alias: str | None = None
    line: int = 3
    relative: bool | None = None
    to: str | None = None
    unlike: str = ""

    def row(self) -> ImportRow:
        relative = self.module.startswith(".") if self.relative is None else self.relative
        return ImportRow(self.line, self.module, self.alias, relative, False, None, self.names)


class Table(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    files: str
    imports: dict[str, list[Said]]
    manifests: dict[str, str] = {}
    declared: dict[str, Declared] = {}

    def paths(self) -> list[str]:
        return sorted({*self.files.split(), *self.manifests})


def tables() -> Iterator[Table]:
    for file in sorted(TABLES.glob("*.toml")):
        yield from msgspec.convert(tomllib.loads(file.read_text())["project"], list[Table])


PYTHON_FILES = """
pyproject.toml app.py json.py src/pkg/__init__.py src/pkg/core.py src/pkg/sub/__init__.py src/pkg/sub/deep.py
src/pkg/sub/types.pyi src/space/part/mod.py tests/conftest.py tests/helper.py tests/test_core.py
tools/helper.py tools/yaml.py tools/run.py services/one/setup.py services/one/one/__init__.py services/one/one/core.py
services/two/one/__init__.py services/two/one/core.py services/two/main.py both/__init__.py both.py
"""

# (importing file, module, names) -> (module, names, resolved path or "stdlib" or None for each row)
MEANINGS = [
    ("src/pkg/core.py", "pkg.sub.deep", (), [("pkg.sub.deep", (), "src/pkg/sub/deep.py")]),
    (
        "src/pkg/core.py",
        "pkg.sub",
        ("deep", "x"),
        [("pkg.sub", ("x",), "src/pkg/sub/__init__.py"), ("pkg.sub.deep", ("deep",), "src/pkg/sub/deep.py")],
    ),
    ("src/pkg/core.py", ".", ("sub",), [(".sub", ("sub",), "src/pkg/sub/__init__.py")]),
    ("src/pkg/core.py", ".", ("x",), [(".", ("x",), "src/pkg/__init__.py")]),
    ("src/pkg/sub/deep.py", "..core", ("x",), [("..core", ("x",), "src/pkg/core.py")]),
    ("src/pkg/sub/deep.py", ".types", ("*",), [(".types", ("*",), "src/pkg/sub/types.pyi")]),
    ("src/pkg/sub/deep.py", ".....x", (), [(".....x", (), None)]),
    ("src/pkg/core.py", "space.part.mod", (), [("space.part.mod", (), "src/space/part/mod.py")]),
    ("src/pkg/core.py", "space.part", ("mod",), [("space.part.mod", ("mod",), "src/space/part/mod.py")]),
    ("tests/test_core.py", "pkg.core", (), [("pkg.core", (), "src/pkg/core.py")]),
    ("tests/test_core.py", "helper", (), [("helper", (), "tests/helper.py")]),
    ("tools/run.py", "helper", (), [("helper", (), "tools/helper.py")]),
    ("tests/test_core.py", "tests.helper", (), [("tests.helper", (), "tests/helper.py")]),
    ("services/two/main.py", "one.core", (), [("one.core", (), "services/two/one/core.py")]),
    ("services/one/one/__init__.py", "one.core", (), [("one.core", (), "services/one/one/core.py")]),
    ("app.py", "one.core", (), [("one.core", (), "services/one/one/core.py")]),
    ("app.py", "both", (), [("both", (), "both/__init__.py")]),
    ("app.py", "json", (), [("json", (), "json.py")]),
    # leaves alone
    ("app.py", "os.path", ("join",), [("os.path", ("join",), "stdlib")]),
    ("app.py", "__future__", ("annotations",), [("__future__", ("annotations",), "stdlib")]),
    ("app.py", "requests", (), [("requests", (), None)]),
    ("app.py", "yaml", (), [("yaml", (), None)]),
    ("src/pkg/core.py", "types", (), [("types", (), "stdlib")]),
    ("src/pkg/core.py", "pkg.missing", (), [("pkg.missing", (), None)]),
    ("src/pkg/core.py", ".missing", (), [(".missing", (), None)]),
]

SCRIPT_FILES = """
a/main.ts a/main.js a/util.ts a/view.tsx a/types.d.ts a/data.json a/lib/index.js a/lib/helper.mjs a/style.css
a/deep/x.ts b/only.js b/server.mts
"""
PATHS = [
    ("a/main.ts", "./util", "a/util.ts"),
    ("a/main.ts", "./util.js", "a/util.ts"),
    ("a/main.ts", "./view", "a/view.tsx"),
    ("a/main.ts", "./view.js", "a/view.tsx"),
    ("a/main.ts", "./types", "a/types.d.ts"),
    ("a/main.ts", "./data.json", "a/data.json"),
    ("a/main.ts", "./style.css?inline", "a/style.css"),
    ("a/main.ts", "./lib", "a/lib/index.js"),
    ("a/main.ts", "./lib/helper", "a/lib/helper.mjs"),
    ("a/main.ts", "./main", "a/main.ts"),
    ("a/main.js", "./main", "a/main.js"),
    ("a/deep/x.ts", "../lib/", "a/lib/index.js"),
    ("a/deep/x.ts", "../../b/only", "b/only.js"),
    ("a/main.ts", "../b/server.mjs", "b/server.mts"),
    ("a/main.ts", "fs/promises", "stdlib"),
    ("a/main.ts", "node:test", "stdlib"),
    # leaves alone
    ("a/main.ts", "react", None),
    ("a/main.ts", "./missing", None),
    ("a/main.ts", "../../outside", None),
    ("a/main.ts", "/a/util", None),
]


def row(module: str, names: tuple[str, ...] = ()) -> ImportRow:
    return ImportRow(3, module, None, module.startswith("."), False, None, names)


def languages(paths: list[str]) -> dict[str, str | None]:
    return {path: LANGUAGES.detect(path.rpartition("/")[2], b"") for path in paths}


def meaning(found: ImportRow) -> str | None:
    assert not (found.is_stdlib and found.resolved_path)
    return "stdlib" if found.is_stdlib else found.resolved_path


@every_row("path, module, names, expected", MEANINGS)
def test_python_import(path: str, module: str, names: tuple[str, ...], expected: list[object]) -> None:
    found = Resolution(LANGUAGES, languages(PYTHON_FILES.split())).of(path, [row(module, names)])
    assert [(new.module, new.imported_names, meaning(new)) for new in found] == expected


LINKED_FILES = (
    "broker/__init__.py broker/front.py broker/deep/inner.py pkg/__init__.py pkg/wire.py web/lib/a.ts web/b.ts"
)
# what a symlink says, what a file imports, where that leads
LINKED = [
    ("pkg/broker", "../broker", "broker/front.py", "pkg.broker.front", "broker/front.py"),
    ("pkg/broker", "../broker/", "broker/front.py", "pkg.broker.deep.inner", "broker/deep/inner.py"),
    ("pkg/broker", "../broker", "broker/front.py", "pkg.wire", "pkg/wire.py"),
    ("pkg/all", "..", "pkg/wire.py", "pkg.all.broker.front", "broker/front.py"),
    ("web/linked", "lib", "web/b.ts", "./linked/a", "web/lib/a.ts"),
    ("pkg/broker", "../broker", "broker/front.py", "pkg.broker.missing", None),
    ("pkg/broker", "../nowhere", "broker/front.py", "pkg.broker.front", None),
    ("pkg/broker", "/broker", "broker/front.py", "pkg.broker.front", None),
    ("pkg/broker", "../../x/broker", "broker/front.py", "pkg.broker.front", None),
    ("pkg/broker", "../pkg/broker", "broker/front.py", "pkg.broker.front", None),
]


@every_row("link, target, path, module, expected", LINKED)
def test_import_through_a_link(link: str, target: str, path: str, module: str, expected: str | None) -> None:
    files = languages([*LINKED_FILES.split(), link])
    (found,) = Resolution(LANGUAGES, files, links={link: target}).of(path, [row(module)])
    assert meaning(found) == expected


def test_links_to_the_root_add_a_bounded_number_of_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each link has the paths of the whole project below it: those of the first are led through, and none behind."""
    monkeypatch.setattr(resolve, "MAX_LINKED", 10_000)
    files = languages([f"d{number}/m.py" for number in range(500)])
    links = {f"d0/l{number}": ".." for number in range(1_000)}
    full = resolve.MAX_LINKED // len(files)
    asked = [row(f"d0.l{number}.d7.m") for number in (0, full - 1, full, 999)]
    found = costs_under(1, lambda: Resolution(LANGUAGES, files, links=links).of("d1/m.py", asked))
    assert [meaning(each) for each in found] == ["d7/m.py", "d7/m.py", None, None]


@every_row("path, module, expected", PATHS)
def test_script_import(path: str, module: str, expected: str | None) -> None:
    (found,) = Resolution(LANGUAGES, languages(SCRIPT_FILES.split())).of(path, [row(module)])
    assert meaning(found) == expected


@pytest.mark.parametrize("table", list(tables()), ids=lambda table: table.name)
def test_imports_of_a_project(table: Table) -> None:
    files = languages(table.paths())
    assert set(table.imports) <= set(files)
    for path, said in table.imports.items():
        for one in said:
            found = Resolution(LANGUAGES, files, table.manifests, table.declared).of(path, [one.row()])
            expected = [] if one.to == "nothing" else [one.to]
            assert (path, one.module, one.names, [*map(meaning, found)]) == (path, one.module, one.names, expected)


def test_each_module_that_a_script_requires_is_an_import() -> None:
    files = languages(["a.ps1", "Till.psm1"])
    said = row(
        """-Modules Till,"Pester", @{ ModuleName = 'Az.Accounts'; ModuleVersion = '2.1' }, @{A = 1} -Version 5"""
    )
    found = Resolution(LANGUAGES, files).of("a.ps1", [said])
    assert [(each.module, meaning(each)) for each in found] == [
        ("Till", "Till.psm1"),
        ("Pester", None),
        ("Az.Accounts", None),
    ]


def test_only_what_waits_needs_what_others_declare() -> None:
    """A build resolves all else while other files are parsed."""
    differ = set[bool]()
    for table in tables():
        files = languages(table.paths())
        for path, said in table.imports.items():
            own = {path: table.declared[path]} if path in table.declared else {}
            asked = [one.row() for one in said]
            whole, alone = (Resolution(LANGUAGES, files, table.manifests, known) for known in (table.declared, own))
            assert whole.waits(path) or whole.of(path, asked) == alone.of(path, asked), (table.name, path)
            differ.add(whole.of(path, asked) != alone.of(path, asked))
    assert differ == {True, False}


RUST = {
    "Cargo.toml": "[package]\nname = 'm'\n",
    "src/lib.rs": "mod kind;\nmod user;\n",
    "src/kind.rs": "pub mod b {}\n",
}

# files, the file that imports, and where each module leads, or why nowhere
OWN = {
    "what is used of a name that is imported": (
        {"Cargo.toml": "[package]\nname = 'm'\n", "src/lib.rs": "mod kind;\nmod user;\n"}
        | {"src/kind.rs": "pub enum Kind { A }\n"}
        | {
            "src/user.rs": "use crate::kind::Kind as K;\nuse std::cmp::Ordering;\nuse serde::De;\nuse other::*;\n"
            "fn f() { use K::*; use Ordering::*; use De::{A, B}; }\n"
        },
        "src/user.rs",
        {"crate::kind": "src/kind.rs", "K": "src/kind.rs", "std::cmp": "stdlib", "Ordering": "stdlib"}
        | {"serde": "external", "De": "external", "other": "external"},
    ),
    "what is used of a name that another scope imports, or two import": (
        RUST
        | {
            "src/user.rs": "mod x {\n    use crate::kind::b as serde;\n}\nfn f() {\n    use crate::kind::b as log;\n}\n"
            "const _: () = {\n    use crate::kind::b as rand;\n};\nmod y { use crate::kind::b as libc; }\n"
            "fn g() {\nuse crate::kind::b as time;\n}\n"
            "#[cfg(unix)]\nuse crate::kind::b as os;\n#[cfg(windows)]\nuse std::fs as os;\nuse crate::kind::b as top;\n"
            "use serde::A;\nuse log::A;\nuse rand::A;\nuse libc::A;\nuse time::A;\nuse os::A;\nuse top::A;\n"
            "mod z {\n    use crate::kind::b;\n    mod w { use top::x::B; }\n}\n"
        },
        "src/user.rs",
        {"crate::kind": "src/kind.rs", "serde": "external", "log": "external", "rand": "external", "libc": "external"}
        | {"time": "external", "std": "stdlib", "os": "external", "top": "src/kind.rs", "top::x": "external"},
    ),
    "what is used of a name that others lead to": (
        RUST
        | {
            "src/user.rs": "use crate::kind::b as n0;\n"
            + "".join(f"use n{number}::x as n{number + 1};\n" for number in range(MAX_CHAIN + 1))
            + "use a::x as c;\nuse c::x as a;\nuse self_::x as self_;\n"
        },
        "src/user.rs",
        {"crate::kind": "src/kind.rs", "a": "external", "c": "external", "self_": "external"}
        | {f"n{number}": "src/kind.rs" for number in range(MAX_CHAIN)}
        | {f"n{MAX_CHAIN}": "external"},
    ),
    "what is used of a name that a module around imports": (
        {"Cargo.toml": "[package]\nname = 'm'\n", "src/kind.rs": "pub enum Kind { A }\npub mod b {}\n"}
        | {"src/lib.rs": "mod kind;\nmod user;\nuse kind::{Kind, b as own, b as top};\nuse std::fmt as form;\n"}
        | {
            "src/user.rs": "use {super::*, Kind::*};\nuse form::Debug;\nuse serde::De;\nmod own {}\nuse own::A;\n"
            "mod x { use top::A; }\n"
        },
        "src/user.rs",
        {"super": "src/lib.rs", "Kind": "src/kind.rs", "form": "stdlib", "serde": "external", "own": "src/user.rs"}
        | {"top": "external"},  # of an inner module none is seen
    ),
    "a package of the own module": (
        {"go.mod": 'module "example.com/m" // m\n', "m.go": "package m\n", "n/go.mod": "module example.com/n\n"}
        | {"n/n.go": 'package n\nimport "example.com/n/gen"\nimport "example.com/m/gen"\nimport "example.com/mm"\n'},
        "n/n.go",
        {"example.com/m/gen": "not found", "example.com/mm": "external", "example.com/n/gen": "not found"},
    ),
    "a package of a module that is required": (
        {"go.mod": "module example.com/m\nrequire example.com/m/v2 v2.0.0\nrequire (\n\texample.com/m/sub v1.0.0\n)\n"}
        | {"m.go": "package m\n" + "".join(f'import "example.com/m/{of}"\n' for of in ("gen", "v2/a", "v2x", "sub"))},
        "m.go",
        {"example.com/m/gen": "not found", "example.com/m/v2x": "not found"}
        | {"example.com/m/v2/a": "external", "example.com/m/sub": "external"},
    ),
    "a class of an own package": (
        {"a/P.java": "package com.acme;\nclass P {}\n", "module-info.java": "module com.other {}\n"}
        | {"a/Q.java": "package x;\nimport com.acme.Gen;\nimport com.acme.Gen.Inner;\nimport com.acme.sub.S;\n"}
        | {"b/R.java": "package y;\nimport com.other.Gen;\nimport static com.acme.Gen.*;\nimport com.acmes.Gen;\n"}
        | {"c/S.kt": "package y\nimport com.acme.made\n"},
        "*",
        {"com.acme": "not found", "com.acme.Gen": "not found", "com.acme.sub": "external"}
        | {"com.other": "external", "com.acmes": "external"},
    ),
    "a class below an own package of three parts": (
        {"a/P.java": "package com.acme.app;\nclass P {}\n"}
        | {"a/Q.java": "package x;\nimport com.acme.app.gen.S;\nimport com.acme.web.S;\n"}
        | {"a/R.kt": "package y\nimport com.acme.app.made.deep.T\n"},
        "*",
        {"com.acme.app.gen": "not found", "com.acme.web": "external", "com.acme.app.made.deep": "not found"},
    ),
    "a module of an own package of Python": (
        {"pkg/__init__.py": "", "pkg/a.py": "import pkg.gone\nfrom pkg.sub.b import c\nimport pkgs.x\nimport inner.y\n"}
        | {"pkg/inner/__init__.py": "", "main.py": "from pkg.gone2 import d\n", "bare/b.py": "import bare.gone\n"},
        "*",
        {"pkg.gone": "not found", "pkg.sub.b": "not found", "pkg.gone2": "not found"}
        | {"pkgs.x": "external", "inner.y": "external", "bare.gone": "external"},
    ),
    "a package of Python that other projects hold parts of": (
        {"google/__init__.py": '__import__("pkg_resources").declare_namespace(__name__)\n'}
        | {"google/a.py": "import google.protobuf\nimport google.b\nfrom .c import d\n", "google/b.py": ""}
        | {"zope/__init__.py": "from pkgutil import extend_path\n", "main.py": "import zope.event\n"},
        "*",
        {"google.protobuf": "external", "google.b": "google/b.py", ".c": "not found", "zope.event": "external"}
        | {"pkgutil": "stdlib"},
    ),
    "what is too long to be a name": (
        {"a/P.java": f"package {'A.' * 500}A;\nclass P {{}}\n", "Q.java": f"import {'A.' * 500}A.B;\n"},
        "*",
        {f"{'A.' * 500}A": "external"},
    ),
    "what is too long to be a package of the own module": (
        {"go.mod": "module example.com/m\n", "m.go": f'package m\nimport "example.com/m/{"g" * 1000}"\n'},
        "m.go",
        {f"example.com/m/{'g' * 1000}": "external"},
    ),
    "a module that is named late": (
        {
            "go.mod": "// a comment\n" * 400 + "module example.com/m\n",
            "m.go": 'package m\nimport "example.com/m/gen"\n',
        },
        "m.go",
        {"example.com/m/gen": "not found"},
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", OWN)
async def test_imports_lead_where_the_project_says(front: Front, name: str) -> None:
    files, asked, wanted = OWN[name]
    found: dict[str, str | None] = {}
    for path in files if asked == "*" else [asked]:
        graph = await of(front, name, path, "imports")
        found |= {each.module: within(name, each.resolved) or each.unresolved for each in graph.imports}
    assert found == wanted


# Files, whose last imports what is below an own package -> the note.
BELOW = {
    "of Java, of another project": (
        {"P.java": "package com.acme.app;\nimport com.acme.app.gen.S;\nimport com.acme.app.Q;\nclass P {}\n"},
        "Generated, built, left out, or of another project: line 2 (below com.acme.app).",
    ),
    "of Python, built": (
        {"pkg/__init__.py": "", "pkg/a.py": "import pkg._speedups\n"},
        "Generated, built, left out, or of another project: line 1 (below pkg).",
    ),
}


# What most projects have: the manifest at the very root of the tree. One of each kind, and where its imports lead.
AT_ROOT = {
    "go.mod": "module example.com/m\n",
    "m.go": 'package m\nimport "example.com/m/gen"\nimport "example.com/m/gone"\n',
    "gen/g.go": "package gen\n",
    "Cargo.toml": "[package]\nname = 'fast'\n",
    "src/lib.rs": "pub mod kind;\nuse crate::kind::A;\nuse serde::B;\n",
    "src/kind.rs": "pub struct A;\n",
    "tests/all.rs": "use fast::kind::A;\n",
    "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./web/*"]}}}',
    "package.json": '{"imports": {"#own": "./web/b.ts"}}',
    "web/a.ts": 'import "@/b";\nimport "#own";\n',
    "web/b.ts": "",
}
LEAD = {
    "m.go": {"example.com/m/gen": "gen/", "example.com/m/gone": "not found"},
    "src/lib.rs": {"kind": "src/kind.rs", "crate::kind": "src/kind.rs", "serde": "external"},
    "tests/all.rs": {"fast::kind": "src/kind.rs"},
    "web/a.ts": {"@/b": "web/b.ts", "#own": "web/b.ts"},
}


@pytest.mark.anyio
async def test_a_manifest_at_the_root_of_the_tree_says_where_imports_lead(tmp_path: Path) -> None:
    found: dict[str, dict[str, str | None]] = {}
    async with fronted(make(tmp_path, **AT_ROOT)) as (front, indexing):
        await indexing.built()
        for path in LEAD:
            graph = await front.ask(Dependencies(path, "imports"))
            assert isinstance(graph, DependencyGraph)
            found[path] = {each.module: each.resolved or each.unresolved for each in graph.imports}
    assert found == LEAD


OTHERS = {
    "a file of Rust that comes before what says where modules are": {
        "Cargo.toml": "[package]\nname = 'm'\n",
        "src/aa.rs": "use crate::gone::X;\nuse crate::moved::Y;\n",
        "src/lib.rs": 'mod aa;\nmod gone;\n#[path = "other.rs"]\nmod moved;\n',
        "src/other.rs": "pub struct Y;\n",
    },
    "a file that comes before what it imports": {
        "App.java": "package app;\nimport org.tools.Hammer;\nclass App {}\n",
        "Tools.java": "package org.tools;\npublic class Hammer {}\n",
    },
    "a module that is compiled": {"fast.pyx": "import slow\n", "a.py": "import fast\n"},
    "a module of Rust": {
        "pyproject.toml": "[tool.maturin]\n",
        "Cargo.toml": "[package]\nname = 'fast'\n",
        "src/lib.rs": "pub fn total() {}\n",
        "a.py": "from fast import total\ntotal()\n",
    },
}
FILES = {name: files for name, (files, *_) in (OWN | BELOW).items()} | OTHERS
FOLDERS = {name: f"p{number:02}/" for number, name in enumerate(FILES)}


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    """All these projects beside each other: none knows of the others."""
    files = {FOLDERS[name] + path: text for name, texts in FILES.items() for path, text in texts.items()}
    async with fronted(make(tmp_path_factory.mktemp("projects"), **files)) as (front, indexing):
        await indexing.built()
        yield front


async def of(front: Front, name: str, path: str, direction: Direction = "both") -> DependencyGraph:
    graph = await front.ask(Dependencies(FOLDERS[name] + path, direction))
    assert isinstance(graph, DependencyGraph)
    return graph


def within(name: str, path: str | None) -> str | None:
    """A path as the project has it."""
    return path and path.removeprefix(FOLDERS[name])


@pytest.mark.anyio
@pytest.mark.parametrize("name", BELOW)
async def test_what_is_below_an_own_package_may_be_of_another_project_or_built(front: Front, name: str) -> None:
    files, note = BELOW[name]
    assert (await of(front, name, [*files][-1], "imports")).note == note


@pytest.mark.anyio
async def test_a_build_knows_what_files_declare_that_come_after_the_importer(front: Front) -> None:
    name = "a file that comes before what it imports"
    graph = await of(front, name, "App.java")
    assert [(found.module, within(name, found.resolved)) for found in graph.imports] == [("org.tools", "Tools.java")]
    name = "a file of Rust that comes before what says where modules are"
    graph = await of(front, name, "src/aa.rs", "imports")
    assert [(found.module, within(name, found.resolved)) for found in graph.imports] == [
        ("crate::gone", None),
        ("crate::moved", "src/other.rs"),
    ]


@pytest.mark.anyio
async def test_what_a_module_is_compiled_from_may_import_others(front: Front) -> None:
    name = "a module that is compiled"
    graph = await of(front, name, "fast.pyx")
    assert [within(name, each.path) for each in graph.imported_by] == ["a.py"]
    assert graph.note == "Imports are not extracted from cython."


@pytest.mark.anyio
async def test_python_calls_nothing_of_rust_by_its_name(front: Front) -> None:
    found = await front.ask(Symbols(FOLDERS["a module of Rust"], symbol="total", relation="callers"))
    assert isinstance(found, Relations)
    assert found.total == 0, found


def test_modules_that_have_ended_hide_none_around() -> None:
    """Of those that a line is in MAX_NESTED count, however many end before it."""
    within = [(f"m{depth}", 2 + depth, 998 - depth) for depth in range(MAX_NESTED)]
    modules = InnerModules([("all", 1, 1_000), *within])
    assert modules.around(999) == ("all",)
    assert modules.around(500) == tuple(name for name, _, _ in within)


def test_an_alias_stays_with_its_module() -> None:
    renamed = ImportRow(1, "pkg", "c", False, False, None, ("core",))
    (found,) = Resolution(LANGUAGES, languages(PYTHON_FILES.split())).of("app.py", [renamed])
    assert (found.module, found.alias, found.resolved_path) == ("pkg.core", "c", "src/pkg/core.py")


ODD = [
    "", ".", "..", "/", "::", "\\", "a..b", "a//b", "../../..", "\0", "." * 900, "a/" * 450, "a." * 450,
    "super::" * 140, "a" * 100_000, "::" * 50_000, "$", "$(", "#", "@", "@a", "./", "node:", "x\ud800",
]  # fmt: skip
HOSTILE = {
    "go.mod": "replace (\nmodule\nmodule a b\nreplace a => \nreplace => ./b\n" + "(\n" * 1000,
    "Cargo.toml": "[package]\nname = 3\n[dependencies]\na = { path = 3 }\n[[bin]]\npath = '../..'",
    "a/Cargo.toml": "x = " + "[" * 100_000,
    "b/Cargo.toml": "a." * 100_000 + "a = 1",
    "package.json": '{"name": "a", "imports": {"#": "a", "#a": {"x": ["a", null, 3]}}, "exports": "../../.."}',
    "a/package.json": "[" * 100_000,
    "composer.json": '{"autoload": {"psr-4": {"": ["", 3, "/"]}}, "autoload-dev": 3}',
    "tsconfig.json": '{"extends": "a", "compilerOptions": {"baseUrl": "/", "paths": {"*": ["*"]}, "rootDirs": [3]}}',
    "b/tsconfig.json": '"' * 100_000 + "/*" * 100_000,
}


@pytest.mark.parametrize("language", [*(name for name, row in LANGUAGES.rows.items() if row.imports), None])
def test_odd_names_and_manifests_lead_nowhere(language: str | None) -> None:
    files = {**dict.fromkeys(HOSTILE), "a/b.x": language}
    kinds = [(relative, names) for relative in (True, False) for names in ((), ("*",), ("a", ""))]
    asked = [ImportRow(1, module, None, relative, False, None, names) for module in ODD for relative, names in kinds]
    found = Resolution(LANGUAGES, files, HOSTILE).of("a/b.x", asked)
    assert all(row.resolved_path in (None, *files) for row in found)


@pytest.mark.long  # each import by itself is resolved in the tables of tests/resolution/
def test_fifty_thousand_files_resolve_in_seconds() -> None:
    paths = [f"src/pkg{n % 50}/sub{n % 500}/mod{n}.py" for n in range(50_000)]
    packages = {f"{path.rpartition('/')[0]}/__init__.py" for path in paths} | {
        f"src/pkg{n}/__init__.py" for n in range(50)
    }
    imports = {
        path: [row("os"), row(f"pkg{n % 50}.sub{n % 500}", (f"mod{n}", "x")), row("numpy")]
        for n, path in enumerate(paths)
    }

    def resolve() -> dict[str, list[ImportRow]]:
        resolution = Resolution(LANGUAGES, languages([*paths, *packages]))
        return {path: resolution.of(path, rows) for path, rows in imports.items()}

    found = costs_under(10, resolve)
    assert [meaning(new) for new in found[paths[7]]] == ["stdlib", "src/pkg7/sub7/__init__.py", paths[7], None]


MANY = [f"{number}" for number in range(40_000)]
CIRCLE = {f"{a}/package.json": {"name": a, "exports": {".": [b, b]}} for a, b in ("pq", "qp")}
TS, RS, PY, SCALA, CLOJURE = "typescript", "rust", "python", "scala", "clojure"
# What a file imports a thousand times, its language, manifests that lead far, and what it declares.
COSTLY: dict[str, tuple[str, str, dict[str, object], Declared]] = {
    "places of a pattern": ("m{}", TS, {"tsconfig.json": {"compilerOptions": {"paths": {"*": MANY}}}}, Declared()),
    "root directories": ("./m{}", TS, {"tsconfig.json": {"compilerOptions": {"rootDirs": [*MANY, "."]}}}, Declared()),
    "references": ("m{}", TS, {"tsconfig.json": {"references": [{"path": place} for place in MANY]}}, Declared()),
    "conditions": ("#m{}", TS, {"package.json": {"imports": {"#*": [f"./{place}" for place in MANY]}}}, Declared()),
    "a circle of packages": ("p", TS, CIRCLE, Declared()),
    "modules side by side": (
        "crate::m{}",
        RS,
        {},
        Declared((), ("e",) * 60_000, tuple((f"m{n}", n + 1, n + 1) for n in range(60_000)), ("f",) * 60_000),
    ),
    "modules in each other": (
        "crate::m{}",
        RS,
        {},
        Declared((), (), tuple(("m", n + 1, 120_000 - n) for n in range(60_000))),
    ),
    "remapped prefixes": (
        "m{}/" + "a" * 100,
        "solidity",
        {"remappings.txt": "\n".join(f"m{place}x=d" for place in MANY)},
        Declared(),
    ),
    "packages of one file": ("m{}", SCALA, {}, Declared(tuple(MANY))),
    "folders of one package": (
        "p.m{}",
        PY,
        {f"d{n}/pyproject.toml": '[tool.setuptools.package-dir]\np = "x"' for n in range(3_000)},
        Declared(),
    ),
}


@pytest.mark.parametrize(("language", "end"), [(SCALA, ".scala"), (CLOJURE, ".cljs")])
def test_a_package_of_many_files_costs_an_import_no_more(language: str, end: str) -> None:
    """Each file imports it from a folder of its own: which of those that declare it are the nearest is asked anew."""
    declared = {f"d{n}/a{end.removesuffix('s')}": Declared(("a.b",), ("a.b.C",)) for n in range(8_000)}
    files = dict.fromkeys([*declared, *(f"e{n}/b{end}" for n in range(4_000))], language)
    asked = ImportRow(1, "a.b", None, False, False, None, ())

    def resolve() -> set[str | None]:
        resolution = Resolution(LANGUAGES, files, {}, declared)
        return {row.resolved_path for n in range(4_000) for row in resolution.of(f"e{n}/b{end}", [asked])}

    found = costs_under(1, resolve)
    assert found
    assert found <= declared.keys()


FAULTY = {  # what is met in which manifests -> files of which imports are not resolved
    "each alone": (lambda texts: "b" in texts or "c" in texts, {"b", "c"}),
    "two together": (lambda texts: {"b", "c"} <= texts, {"a", "b", "c", "d"}),
    "one among files": (lambda texts: "b" in texts and len(texts) > 1, {"a", "b", "c", "d"}),
    "none": (lambda texts: not texts, {"a", "b", "c", "d"}),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_in_a_manifest_costs_two_more_resolvers_of_the_project(name: str) -> None:
    """Others are made of one manifest each, and of nothing else."""
    is_faulty, lost = FAULTY[name]
    manifests = {f"{one}/go.mod": one for one in "abcd"}
    project = Project(LANGUAGES.rows, dict.fromkeys([*manifests, *(f"{one}/x.go" for one in "abcd")], "go"), manifests)
    whole = []

    def make(some: Project) -> Resolver:
        whole.extend([some] * (some.files == project.files))
        assert not is_faulty({*some.manifests.values()} if some.manifests or name == "none" else {"other"})
        return lambda _path, row: [row]

    resolve, unresolved = without_faulty(make, project, set()), set()
    asked = ImportRow(1, "x", None, False, True, None, ())
    for path in project.files:
        try:
            [*resolve(path, asked)]
        except UnresolvedError:
            unresolved.add(path[0])
    assert unresolved == lost
    assert len(whole) <= 2


@pytest.mark.parametrize(
    ("is_relative", "led", "is_believed"),
    [(True, "a/y.go", True), (True, "b/y.go", False), (True, None, False), (False, "a/y.go", False)],
)
def test_what_a_faulty_manifest_may_lead_elsewhere_is_not_believed(
    capsys: pytest.CaptureFixture[str], *, is_relative: bool, led: str | None, is_believed: bool
) -> None:
    """Each of its faults is said once."""
    manifests = {f"{one}/go.mod": one for one in "abcd"}

    def make(some: Project) -> Resolver:
        texts = {*some.manifests.values()}
        assert not {"b", "d"} & texts
        if "c" in texts:
            raise ValueError
        return lambda _path, row: [row]

    project = Project(LANGUAGES.rows, dict.fromkeys(manifests, "go"), manifests)
    resolve = without_faulty(make, project, set())
    row = ImportRow(1, "y", None, is_relative, False, led, ())
    with nullcontext() if is_believed else pytest.raises(UnresolvedError):
        assert [*resolve("a/x.go", row)] == [row]
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["AssertionError", "ValueError"]


@pytest.mark.parametrize("name", COSTLY)
def test_an_import_costs_the_same_however_far_it_is_led(name: str) -> None:
    """No list of a manifest, nor of what files declare, is gone through for each import; nor is one led in a circle."""
    form, language, said, declared = COSTLY[name]
    manifests = {path: text if isinstance(text, str) else json.dumps(text) for path, text in said.items()}
    files = {"a.x": language, **dict.fromkeys(manifests)}
    asked = [ImportRow(n + 1, form.format(n), None, form.startswith("."), False, None, ("f",)) for n in range(1_000)]

    def resolve() -> list[ImportRow]:
        return Resolution(LANGUAGES, files, manifests, {"a.x": declared}).of("a.x", asked)

    assert {row.resolved_path for row in costs_under(2, resolve)} <= {None, "a.x"}


PLACES = [f"p{number}" for number in range(MAX_PLACES + 1)]
# What is imported by a file, and manifests by which it may be in any of PLACES.
PLACED: dict[str, tuple[str, str, str, dict[str, object]]] = {
    "paths of TypeScript": (
        "a.ts",
        "@/x",
        "x.ts",
        {"tsconfig.json": {"compilerOptions": {"paths": {"@/*": [f"./{place}/*" for place in PLACES]}}}},
    ),
    "rootDirs of TypeScript": (
        "p0/a.ts",
        "./x",
        "x.ts",
        {"tsconfig.json": {"compilerOptions": {"rootDirs": PLACES}}},
    ),
    "imports of a package": (
        "a.js",
        "#x",
        "x.js",
        {"package.json": {"imports": {"#x": [f"./{place}/x.js" for place in PLACES]}}},
    ),
    "PSR-4": ("a.php", "A", "x.php", {"composer.json": {"autoload": {"psr-4": {"A\\": PLACES}}}}),
    "PSR-0": (
        "a.php",
        "A",
        "A/x.php",
        {"composer.json": {"autoload": {"psr-0": {"A\\": PLACES}}}},
    ),
    "package-dir": (
        "a.py",
        "p.x",
        "x.py",
        {f"{place}/pyproject.toml": '[tool.setuptools.package-dir]\np = "."' for place in PLACES},
    ),
}


@pytest.mark.parametrize("name", PLACED)
def test_an_import_is_looked_for_in_so_many_places(name: str) -> None:
    path, module, found, said = PLACED[name]
    manifests = {at: text if isinstance(text, str) else json.dumps(text) for at, text in said.items()}
    asked = ImportRow(1, module, None, module.startswith("."), False, None, ("x",))
    led = []
    for place in PLACES:
        files = languages([path, f"{place}/{found}", *manifests])
        (got,) = Resolution(LANGUAGES, files, manifests).of(path, [asked])
        assert got.resolved_path in (None, f"{place}/{found}")
        led.append(got.resolved_path is not None)
    assert sum(led) == MAX_PLACES, led


@pytest.mark.parametrize(("padding", "found"), [(0, "a/a.go"), (MAX_MANIFEST, None)])
def test_a_manifest_over_the_limit_is_not_read(padding: int, found: str | None) -> None:
    files = {"go.mod": None, "main.go": "go", "a/a.go": "go"}
    asked = ImportRow(3, "example.com/m/a", None, False, False, None, ())
    manifest = f"module example.com/m\n//{' ' * padding}"
    (row,) = Resolution(LANGUAGES, files, {"go.mod": manifest}).of("main.go", [asked])
    assert row.resolved_path == found
