"""Who uses what: small marked programs in each language, and an account of every occurrence of a name."""

import io
import re
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random

import pytest
from costing import costs_under
from graph_reading import EXTRACTOR, FACTS, LANGUAGES, read
from tables import every_row

from fledgling.worker.graph import unit as graph_unit
from fledgling.worker.graph.columns import GraphColumns, joined
from fledgling.worker.graph.effects.purity import judged
from fledgling.worker.graph.linking import mixins, stars
from fledgling.worker.graph.linking.classes import MAX_NAMESAKES
from fledgling.worker.graph.linking.computed_mixins import MAX_MIXED
from fledgling.worker.graph.linking.fixtures import MAX_ABOVE, MAX_FIXTURES
from fledgling.worker.graph.linking.global_names import MAX_DECLARED
from fledgling.worker.graph.linking.hierarchy import MAX_BELOW, MAX_EITHER
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.related_names import MAX_RELATED
from fledgling.worker.graph.reading import listed_methods, reduced
from fledgling.worker.graph.reading.braced_types import MAX_TOLD
from fledgling.worker.graph.reading.definitions import MAX_LABEL
from fledgling.worker.graph.reading.extension_blocks import MAX_RECEIVER
from fledgling.worker.graph.reading.flow import MAX_REACHING
from fledgling.worker.graph.reading.listed_methods import MAX_LISTED
from fledgling.worker.graph.reading.matches import MAX_FALLING
from fledgling.worker.graph.reading.narrowing import MAX_CHECKED
from fledgling.worker.graph.reading.reduced import MAX_DEPTH, MAX_TREE_DEPTH
from fledgling.worker.graph.reading.told_names import MAX_TYPEDEF
from fledgling.worker.graph.reading.told_types import MAX_BLANK, MAX_COMMENT
from fledgling.worker.graph.reasons import WORDS, Confidence, Reason
from fledgling.worker.graph.resolve import Resolving, resolved, solved
from fledgling.worker.graph.rows import handed_back, unknown_beside
from fledgling.worker.graph.rows import rows as graph_rows
from fledgling.worker.graph.rows.defining_names import MAX_FOLLOWED
from fledgling.worker.graph.rows.handed_back import MAX_PARTS
from fledgling.worker.graph.rows.missing import MAX_ASKED, MAX_STEPS
from fledgling.worker.graph.solving import globs, made_names, overrides
from fledgling.worker.graph.solving.bound_members import MAX_SIGNATURES
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.solving.by_members import MAX_ALIKE
from fledgling.worker.graph.solving.class_members import MAX_OVERLOADS, MAX_OVERRIDING, MAX_UNTYPED
from fledgling.worker.graph.solving.container_methods import MAX_ANEW
from fledgling.worker.graph.solving.extension_members import MAX_EXTENDING
from fledgling.worker.graph.solving.inferred_types import MAX_INFERRING, MAX_WITHIN
from fledgling.worker.graph.solving.made_names import MAX_ENDS, MAX_NAMES_MADE
from fledgling.worker.graph.solving.overloading.argument_types import MAX_CONVERTING
from fledgling.worker.graph.solving.overloading.inherited import MAX_INHERITED
from fledgling.worker.graph.solving.overloading.specific import MAX_NARROWED
from fledgling.worker.graph.solving.prototypes import MAX_PROTOTYPES, MAX_RECEIVERS
from fledgling.worker.graph.solving.replaceable import MAX_REPLACED
from fledgling.worker.graph.solving.seen_extensions import MAX_SEEN
from fledgling.worker.graph.solving.solver import MAX_KEYS, Solver
from fledgling.worker.graph.solving.types import MAX_NAMING
from fledgling.worker.graph.tables import MAX_KEY, GraphFile, Op, Use, sites_of, unpacked
from fledgling.worker.graph.telling import unheard
from fledgling.worker.graph.unit import LINE
from fledgling.worker.indexer import same_graph
from fledgling.worker.rows import MAX_GUESSED, MAX_TARGETS

FOLDER = Path(__file__).parent / "graph"
WORKER = Path(__file__).parent.parent / "worker"
PROGRAMS = {
    f"{path.stem}: {program['name']}": program
    for path in sorted(FOLDER.glob("*.toml"))
    for program in tomllib.loads(path.read_text())["program"]
}
REFLECTION = tomllib.loads((FOLDER.parent / "reflection.toml").read_text())["case"]
MORE_BELOW = WORDS[Reason.FURTHER_BELOW]
MARK = re.compile(r"(?:#|//|--)> ?(.*)")
MARKED = [
    path
    for path in sorted((Path(__file__).parent / "languages").iterdir())
    if (language := LANGUAGES.detect(path.name, b"")) and LANGUAGES.rows[language].graph.rules
]


def graph_files(texts: dict[str, bytes]) -> list[GraphFile]:
    """The facts and resolved imports of some files, by path."""
    manifests = {path: text.decode() for path, text in texts.items() if LANGUAGES.is_manifest(path)}
    sources = {path: text for path, text in texts.items() if path not in manifests}
    languages = {path: LANGUAGES.detect(path.rpartition("/")[2], b"") for path in sources}
    return read(sources, languages, manifests)


def graph_of(sources: dict[str, bytes], budget: GraphBudget | None = None) -> tuple[GraphColumns, list[GraphFile]]:
    files = graph_files(sources)
    return resolved(files, budget=budget or GraphBudget(), languages=LANGUAGES.rows), files


def marks(files: dict[str, str]) -> Iterator[tuple[str, int, str, set[str]]]:
    """What the marked lines say: path, line, name, targets; none where "nothing" is said."""
    for path, text in files.items():
        for number, line in enumerate(text.split("\n"), 1):
            if mark := MARK.search(line):
                for said in mark[1].split(";"):
                    name, _, targets = said.partition("->")
                    yield path, number, name.strip(), {target.strip() for target in targets.split(",")} - {"nothing"}


def said(graph: GraphColumns, files: list[GraphFile]) -> dict[tuple[str, int, str], set[str]]:
    """What the rows of a graph say, in the same words."""
    found = defaultdict[tuple[str, int, str], set[str]](set)
    columns = (graph.file, graph.line, graph.name, graph.kind, graph.target_file, graph.target_line, graph.confidence)
    for file, line, name, kind, target, first, sure, reason in zip(*columns, graph.reason, strict=True):
        place = WORDS[reason]
        if target >= 0:
            place = str(first) if target == file else f"{files[target].path}:{first}"
        if kind not in (Use.DEFINITION, Use.IMPORT):
            found[files[file].path, line, graph.names[name]].add(f"{place} {Confidence(sure).name.lower()}")
    return found


@cache
def rows_of_program(texts: tuple[tuple[str, str], ...]) -> tuple[list[GraphFile], dict[tuple[str, int, str], set[str]]]:
    graph, files = graph_of({path: text.encode() for path, text in texts})
    return files, said(graph, files)


def test_what_one_name_is_exported_as_is_followed_so_far() -> None:
    exported = "".join(f"const a{n} = {n};\nexport {{ a{n} as b }};\n" for n in range(MAX_FOLLOWED)).encode()
    graph, _ = graph_of({"a.ts": exported, "b.ts": b'import { b } from "./a";\nf(b);\n'})
    read = [kind == Use.READ and graph.names[name] == "b" for kind, name in zip(graph.kind, graph.name, strict=True)]
    assert sum(read) == (MAX_FOLLOWED - 1) // 2  # behind the import, an export and what it names are two steps


def test_a_const_method_beside_another_is_an_overload_and_under_no_condition() -> None:
    of_either = b"struct A {\n  int* b() { return 0; }\n  int* b() const { return 0; }\n};\n"
    text = of_either + b"const A* g() { return 0; }\nint* f() { auto a = g(); return a->b(); }\n"
    graph, _ = graph_of({"a.cc": text})
    assert Reason.OVERLOAD in graph.reason
    assert Reason.CONDITIONAL not in graph.reason


@every_row("program", PROGRAMS.values(), ids=PROGRAMS)
def test_marked_lines_mean_what_they_say(program: dict[str, dict[str, str]]) -> None:
    _, rows = rows_of_program(tuple(program["files"].items()))
    expected = list(marks(program["files"]))
    assert expected
    for path, line, name, targets in expected:
        assert (line, name, rows.get((path, line, name), set())) == (line, name, targets), path


CALLED_ODDLY = {  # a name by which a language knows a function, called with nothing, too little, or what is not known
    "a.c": "void f(void) {{ {0}(); {0}(1); a->{0}(); }}",
    "a.cc": "void f() {{ {0}(); {0}(1); a->{0}(); A b; b.{0}(); std::{0}(); }}",
    "a.cs": "class A {{ void F() {{ {0}(); {0}(1); a.{0}(); this.{0}(); new {0}(); }} }}",
    "a.go": "package a; func f() {{ {0}(); {0}(1); a.{0}(); {0}(b...) }}",
    "a.java": "class A {{ void f() {{ {0}(); {0}(1); a.{0}(); this.{0}(); new {0}(); }} }}",
    "a.js": "class A {{}}\n{0}(); {0}(1); {0}(...a); new A().{0}(); new {0}(); b.{0}(A); [].{0}();",
    "a.kt": "class A {{ fun f() {{ {0}(); {0}(1); a.{0}(); this.{0}(); {0} {{ }} }} }}",
    "a.php": "<?php class A {{}}\n{0}(); {0}(1); {0}(...$a); $b->{0}(); A::{0}(); (new A)->{0}();",
    "a.py": "class A: pass\n{0}(); {0}(1); {0}(*a, **b); A().{0}(); c.{0}(A); [].{0}()",
    "a.rb": "class A; end\n{0}; {0}(1); {0}(*a); A.new.{0}; A.{0}; b.{0}(A); [].{0}",
    "a.rs": "fn f() {{ {0}(); {0}(1); a.{0}(); A::{0}(); }}",
    "a.ts": "class A {{}}\n{0}(); {0}(1); {0}(...a); new A().{0}(); {0}<A>(); b.{0}(A); [].{0}();",
}


@pytest.mark.parametrize("path", CALLED_ODDLY)
def test_whatever_a_function_that_is_known_gets_it_is_no_end(path: str) -> None:
    row = LANGUAGES.rows[LANGUAGES.detect(path, b"")].graph
    known = {name.rpartition(".")[2] for name in (*row.functions, *row.methods, *row.sending, *row.runs)}
    lines = [CALLED_ODDLY[path].format(name) for name in sorted(known) if name.isidentifier()]
    assert not row.functions or lines
    files = {f"{number}/{path}": line.encode() for number, line in enumerate(lines)}
    graph, _ = graph_of(files, GraphBudget(follows_arguments=True))  # an exception would be the end of it
    assert not graph.is_cut


HALF_WRITTEN = {
    "a.go": "package a\ntype T struct {\n\tb A\n}\nfunc f() {\n"
    "\tc := []T{{A{}, 1}, {b: D _, e := range c {\n\t\te.b.F()\n\t}\n}\n",
    "a.php": "<?php class A { function __construct(public $a, int int $b = 0) {} }\nnew A(a: 1, b: 2);",
}
TAKEN_AWAY = 30  # characters of a text


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.long)])
def test_what_is_half_written_is_no_end_of_the_graph(every: int) -> None:
    """Each marked text, or every tenth, with something taken away, and words put elsewhere, always the same."""
    texts = [(path, text) for program in PROGRAMS.values() for path, text in program["files"].items() if text]
    written = [*HALF_WRITTEN.items()]
    for number, (path, text) in [*enumerate(texts)][::every]:
        chance = Random(number)
        start = chance.randrange(len(text))
        words = [*text[:start].split(" "), *text[start + chance.randrange(TAKEN_AWAY) :].split(" ")]
        words.insert(chance.randrange(len(words)), words.pop(chance.randrange(len(words))))
        written.append((path, " ".join(words)))
    for path, text in written:
        graph_of({path: text.encode()}, GraphBudget(follows_arguments=True))


class UnsharedProject(GraphProject):
    """A project in which each name that may be a member's is looked up by itself."""

    def first_bare(self, node: int) -> int:
        return node


class UnsharedResolving(Resolving):
    def _project(self, at: int) -> GraphProject:
        return UnsharedProject(self.apart[at], self._dialects)


def are_the_same(program: dict[str, dict[str, str]]) -> None:
    files, rows = rows_of_program(tuple(program["files"].items()))
    if any(expression[0] == Op.BARE for file in files for expression in unpacked(file.facts).expressions):
        resolving = UnsharedResolving(
            files, budget=GraphBudget(), languages=LANGUAGES.rows, is_partial=False, tell=unheard
        )
        alone = said(joined(resolving.numbers, [*resolving.graphs({})]), files)
        differing = {at for at in rows.keys() | alone.keys() if rows.get(at) != alone.get(at)}
        assert {at: rows.get(at) for at in differing} == {at: alone.get(at) for at in differing}


SOME, OTHERS = ({name: PROGRAMS[name] for at, name in enumerate(PROGRAMS) if bool(at % 5) == rest} for rest in (0, 1))


@every_row("program", SOME.values(), ids=SOME)
def test_names_that_share_a_cell_mean_the_same(program: dict[str, dict[str, str]]) -> None:
    are_the_same(program)


@pytest.mark.long
@every_row("program", OTHERS.values(), ids=OTHERS)
def test_names_that_share_a_cell_mean_the_same_in_all_others(program: dict[str, dict[str, str]]) -> None:
    are_the_same(program)


@every_row("program", SOME.values(), ids=SOME)
def test_where_arguments_are_not_followed_nothing_else_is_certain(program: dict[str, dict[str, str]]) -> None:
    """As in a project of more than FOLLOWED_BYTES."""
    is_no_more_certain(program)


@pytest.mark.long
@every_row("program", OTHERS.values(), ids=OTHERS)
def test_where_arguments_are_not_followed_nothing_else_is_certain_in_all_others(
    program: dict[str, dict[str, str]],
) -> None:
    is_no_more_certain(program)


def is_no_more_certain(program: dict[str, dict[str, str]]) -> None:
    files, rows = rows_of_program(tuple(program["files"].items()))
    less = said(resolved(files, budget=GraphBudget(follows_arguments=False), languages=LANGUAGES.rows), files)
    assert less.keys() <= rows.keys()
    targets = {at: {each.rpartition(" ")[0] for each in found} for at, found in rows.items()}
    for at, found in less.items():
        certain = {target for target, _, sure in (each.rpartition(" ") for each in found) if sure == "certain"}
        assert certain <= targets[at], at


def test_without_following_arguments_what_they_are_is_not_known() -> None:
    files = graph_files({"a.py": b"class A:\n def run(self): ...\ndef f(a):\n a.run()\nf(A())\nA().run()\n"})
    for follows, found in ((True, {"2 likely"}), (False, {"receiver unknown unresolved"})):
        budget = GraphBudget(follows_arguments=follows)
        rows = said(resolved(files, budget=budget, languages=LANGUAGES.rows), files)
        assert (rows["a.py", 4, "run"], rows["a.py", 6, "run"]) == (found, {"2 certain"}), follows


NOT_IN_THE_GRAPH = {  # one of several definitions: a branch that a compiler leaves out, a concept
    "branches.c": {"four"},
    "namespaces.h": {"T"},
    "templates.cpp": {"Q", "A", "C"},
    "Branches.cs": {"Agent"},
    "commonjs.js": {"get"},
}


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_a_definition_begins_where_its_outline_does(path: Path) -> None:
    graph, files = graph_of({path.name: path.read_bytes()})
    begin = defaultdict[str, set[int]](set)
    for name, kind, line in zip(graph.name, graph.kind, graph.target_line, strict=True):
        if kind in (Use.DEFINITION, Use.WRITE):
            begin[graph.names[name]].add(line)
    for row in EXTRACTOR.extract(files[0].language, path.read_bytes()).symbols:
        if row.name in begin and row.kind not in ("import", "export"):
            is_there = row.line_start in begin[row.name] or row.name in NOT_IN_THE_GRAPH.get(path.name, ())
            assert is_there, (row.name, row.line_start, begin[row.name])


def names_in(source: str) -> Iterator[tuple[int, int, str]]:
    """The names of a Python text by line and column, as Python's own tokenizer sees them."""
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string not in ("match", "case", "type"):
            line, column = token.start
            yield line, len(lines[line - 1][:column].encode()), token.string


def test_every_occurrence_of_a_defined_name_has_a_row() -> None:
    sources = {
        str(path.relative_to(WORKER)): path.read_bytes() for path in sorted(WORKER.glob("graph/[els]*/[a-c]*.py"))
    }
    graph, files = graph_of(sources)
    rows = defaultdict[str, set[tuple[int, int, str]]](set)
    for file, line, column, name in zip(graph.file, graph.line, graph.column, graph.name, strict=True):
        rows[files[file].path].add((line, column, graph.names[name]))
    names = {name for found in rows.values() for _, _, name in found}
    assert len(names) > 200
    defined = {
        name
        for file in files
        for facts in [unpacked(file.facts)]
        for site in sites_of(facts)
        if site.use == Use.DEFINITION and facts.scopes[site.scope].kind == 0
        for name in [facts.names[site.name]]
    }
    for path, source in sources.items():
        missing = {found for found in names_in(source.decode()) if found[2] in defined} - rows[path]
        assert not missing, path


# ---- what a hostile text costs

HOSTILE = {
    "calls within calls": lambda n: "f(" * n + ")" * n,
    "attributes one after the other": lambda n: "a" + ".b" * n,
    "branches within branches": lambda n: "".join(" " * i + "if a:\n" for i in range(min(n, 90))) + " " * 90 + "a = 1",
    "branches one after the other": lambda n: "if a:\n b = a\n" * n,
    "loops one after the other": lambda n: "for a in b:\n b = a\n" * n,
    "classes above each other": lambda n: "class A0: pass\n" + "".join(
        f"class A{i + 1}(A{i}):\n def m(self): self.m()\n" for i in range(n)
    ),
    "one class of many": lambda n: "".join(f"class A{i}: pass\n" for i in range(n))
    + f"class B({', '.join(f'A{i}' for i in range(n))}): pass\n",
    "functions passed to each other": lambda n: "".join(
        f"def f{i}(x):\n x()\n f{(i * 7 + 1) % n}(x)\n f{i}(f{(i + 1) % n})\n" for i in range(n)
    ),
    "one name bound again and again": lambda n: "def a(): pass\n" * n + "a()\n" * n,
    "types in quotes": lambda n: (
        f'def f(a: "{"*" * n}A", b: "{"[" * n}A", c: "{"A[" * 29}A{"]" * 29}"): pass\n'
        + 'def g(a: "A | b.A[A]"): pass\n' * n
    ),
    "functions that take types in quotes": lambda n: (
        "from typing import cast\n" * n + "def f():\n" + ' cast("A", 1)\n' * n
    ),
    "fields that hold each other": lambda n: "class A:\n def m(self):\n" + "".join(
        f"  self.f{i} = self.f{i + 1}\n" for i in range(n)
    ),
}  # fmt: skip


def work(text: str) -> int:
    """How many cells are worked out for a text, which does not depend on the machine."""
    project = GraphProject(graph_files({"a.py": text.encode()}), {"python": LANGUAGES.rows["python"].graph})
    return solved(project, GraphBudget()).evaluations


@pytest.mark.parametrize("shape", HOSTILE)
def test_work_grows_with_the_text(shape: str) -> None:
    small, large = work(HOSTILE[shape](50)), work(HOSTILE[shape](200))
    assert large <= 6 * max(small, 125)


NESTED = {  # functions within functions: what begins, what each begins and ends with, what ends
    "a.cpp": ("void f() {", "h([](int a) { g(a); ", "});", "}"),
    "a.cs": ("class A { void F() {", "H(a => { g(a); ", "});", "}}"),
    "a.go": ("package p\nfunc f() {", "h(func() { g(1); ", "});", "}"),
    "a.java": ("class A { void f() {", "h(a -> { g(a); ", "});", "}}"),
    "a.js": ("function f() {", "h((a) => { g(a); ", "});", "}"),
    "a.kt": ("fun f() {", "h { g(it); ", "};", "}"),
    "a.php": ("<?php function f() {", "h(function ($a) { g($a); ", "});", "}"),
    "a.py": ("def f(): ", "h(lambda a: g(a, ", "))", "\n"),
    "a.rb": ("def f; ", "h { |a| g(a); ", "}; ", "end"),
    "a.rs": ("fn f() {", "h(|a| { g(a); ", "});", "}"),
    "a.ts": ("function f() {", "h((a: A): B => { g(a); ", "});", "}"),
}


DEEP = {  # what each begins with, what is within each other, around a name, and how it ends
    "list.js": ("let ", "[", "last", "]", " = b;"),
    "object.js": ("let ", "{a: ", "last", "}", " = b;"),
    "keys.js": ("b = ", "{a: ", "last", "}", ";"),
    "a.py": ("", "(", "last", ",)", " = b"),
    "a.php": ("<?php ", "[", "$a->last", "]", " = $b;"),
    "a.rb": ("f { |", "(", "last", ")", "| }"),
    "a.rs": ("fn f() { match b { ", "Some(", "last", ")", " => 1 } }"),
    "a.cs": ("class A { void f() { var ", "(", "last", ", b)", " = c; } }"),
    "else.c": ("void f() { ", "if (a) b(); else ", "last();", "", "}"),
    "if.php": ("<?php ", "if ($a) { ", "last();", "}", ""),
    "loop.js": ("", "while (a) { ", "last();", "}", ""),
}


def test_a_tree_is_seen_so_deep() -> None:
    """MAX_TREE_DEPTH, below a text and its statement; that there is more is said."""
    for depth, is_seen in ((MAX_TREE_DEPTH - 2, True), (MAX_TREE_DEPTH - 1, False), (4 * MAX_TREE_DEPTH, False)):
        facts = unpacked(FACTS.facts_of("javascript", f"{'(' * depth}a{')' * depth}".encode()))
        assert (facts.complete, "a" in facts.names) == (is_seen, is_seen), depth
    counts = set()
    for count in (1, 2):
        text = "class A {" * count * MAX_TREE_DEPTH + "};" * count * MAX_TREE_DEPTH
        counts.add(len(unpacked(FACTS.facts_of("cpp", text.encode())).scopes))
    assert len(counts) == 1


def test_what_stands_in_a_long_call_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a query too many matches may be in progress: none waits for the end of `describe("a", () => { ... })`."""
    monkeypatch.setattr(reduced, "MATCH_LIMIT", 1_000)
    body = 'it("b", () => { c.d("e", f(g)) })\n' * (reduced.MATCH_LIMIT // 4)
    for text in (f'describe("a", () => {{\n{body}}})\n', f"(function () {{\n{body}}})()\n"):
        assert unpacked(FACTS.facts_of("typescript", text.encode())).complete


@pytest.mark.parametrize("path", NESTED)
def test_what_stands_in_functions_within_each_other_is_read_once(path: str) -> None:
    begin, inner, end, rest = NESTED[path]
    text = begin + inner * 12 + end * 12 + rest
    facts = unpacked(FACTS.facts_of(LANGUAGES.detect(path, b""), text.encode()))
    sites = [(site.column, facts.names[site.name]) for site in sites_of(facts) if facts.names[site.name] == "g"]
    assert len(sites) == len(set(sites)) == 12


# What is read twice: what begins, what each begins and ends with, what ends
READ_TWICE = {
    "a.js": ("", "(", ".b ||= 1)", "a"),
    "keys.js": ("", "a[", "] ||= 1", "b"),
    "classes.js": ("", "(a instanceof (", ") && b, B)", "C"),
    "functions.js": ("", "(function () { if (a instanceof (", ")) b(); return B; })()", "C"),
    "a.php": ("<?php $a = ", "($a instanceof (", ") && $b ? B : D)", "C"),
}


@pytest.mark.parametrize("path", READ_TWICE)
def test_what_stands_within_each_other_is_not_read_twice_for_each(path: str) -> None:
    begin, before, behind, rest = READ_TWICE[path]
    few, more = (
        unpacked(FACTS.facts_of(LANGUAGES.detect(path, b""), f"{begin}{before * n}{rest}{behind * n};".encode()))
        for n in (8, 16)
    )
    assert len(few.expressions) > 16
    assert len(more.expressions) <= 4 * len(few.expressions)


def test_a_condition_says_more_of_so_many_names() -> None:
    """The last MAX_CHECKED count."""
    for count, found in ((MAX_CHECKED, {"1 likely"}), (MAX_CHECKED + 1, {"1 possible", "2 possible"})):
        names = [f"a{n}" for n in range(count)]
        text = "class A { m() {} }\nclass B { m() {} }\n" + f"function f({', '.join(names)}) {{\n"
        text += f"if ({' && '.join(f'{name} instanceof A' for name in names)}) {{\na0.m();\n}}\n}}\n"
        assert said(*graph_of({"a.js": text.encode()}))["a.js", 5, "m"] == found, count


@every_row("program", PROGRAMS.values(), ids=PROGRAMS)
def test_no_name_is_read_twice(program: dict[str, dict[str, str]]) -> None:
    files, _ = rows_of_program(tuple(program["files"].items()))
    for file in files:
        facts = unpacked(file.facts)
        places = Counter(
            (site.line, site.column, site.use, facts.names[site.name]) for site in sites_of(facts)
            if site.use in (Use.CALL, Use.READ) and facts.names[site.name]
        )  # fmt: skip
        assert not [place for place, number in places.items() if number > 1], file.path


CONTAINERS = {  # what is looked into where a type says that it is a container, or a constructor fills its fields
    "one table passed to many functions": lambda n: (
        "def f(): pass\nt = {" + "".join(f"'k{i}': f, " for i in range(n)) + "}\n"
        + "".join(f"def g{i}(a: dict[str, object]): a['x']()\ng{i}(t)\n" for i in range(n))
    ),
    "lists in lists": lambda n: "def f(): pass\na0 = [f]\n" + "".join(
        f"a{i + 1} = [a{i}]\ndef g{i}(a: list[list[int]]): a[0][0]()\ng{i}(a{i})\n" for i in range(n)
    ),
    "tables in tables": lambda n: "def f(): pass\na0 = {'k': f}\n" + "".join(
        f"a{i + 1} = {{'k': a{i}, 'l': a{i}}}\ndef g{i}(a: dict[str, dict]): a['k']['k']()\ng{i}(a{i})\n"
        for i in range(n)
    ),
    "lists in themselves": lambda n: "class A:\n def m(self): pass\ndef g(a: list[A]): a[0].m()\n" + "".join(
        f"x{i}: list[A] = []\nx{i}.append(x{(i + 1) % n})\ng(x{i})\n" for i in range(n)
    ),
    "types that are any of many lists": lambda n: (
        "".join(f"class A{i}:\n def m(self): pass\n" for i in range(n))
        + f"def g(a: {' | '.join(f'list[A{i}]' for i in range(n))}): a[0].m()\n" + "g([])\n" * n
    ),
    "uses of a table in which nothing is known": lambda n: (
        "class A:\n def m(self): pass\nv: dict[str, A] = {" + "".join(f"'k{i}': {i}, " for i in range(n)) + "}\n"
        + "for a in v.values(): a.m()\n" * n
    ),
    "objects of one class with many fields": lambda n: (
        "class A:\n" + "".join(f" f{i}: object\n" for i in range(2 * n))
        + "".join(f"A({i}, f{i}={i})\n" for i in range(2 * n))
    ),
    "classes with one from outside before those above each other": lambda n: (
        "from lib import Out\nclass A0:\n def m(self): pass\n"
        + "".join(f"class A{i + 1}(Out, A{i}):\n def f(self): self.m()\n" for i in range(n))
    ),
}  # fmt: skip
ALIKE = {"one table passed to many functions", "lists in lists"}  # as tables in tables, which are passed, too


@pytest.mark.parametrize(
    "shape", [pytest.param(name, marks=[pytest.mark.long] if name in ALIKE else []) for name in CONTAINERS]
)
def test_what_is_looked_into_costs_the_same_for_each_use(shape: str) -> None:
    """A container has MAX_VALUES keys, and what is behind one MAX_VALUES values; a class MAX_BASES above it."""
    small, large = work(CONTAINERS[shape](100)), work(CONTAINERS[shape](400))
    assert large <= 4.4 * small


def test_functions_that_inherit_from_each_other_cost_the_same_each() -> None:
    count = 240
    text = "function F0() {}\n" + "".join(
        f"function F{i}() {{ this.a{i} = 1; }}\nF{i}.prototype = new F{i - 1}();\n"
        f"F{i}.prototype.m = function () {{ this.m(); }};\n"
        for i in range(1, count)
    )
    project = GraphProject(graph_files({"a.js": text.encode()}), {"javascript": LANGUAGES.rows["javascript"].graph})
    assert solved(project, GraphBudget()).evaluations <= 150 * count


def test_functions_that_take_members_from_each_other_cost_the_same_each() -> None:
    count = 180
    text = "var inherits = require('util').inherits;\n" + "".join(
        f"function F{i}() {{ this.x{i} = this; }}\nF{i}.prototype.m = function () {{ return this.m(); }};\n"
        for i in range(count)
    )
    text += "".join(
        f"inherits(F{i}, F{(i * 7 + 13 * j + 1) % count});\n"
        f"Object.assign(F{i}.prototype, F{(i + j) % count}.prototype);\n"
        for i in range(count)
        for j in range(3)
    )
    project = GraphProject(graph_files({"a.js": text.encode()}), {"javascript": LANGUAGES.rows["javascript"].graph})
    assert solved(project, GraphBudget()).evaluations <= 120 * count


def test_a_chain_of_prototypes_is_followed_so_far() -> None:
    """A member is found behind MAX_PROTOTYPES of them; behind more it is only a name."""
    links = [f"function F{n}() {{}}\nF{n}.prototype = new F{n - 1}();\n" for n in range(1, MAX_PROTOTYPES + 2)]
    text = "function F0() {}\nF0.prototype = { m() {} };\n" + "".join(links)
    last = text.count("\n") + 1
    for n, found in ((MAX_PROTOTYPES - 2, "2 likely"), (MAX_PROTOTYPES - 1, "2 possible")):
        rows = said(*graph_of({"a.js": f"{text}new F{n}().m();\n".encode()}))
        assert rows["a.js", last, "m"] == {found}, n


def test_keys_of_an_object_are_told_apart_so_far() -> None:
    """Of more than MAX_KEYS the others are not known, and not said to be outside."""
    for count, found in ((MAX_KEYS, "1 likely"), (MAX_KEYS + 1, f"{WORDS[Reason.MANY]} unresolved")):
        keys = "".join(f"k{n}: {n}, " for n in range(count - 1))
        text = f"function last() {{}}\nconst all = {{ last, {keys}}};\nall.last();\n"
        assert said(*graph_of({"a.js": text.encode()}))["a.js", 3, "last"] == {found}, count


def test_an_object_takes_each_key_of_another_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object of a chain is looked at again with each key that the one before it gets."""
    count, taken = 200, Counter[str]()
    put = Solver.key
    monkeypatch.setattr(Solver, "key", lambda *given: (taken.update(["keys"]), put(*given)))
    texts = {"b.ts": b'import { a } from "./a0";\na.f199();\n'}
    for n in range(count):
        text = f'import {{ a as b }} from "./a{n + 1}";\nexport const a = {{ ...b, f{n}() {{}} }};\n'
        texts[f"a{n}.ts"] = text.encode()
    rows = said(*graph_of(texts))
    assert rows["b.ts", 2, "f199"] == {"a199.ts:2 likely"}
    assert taken["keys"] < count * count


def test_a_function_is_called_on_so_many_objects() -> None:
    """Up to MAX_RECEIVERS are known; more are said to be there."""
    for count in (MAX_RECEIVERS, MAX_RECEIVERS + 1):
        calls = "".join(f"const o{n} = {{ x() {{}} }}; A.prototype.m.call(o{n});\n" for n in range(count))
        rows = said(*graph_of({"a.js": f"class A {{ m() {{ this.x(); }} }}\n{calls}".encode()}))["a.js", 1, "x"]
        further = {f"{WORDS[Reason.MANY]} unresolved"} if count > MAX_RECEIVERS else set()
        assert rows == {f"{n + 2} likely" for n in range(MAX_RECEIVERS)} | further, count


def test_what_a_case_binds_goes_on_into_the_next_so_far() -> None:
    """As many as MAX_FALLING names do; each case of a switch with more stands for itself."""
    for count, found in ((MAX_FALLING, {"1 likely", "2 likely"}), (MAX_FALLING + 1, {"2 certain"})):
        names = [f"a{n}" for n in range(count)]
        text = "function one() {}\nfunction two() {}\n"
        text += f"function f(b) {{ let {', '.join(f'{a} = two' for a in names)};\n"
        text += f"switch (b) {{\ncase 1: {' '.join(f'{a} = one;' for a in names)}\ncase 2: a0();\n}}\n}}\n"
        rows = said(*graph_of({"a.js": text.encode()}))
        assert {each for each in rows["a.js", 6, "a0"] if each[0] in "12"} == found, count


def test_what_reaches_a_use_is_told_apart_so_far() -> None:
    """Of more than MAX_REACHING bindings all of the name's count."""
    for count, found in ((MAX_REACHING, {"1 certain"}), (MAX_REACHING + 1, {"1 likely", "2 likely"})):
        text = "def one(): pass\ndef two(): pass\ndef f(x):\n w = two\n w = one\n" + " if x: w = one\n" * (count - 1)
        assert said(*graph_of({"a.py": f"{text} w()\n".encode()}))["a.py", count + 5, "w"] == found, count


def test_a_receiver_is_put_into_the_members_of_its_block_so_far() -> None:
    """A receiver of up to MAX_RECEIVER bytes is put into each member of its block; a longer one into none."""
    for extra, found in ((0, {"2 certain"}), (1, {"2 possible"})):
        receiver = "A".ljust(MAX_RECEIVER - len(" a") + extra)
        text = f"class A {{}}\nstatic class E {{ extension({receiver} a) {{ int Go() => 1; }} }}\n"
        rows = said(*graph_of({"a.cs": f"{text}class B {{ void F(A a) {{ a.Go(); }} }}\n".encode()}))
        assert rows["a.cs", 3, "Go"] == found, extra


def test_what_many_places_replace_is_looked_at_so_far() -> None:
    """Up to MAX_REPLACED of one name are compared with each class; with more any class is in doubt."""
    for count, found in ((MAX_REPLACED, {"1 certain"}), (MAX_REPLACED + 1, {"1 likely"})):
        text = "class B { m() {} }\nclass A { m() {} }\nnew B().m();\n" + "delete new A().m;\n" * count
        assert said(*graph_of({"a.js": text.encode()}))["a.js", 3, "m"] == found, count


def test_what_has_all_that_is_asked_for_is_one_of_so_many_classes() -> None:
    """Of more than MAX_ALIKE none is meant."""
    for count, found in ((MAX_ALIKE, True), (MAX_ALIKE + 1, False)):
        text = "def f(x)\n x.foo\n x.bar\nend\n"
        text += "".join(f"class A{n}{' < A0' * (n > 0)}\n def foo; end\n def bar; end\nend\n" for n in range(count))
        rows = said(*graph_of({"a.rb": text.encode()}))
        assert ("6 likely" in rows["a.rb", 2, "foo"]) == found, count


def test_types_that_comments_name_are_read_so_far() -> None:
    """A longer one is of no type of the project."""
    for more, found in ((0, "1 likely"), (1, "1 possible")):
        text = f"class A {{ run() {{}} }}\n/** @typedef {{{' ' * (MAX_TYPEDEF - 2 + more)}A}} B */\n"
        text += "/** @param {B} b */\nfunction f(b) { b.run(); }\n"
        assert said(*graph_of({"a.js": text.encode()}))["a.js", 4, "run"] == {found}, more


def test_modules_that_hand_on_all_names_are_looked_through_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of MAX_STARS of them are known, here of 50."""
    for module in (stars, globs):
        monkeypatch.setattr(module, "MAX_STARS", 50)
    for count, found in ((49, "certain"), (50, "unresolved")):
        files = {f"m{n}.ts": f"export function f{n}() {{}}\n".encode() for n in range(count)}
        files["all.ts"] = "".join(f'export * from "./m{n}";\n' for n in range(count)).encode()
        files["a.ts"] = f'import {{ f{count - 1} }} from "./all";\nf{count - 1}();\n'.encode()
        [row] = said(*graph_of(files))["a.ts", 2, f"f{count - 1}"]
        assert row.endswith(found), count
        files = {f"m{n}.py": f"def f{n}(): ...\n".encode() for n in range(count)}
        files["a.py"] = "".join(f"from m{n} import *\n" for n in range(count)).encode() + b"f0()\n"
        [row] = said(*graph_of(files))["a.py", count + 1, "f0"]
        assert row.endswith("certain" if found == "certain" else "likely"), count
        files = {f"src/m{n}.rs": f"pub fn f{n}() {{}}\n".encode() for n in range(count)}
        files["Cargo.toml"] = b'[package]\nname = "a"\n'
        files["src/all.rs"] = "".join(f"pub use crate::m{n}::*;\n" for n in range(count)).encode()
        modules = "mod all; " + " ".join(f"mod m{n};" for n in range(count))
        files["src/lib.rs"] = f"{modules}\nfn f() {{ all::f0(); all::f{count - 1}(); }}\n".encode()
        rows = said(*graph_of(files))
        ends = sorted(rows["src/lib.rs", 2, name].pop().rpartition(" ")[2] for name in ("f0", f"f{count - 1}"))
        assert ends == ["certain", "certain" if found == "certain" else "possible"], count  # by its name alone


def test_steps_between_modules_that_hand_on_all_names_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all names together there are MAX_STARRED."""
    monkeypatch.setattr(stars, "MAX_STARRED", 100)
    taken, uses = ("".join(line.format(n) for n in range(8)) for line in ("from m{} import *\n", "f{0}(); g{0}()\n"))
    graph, _ = graph_of({f"m{n}.py": f"{taken}def f{n}(): ...\n{uses}".encode() for n in range(8)})
    reasons = set(graph.reason)
    assert {Reason.UNSEEN} < reasons <= {Reason.UNSEEN, Reason.BOUND, Reason.SEVERAL}


def test_each_class_is_asked_once_whether_its_bases_are_seen() -> None:
    """Classes within each other double the time, if each asks for all that are around; bases within bases end it."""
    count = 24
    nested = "".join(f"class C{n} : U{n} {{ " for n in range(count)) + "void F() { G(1); }" + "}" * count
    text = f"{nested}\nclass K {{ static void E(int a) {{}} }}\nclass D {{ void G() {{}} }}\n"
    assert said(*costs_under(1, partial(graph_of, {"a.cs": text.encode()})))["a.cs", 1, "G"] == {
        "outside the project external"
    }
    count = 20 * MAX_ASKED
    chain = "".join(f"class A{n}(A{n - 1}().f): ...\n" for n in range(count, 0, -1))
    text = f"import e\n{chain}class A0(e.A): ...\nclass D:\n def f(self): ...\n def g(self): ...\nA{count}.g\n"
    assert said(*graph_of({"a.py": text.encode()}))["a.py", count + 6, "g"] == {f"{count + 5} possible"}


def test_a_namespace_of_many_names_costs_its_own_only() -> None:
    """Each of `namespace A.B.C {}` stands within the one before: of more than MAX_DEPTH the names are listed."""
    for count, found in ((MAX_DEPTH - 10, "3 certain"), (4 * MAX_DEPTH, f"{WORDS[Reason.NOT_PARSED]} unresolved")):
        text = f"export function f() {{}}\nf();\nnamespace A{'.A' * (count - 1)} {{ export function g() {{}} g(); }}\n"
        rows = said(*graph_of({"a.ts": text.encode(), "b.ts": b"export function g() {}\n"}))
        assert rows["a.ts", 2, "f"] == {"1 certain"}, count
        assert found in rows["a.ts", 3, "g"], count


def test_a_constant_with_a_body_may_stand_as_deep_as_anything() -> None:
    """Of one whose body is nested too deeply the names are listed."""
    for depth in range(MAX_DEPTH - 4, MAX_DEPTH + 2):
        text = f"{'class X {' * depth}enum E {{ A {{ void b() {{}} }} }}{'}' * depth}\n"
        facts = unpacked(FACTS.facts_of("java", text.encode()))
        assert {"A", "b"} <= {facts.names[site.name] for site in sites_of(facts)}, depth


@pytest.mark.parametrize("path", DEEP)
def test_what_stands_within_each_other_is_read_so_far(path: str) -> None:
    """Of what is nested too deeply the names are listed; Python's own limit of calls would end the process before."""
    before, opening, name, closing, behind = DEEP[path]
    for depth in (MAX_DEPTH // 3, 2 * MAX_DEPTH):
        text = f"{before}{opening * depth}{name}{closing * depth}{behind}"
        facts = unpacked(FACTS.facts_of(LANGUAGES.detect(path, b""), text.encode()))
        assert "last" in {facts.names[site.name] for site in sites_of(facts)}, depth
        graph_of({path: text.encode()})


def test_of_many_parts_of_a_class_none_says_what_its_type_parameter_is() -> None:
    for count, expected in ((MAX_NAMING, {"1 likely"}), (MAX_NAMING + 1, {"1 possible"})):
        parts = "impl<T> S<T> {}\n" * (count - 3)  # beside the struct, one that says something, and one that asks
        text = f"trait A {{ fn go(&self); }}\nstruct S<T> {{ a: T }}\n{parts}impl<T: A> S<T> {{}}\n"
        text += "impl<T> S<T> { fn f(&self) { self.a.go(); } }\n"
        graph, files = graph_of({"a.rs": text.encode()})
        assert said(graph, files)["a.rs", count + 1, "go"] == expected


def test_containers_made_of_each_other_are_told_apart_so_far() -> None:
    """Beyond MAX_ANEW what they hold is known as well."""
    for count in (1, MAX_ANEW, MAX_ANEW + 1, 1_600):
        text = (
            "class A { fun go() {} }\nfun f(a: List<A>) {\nvar x = a\n" + "x = x.toList()\n" * count + "x[0].go()\n}\n"
        )
        files = graph_files({"a.kt": text.encode()})
        resolve = partial(resolved, files, budget=GraphBudget(), languages=LANGUAGES.rows)
        assert said(costs_under(0.6, resolve), files)["a.kt", count + 4, "go"] == {"1 likely"}, count


def test_fixtures_of_one_name_are_looked_for_so_far() -> None:
    """In MAX_ABOVE files above, of which each may have many; what stands above a test is asked for by that."""
    fixture = b"import pytest\n@pytest.fixture\ndef db(db): return db\n"
    shared = {f"{'d/' * depth}conftest.py": b"" for depth in range(1, MAX_ABOVE + 1)}
    taking = b"import pytest\n@pytest.mark.usefixtures('db')\ndef test_it(): pass\n"
    for count, found in ((MAX_ABOVE - 1, {"conftest.py:2 likely"}), (MAX_ABOVE, set())):
        test = f"{'d/' * count}test_it.py"
        graph, files = graph_of({"conftest.py": fixture, **dict([*shared.items()][:count]), test: taking})
        likely = {each for each in said(graph, files)[test, 2, "db"] if each.endswith("likely")}
        assert likely == found, count
        asked = [at for at, line in enumerate(graph.line) if files[graph.file[at]].path == test and line == 2]
        assert {graph.enclosing_line[at] for at in asked if graph.names[graph.name[at]] == "db"} == {2}
    many = graph_files({"conftest.py": fixture * (MAX_FIXTURES + 1), "test_a.py": b"def test_a(db): pass\n" * 9})
    graph = resolved(many, budget=GraphBudget(), languages=LANGUAGES.rows)
    rows = said(graph, many)["test_a.py", 9, "db"]
    assert len(rows) == MAX_FIXTURES


def test_what_extends_a_type_outside_is_asked_so_far() -> None:
    """Of those that the file sees up to MAX_SEEN are each likely; of more than MAX_EXTENDING in all none is named."""
    calls = "import lib.make\nfun f() {\n make()::go\n}\n"
    for count, found in ((MAX_SEEN, "likely"), (MAX_SEEN + 1, "possible")):
        text = calls + "".join(f"fun E{n}.go() {{}}\n" for n in range(count))
        rows = said(*graph_of({"a.kt": text.encode(), "b.kt": b"package hidden\nfun E.go() {}\n"}))
        assert rows["a.kt", 3, "go"] == {f"{n} {found}" for n in range(5, 5 + count)}, count
    calls = calls.replace("::go", ".go()")
    text = calls + "".join(f"fun E{n}.go() {{}}\n" for n in range(MAX_EXTENDING))
    assert said(*graph_of({"a.kt": text.encode()}))["a.kt", 3, "go"] > {
        f"{n} possible" for n in range(5, 5 + MAX_GUESSED)
    }
    text = calls + "".join(f"fun E{n}.go() {{}}\n" for n in range(MAX_EXTENDING + 1))
    text += "class A : lib.B()\nfun g(a: A) {\n a.go()\n}\n"
    rows = said(*graph_of({"a.kt": text.encode()}))
    assert rows["a.kt", 3, "go"] == rows["a.kt", text.count("\n") - 1, "go"] == {f"{WORDS[Reason.MANY]} unresolved"}


def test_a_class_is_extended_by_so_many_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more than MAX_MODULES, here 20, the last ones count, and the class may have any method of the others."""
    monkeypatch.setattr(mixins, "MAX_MODULES", 20)
    for count, found in ((20, "2 certain"), (21, "2 possible")):
        modules = "".join(f"module M{n}\n def m{n}; end\nend\n" for n in range(count))
        extends = "".join(f" extend M{n}\n" for n in range(count))
        text = f"{modules}class C\n{extends}end\nC.m0\nC.m{count - 1}\n"
        rows = said(*graph_of({"a.rb": text.encode()}))
        assert rows["a.rb", 4 * count + 3, "m0"] == {found}, count
        assert rows["a.rb", 4 * count + 4, f"m{count - 1}"] == {f"{3 * count - 1} certain"}, count


def test_relations_that_give_one_name_are_looked_at_so_far() -> None:
    relation = "class {}(M):\n  a = ForeignKey(A, related_name='b')\n"
    for count, found in ((MAX_RELATED - 1, {f"{2 * MAX_RELATED + 3} likely"}), (MAX_RELATED, set())):
        lines = ["from lib import ForeignKey, M\nclass A(M): pass\n"]
        lines += [relation.format(f"B{n}") for n in range(count)]
        lines += [relation.format("C"), "  def one(self): pass\n", "class D:\n  def one(self): pass\n"] * 2
        lines += ["for each in A().b: each.one()\n"]
        text = "".join(lines)
        rows = said(*graph_of({"a.py": text.encode()}))
        assert {at for at in rows["a.py", text.count("\n"), "one"] if "likely" in at} == found, count


def test_a_class_that_a_text_names_is_one_of_so_many() -> None:
    """Of a name that is in each of some folders the one counts that the text says, if there are no more of them."""
    text = b"from lib import ForeignKey, M\nclass B(M):\n  a = ForeignKey('p0.A')\n  def f(self): self.a.one()\n"
    for count, found in ((MAX_NAMESAKES, {"p0/a.py:2 likely"}), (MAX_NAMESAKES + 1, set())):
        texts = {f"p{n}/a.py": b"class A:\n  def one(self): pass\n" for n in range(count)}
        rows = said(*graph_of({**texts, "b.py": text}))
        assert {at for at in rows["b.py", 4, "one"] if "likely" in at} == found, count


def test_a_loop_names_so_many_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and lists are looked at as far as they may be long; each place in a loop makes a method for each name."""
    rest = "def run = ab\nend\n"
    for count, found in ((MAX_LISTED - 6, {"2 certain"}), (MAX_LISTED - 5, set[str]())):
        text = f"class A\n%w[ab{' ' * count}].each {{ |n| define_method(n) {{ 1 }} }}\n{rest}"
        assert said(*graph_of({"a.rb": text.encode()})).get(("a.rb", 3, "ab"), set()) == found, count
    for count, found in ((MAX_LISTED - 7, {"2 likely"}), (MAX_LISTED - 6, set[str]())):
        text = f"class A\nclass_eval '{' ' * count}def ab;'\n{rest}"
        assert said(*graph_of({"a.rb": text.encode()})).get(("a.rb", 3, "ab"), set()) == found, count
    made = 'define_method(:"z#{n}") { 1 }\n'
    monkeypatch.setattr(listed_methods, "MAX_MADE", 400)
    for count, found in ((99, {"101 certain"}), (100, set[str]())):
        text = f'class A\n%w[a b c d].each {{ |n| {made * count}define_method(n + "") {{ }} }}\n'
        text += "%w[ab b c d].each { |n| define_method(n) { 1 } }\n" + rest
        lines = text.count("\n")
        found = {place.replace(place.split()[0], str(lines - 2)) for place in found}
        assert said(*graph_of({"a.rb": text.encode()})).get(("a.rb", lines - 1, "ab"), set()) == found, count
    for count, found in ((MAX_KEY - 2, {"2 likely"}), (MAX_KEY - 1, set[str]())):
        name = "a" * count
        text = f"class A\n%w[{name}].each {{ |n| class_eval 'def #{{n}}_b; end' }}\ndef run = {name}_b\nend\n"
        assert said(*graph_of({"a.rb": text.encode()})).get(("a.rb", 3, f"{name}_b"), set()) == found, count


def test_what_is_global_is_declared_in_so_many_places() -> None:
    """Of more than MAX_DECLARED places the first are possible."""
    for count, sure in ((MAX_DECLARED, "likely"), (MAX_DECLARED + 1, "possible")):
        texts = {f"a{n}.d.ts": b"declare namespace N { function go(): void }\n" for n in range(count)}
        rows = said(*graph_of(texts | {"b.ts": b"N.go();\n"}))
        assert rows["b.ts", 1, "go"] == {f"a{n}.d.ts:1 {sure}" for n in range(MAX_DECLARED)}, count


def test_so_many_constructors_are_asked_what_they_take() -> None:
    """Of a class with more than MAX_CONVERTING a further one may take what is passed, and nothing else is certain."""
    for count in (MAX_CONVERTING, MAX_CONVERTING + 1):
        others = "".join(f" A(B{n} *a);" for n in range(count - 1))
        text = f"struct X {{}}; struct A {{{others} A(X a); }};\n"
        text += "void f(A a) {}\nvoid f(...) {}\nvoid g(X x) { f(x); }"
        assert said(*graph_of({"a.cpp": text.encode()}))["a.cpp", 4, "f"] == {"2 likely", "3 likely"}, count


def test_no_member_is_sure_of_a_base_that_may_be_many_classes() -> None:
    for count in (MAX_EITHER, MAX_EITHER + 1):
        classes = "".join(f"if c({n}):\n    class B:\n        def b(self): pass\n" for n in range(count))
        text = f"{classes}class A(B):\n    def a(self): pass\nA().a()\nA().b()\n".encode()
        rows = said(*graph_of({"a.py": text}))
        first = 3 * count + 3
        assert rows["a.py", first, "a"] == {f"{first - 1} {'certain' if count == MAX_EITHER else 'likely'}"}
        assert len(rows["a.py", first + 1, "b"]) == MAX_EITHER


def test_a_module_that_is_computed_is_one_of_so_many() -> None:
    """Of more than MAX_MIXED modules with a method, and behind more such places, what a class has is still not sure."""
    above = "class B\n def m; end\nend\nclass C < B\n def go = m\n"
    for count in (MAX_MIXED, MAX_MIXED + 1):
        text = above + " include(a)\nend\n" + "".join(f"module M{n}\n def m; end\nend\n" for n in range(count))
        rows = said(*graph_of({"a.rb": text.encode()}))["a.rb", 5, "m"]
        assert {"2 likely", "9 possible", WORDS[Reason.FURTHER] + " unresolved"} <= rows, count
        text = above + "end\nmodule M\n def m; end\nend\n" + "".join(f"a.include(b::C{n})\n" for n in range(count))
        rows = said(*graph_of({"a.rb": text.encode()}))["a.rb", 5, "m"]
        assert rows == ({"2 certain"} if count <= MAX_MIXED else {"2 likely", "8 likely"}), count


def test_a_function_is_declared_to_be_called_in_so_many_ways() -> None:
    """With MAX_SIGNATURES there may be another one, which gives something else."""
    for count, found in (
        (MAX_SIGNATURES - 1, "1 certain"),
        (MAX_SIGNATURES, "1 likely"),
        (MAX_SIGNATURES + 1, "1 likely"),
    ):
        ways = "".join(f"function f(a: {n}): {'B' if n == MAX_SIGNATURES else 'A'};\n" for n in range(count))
        text = f"class A {{ m() {{}} }}\nclass B {{ m() {{}} }}\nf(1).m();\n{ways}function f(a: any): any {{}}\n"
        assert said(*graph_of({"a.ts": text.encode()}))["a.ts", 3, "m"] == {found}, count


def test_arguments_and_types_tell_type_parameters_so_far() -> None:
    """The first MAX_INFERRING of a call, and types in MAX_WITHIN others."""
    head = "class A { run() {} }\nclass B { run() {} }\n"
    for before, found in ((MAX_INFERRING - 1, {"1 likely"}), (MAX_INFERRING, {"1 possible", "2 possible"})):
        taken, given = ("".join(part.format(n) for n in range(before)) for part in ("a{}: number, ", "{}, "))
        text = f"{head}function f<T>({taken}b: T): T {{ return lib(b); }}\nf({given}new A()).run();\n"
        assert said(*graph_of({"a.ts": text.encode()}))["a.ts", 4, "run"] == found, before
    for depth, found in ((MAX_WITHIN, {"1 likely"}), (MAX_WITHIN + 1, {"1 possible", "2 possible"})):
        text = f"{head}function f<T>(b: T{'[]' * depth}): T {{ return lib(b); }}\n"
        text += f"const c: A{'[]' * depth} = lib();\nf(c).run();\n"
        assert said(*graph_of({"a.ts": text.encode()}))["a.ts", 5, "run"] == found, depth


def test_a_label_of_kotlin_is_so_long() -> None:
    """Of a longer one, what a lambda returns by it is not known; it is not another's whose name it ends with."""
    for length, found in ((MAX_LABEL - 1, {"2 likely", "4 likely"}), (MAX_LABEL, {"4 likely"})):
        label, end = "a" * length, "a" * (MAX_LABEL - 1)
        classes = "class Q(val n: Int) {\n  fun hit() {}\n}\nclass B { fun hit() {} }\n"
        own = f"fun f(b: B) {{ val r = b.run {label}@{{ b.let {{ if (c()) return@{label} Q(1) }}; B() }}; r.hit() }}\n"
        assert said(*graph_of({"a.kt": (classes + own).encode()}))["a.kt", 5, "hit"] == found, length
        other = f"fun f(b: B) {{ val r = b.run {end}@{{ b.let {label}@{{ return@{end} Q(1) }}; B() }}; r.hit() }}\n"
        both = {"2 likely", "4 likely"} if label != end else {"4 likely"}
        assert said(*graph_of({"a.kt": (classes + other).encode()}))["a.kt", 5, "hit"] == both, length


def test_a_comment_that_says_types_is_so_long() -> None:
    for text, most in (("/**{}@return A */", MAX_COMMENT - 15), ("/** @return A */{}", MAX_BLANK)):
        for count, found in ((most, "2 likely"), (most + 1, "outside the project external")):
            own = f"<?php\nclass A {{ function m() {{}} }}\n{text.format(' ' * count)}function f() {{ return g(); }}\n"
            assert said(*graph_of({"a.php": f"{own}f()->m();".encode()}))["a.php", 4, "m"] == {found}, (text, count)
    for depth, found in ((MAX_TOLD, "2 likely"), (MAX_TOLD + 1, "2 possible")):
        comment = f"/** @return {'(' * depth}A{')' * depth} */"
        own = f"<?php\nclass A {{ function m() {{}} }}\n{comment} function f() {{ return g(); }}\nf()->m();"
        assert said(*graph_of({"a.php": own.encode()}))["a.php", 4, "m"] == {found}, depth
        comment = f"/** @returns {{{'(' * depth}A{')' * depth}}} */"
        own = f"class A {{ m() {{}} }}\nconst g = require('g');\n{comment} function f() {{ return g(); }}\nf().m();"
        found = found.replace("2", "1")
        assert said(*graph_of({"a.js": own.encode()}))["a.js", 4, "m"] == {found}, depth
        comment = f"# @return [{'Array<' * depth}A{'>' * depth}]"
        own = f"class A\n  def m; end\nend\n{comment}\ndef f; g; end\nf{'[0]' * depth}.m\n"
        assert said(*graph_of({"a.rb": own.encode()}))["a.rb", 6, "m"] == {found.replace("1", "2")}, depth
    for count, found in ((MAX_COMMENT - 16, "3 likely"), (MAX_COMMENT - 15, "3 possible")):
        own = f"# @return [B]\nclass A\n  def m; end\nend\n#{' ' * count}\n# @return [A]\ndef f; g; end\nf.m\n"
        assert said(*graph_of({"a.rb": own.encode()}))["a.rb", 8, "m"] == {found}, count


def test_of_what_something_outside_gives_so_many_parts_are_looked_at() -> None:
    """Each call and its name are two parts, and where they begin is one; of more, the member may be of the project."""
    for parts, found in ((MAX_PARTS, "outside the project external"), (MAX_PARTS + 2, "1 possible")):
        calls = ".b()" * ((parts - 2) // 2)
        text = f"class A {{ void c() {{}} }}\nclass B {{ void d() {{ X{calls}.c(); }} }}\n"
        assert said(*costs_under(1, partial(graph_of, {"A.java": text.encode()})))["A.java", 2, "c"] == {found}, parts
    above = ", ".join(["X"] * (MAX_PARTS + 2))  # no type is given to these
    text = f"class A implements {above}, Y<B> {{}}\nclass B {{ void c() {{}} void d(L<A> a) {{ a.b().c(); }} }}\n"
    assert said(*graph_of({"A.java": text.encode()}))["A.java", 2, "c"] == {"2 possible"}


def test_of_what_something_outside_gives_an_operation_that_is_not_known_may_give_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = b'import { X } from "x"\nclass A { c() {} }\nX.e(null).c();\n'
    for known, found in ((handed_back.ENDS, "outside the project external"), ((), "2 possible")):
        monkeypatch.setattr(handed_back, "ENDS", known)
        assert said(*graph_of({"a.ts": text}))["a.ts", 3, "c"] == {found}


def test_whether_nothing_is_known_of_something_is_looked_at_so_far() -> None:
    """Each name is one cell, and the list at their end; of more, the member may be of the project."""
    count = unknown_beside.MAX_LOOKED_AT
    for names, found in ((count - 1, "outside the project external"), (count, "2 possible")):
        chain = "".join(f"a{n + 1} = a{n}\n" for n in range(names - 1))
        text = f"class A:\n def f(self): ...\na0 = []\n{chain}a{names - 1}.f()\n"
        assert said(*graph_of({"a.py": text.encode()}))["a.py", names + 3, "f"] == {found}, names


def test_what_is_missing_is_looked_for_so_many_steps_back() -> None:
    """A name and its import are two steps, and each call and its name two more."""
    for steps, found in (
        (MAX_STEPS, f"{WORDS[Reason.MISSING]} unresolved"),
        (MAX_STEPS + 2, "outside the project external"),
    ):
        calls = ".b()" * ((steps - 4) // 2)
        files = {
            "p/__init__.py": b"",
            "p/a.py": f"from .gone import A\nA{calls}.c()\n".encode(),
            "p/b.py": b"def c(): ...\n",
        }
        assert said(*graph_of(files))["p/a.py", 2, "c"] == {found}, steps


def test_an_occurrence_has_so_many_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to MAX_TARGETS that are likely, and MAX_GUESSED where the rest is only possible."""
    further = f"{WORDS[Reason.FURTHER]} unresolved"

    def rows(count: int) -> set[str]:
        functions = "".join(f"def f{n}(): ...\n" for n in range(count))
        text = f"{functions}def k():\n for g in ({', '.join(f'f{n}' for n in range(count))}): g()\n"
        return said(*graph_of({"a.py": text.encode()})).get(("a.py", count + 2, "g"), set())

    assert rows(MAX_TARGETS) == {f"{n} likely" for n in range(1, MAX_TARGETS + 1)}
    below = "".join(f"class B{n}(A):\n def m(self): ...\n" for n in range(MAX_UNTYPED + 1))
    found = said(*graph_of({"a.py": f"class A:\n def m(self): ...\n def k(self): self.m()\n{below}".encode()}))
    places = found["a.py", 3, "m"]
    assert len(places) == MAX_GUESSED + 1
    assert {"2 likely", further} < places
    monkeypatch.setattr(graph_rows, "MAX_CROWDED", 0)  # a project has so many with more than MAX_GUESSED
    assert rows(MAX_GUESSED) == {f"{n} likely" for n in range(1, MAX_GUESSED + 1)}
    assert rows(MAX_GUESSED + 1) == {*(f"{n} likely" for n in range(1, MAX_GUESSED + 1)), further}


def test_overrides_that_are_too_many_are_only_possible() -> None:
    """Up to MAX_OVERRIDING of what has no body are likely where types are declared, elsewhere up to MAX_UNTYPED."""
    java = (
        "interface A { void m(); } class K { void k(A a) {\n a.m(); } }\n",
        "class B{} implements A {{ void m() {{}} }}\n",
    )
    python = "class A:\n def k(self):\n  self.m()\n def m(self): ...\n", "class B{}(A):\n def m(self): ...\n"
    for at, most, (above, below) in ((("A.java", 2), MAX_OVERRIDING, java), (("a.py", 3), MAX_UNTYPED, python)):
        for count, likely in ((most, most + 1), (most + 1, 1)):  # the one above is likely in any case
            text = above + "".join(below.format(n) for n in range(count))
            found = said(*graph_of({at[0]: text.encode()}))[*at, "m"]
            assert sum(place.endswith(" likely") for place in found) == likely, (at, count, found)


def test_a_name_that_is_made_means_so_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is likely, up to MAX_BY_MADE_NAMES rows; of more than MAX_NAMES_MADE names of the project none is meant.

    Of many classes with 200 such names so many are asked that MAX_NAMES_ASKED are looked up, here 2,000.
    """

    def found(count: int, name: str = '"m_" + n') -> tuple[set[str], GraphColumns]:
        methods = "".join(f" def m_{n}(self): ...\n" for n in range(count))
        text = f"class A:\n{methods} def k(self, n, o):\n  getattr(self, {name})()\n"
        graph, files = graph_of({"a.py": text.encode()})
        return said(graph, files).get(("a.py", count + 3, ""), set()), graph

    rows, graph = found(MAX_UNTYPED)
    assert rows == {f"{n + 2} likely" for n in range(MAX_UNTYPED)}
    assert not graph.made
    for count in (MAX_UNTYPED + 1, MAX_NAMES_MADE, MAX_NAMES_MADE + 1):
        rows, graph = found(count)
        assert rows == {f"{n + 2} likely" for n in range(count if count <= MAX_NAMES_MADE else 0)}
        assert graph.made == [(0, count + 3, "m_", "", -1, 0)]
    monkeypatch.setattr(graph_rows, "MAX_BY_MADE_NAMES", MAX_TARGETS)
    assert len(found(MAX_TARGETS + 1)[0]) == MAX_TARGETS + 1
    assert len(found(MAX_TARGETS)[0]) == MAX_TARGETS
    monkeypatch.undo()
    first = " or ".join(f'"x{n}_"' for n in range(MAX_ENDS - 1))
    for last, lines in (('"m_"', {"2 likely"}), ('"y_" or "m_"', set())):  # with more, nothing is known
        assert found(1, f"({first} or {last}) + n")[0] == lines, last
    methods = "".join(f" def m_{n}(self): ...\n" for n in range(200))
    monkeypatch.setattr(made_names, "MAX_NAMES_ASKED", 2_000)
    count = range(30)
    classes = "".join(f"class A{n}(A): ...\n" for n in count)
    calls = "".join(f" getattr(A{n}(), 'm_' + x)()\n" for n in count)
    files = graph_files({"a.py": f"class A:\n{methods}def k(x):\n{calls}{classes}".encode()})
    graph = resolved(files, budget=GraphBudget(), languages=LANGUAGES.rows)
    assert len({line for _, line, name in said(graph, files) if name == ""}) == 10
    assert [line for _, line, *_ in graph.made] == [n + 203 for n in count]


@every_row("case", REFLECTION, ids=lambda case: case["name"])
def test_reflection_by_names_that_may_be_any_is_seen(case: dict[str, str]) -> None:
    graph, _ = graph_of({case["path"]: case["text"].encode()})
    marked = [number for number, line in enumerate(case["text"].split("\n"), 1) if line.endswith("// computed")]
    assert graph.made == [(0, line, "", "", -1, 0) for line in marked]


def test_classes_that_are_too_many_below_another_are_said_to_be_more() -> None:
    """Up to MAX_BELOW are looked at for what overrides a method, or implements an interface of Go."""
    for count, found in ((MAX_BELOW, {"1 certain"}), (MAX_BELOW + 1, {"1 likely", f"{MORE_BELOW} unresolved"})):
        text = "class A { void m() {} void k(A a) { a.m(); } }\n" + "".join(
            f"class B{n} extends A {{}}\n" for n in range(count)
        )
        assert said(*graph_of({"A.java": text.encode()}))["A.java", 1, "m"] == found, count
        text = "class A:\n @classmethod\n def m(cls): ...\n @classmethod\n def k(cls): cls.m()\n"
        text += "".join(f"class B{n}(A): ...\n" for n in range(count))
        assert said(*graph_of({"a.py": text.encode()}))["a.py", 5, "m"] == {each.replace("1", "2") for each in found}
        text = "package a\ntype I interface{ Do(); Go() }\n"
        text += "".join(
            f"type A{n} struct{{}}; func (a A{n}) Do() {{}}\nfunc (a A{n}) Go() {{}}\n" for n in range(count)
        )
        graph, _ = graph_of({"a.go": text.encode()})
        kinds = [kind for *_, kind in graph.bases]
        last = 2 * count + 1
        further = [(line, "further") for line in (2, last, last, last + 1)]  # the interface, the last type, its methods
        assert kinds.count("implements") == MAX_BELOW
        assert sorted((line & LINE, kind) for _, line, *_, kind in graph.bases if kind == "further") == further * (
            count - MAX_BELOW
        )


def test_overloads_that_are_too_many_to_compare_are_taken_by_the_number_of_what_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Up to MAX_COMPARED pairs of one name types decide which is overridden, here 100."""
    monkeypatch.setattr(overrides, "MAX_COMPARED", 100)
    types = [f"class T{n} {{}}" for n in range(102)]
    for count in (50, 101):
        methods = [f"  void m(T{n} a) {{}}" for n in range(count)]
        text = "\n".join([*types, "class A {", *methods, "}", "class B extends A {", "  void m(T0 a) {}", "}"])
        graph, _ = graph_of({"A.java": text.encode()})
        begin = len(types) + 2
        is_compared = count <= 100
        expected = (begin, 0) if is_compared else (begin + count - 1, Reason.TYPES)
        assert [(row[3], row[4]) for row in graph.overrides] == [expected], count


def test_overloads_are_compared_with_those_above_so_far() -> None:
    """Of up to MAX_OVERLOADS in a class each must say that it overrides; with more, any may be in their place."""
    for count, found in ((MAX_OVERLOADS, {"1 certain"}), (MAX_OVERLOADS + 1, {"1 likely", "2 possible"})):
        overloads = " ".join(f"void M(int{'[]' * n} a) {{}}" for n in range(count))
        text = f"class A {{ public virtual void M(int a) {{}} }}\nclass B : A {{ {overloads} }}\n"
        text += "class C { void F(A a) { a.M(1); } }\n"
        rows = said(*graph_of({"a.cs": text.encode()}))["a.cs", 3, "M"]
        assert rows == found, count


def test_overloads_that_fit_equally_well_are_compared_so_far() -> None:
    """Of up to MAX_NARROWED the one with the narrowest type is meant; of more, each may be."""
    for count in (MAX_NARROWED, MAX_NARROWED + 1):
        classes = ["class C0 {}", *(f"class C{n} extends C{n - 1} {{}}" for n in range(1, count + 5))]
        overloads = [f"void f(C{n} a) {{}}" for n in range(count)]
        text = "\n".join([*classes, "class A {", *overloads, f"void g(C{count + 4} a) {{ f(a); }}", "}"])
        lines = range(len(classes) + 2, len(classes) + 2 + count)
        found = said(*graph_of({"A.java": text.encode()}))["A.java", lines[-1] + 1, "f"]
        further = {f"{WORDS[Reason.FURTHER]} unresolved", *(f"{n} possible" for n in lines[:MAX_GUESSED])}
        assert found == ({f"{lines[-1]} certain"} if count <= MAX_NARROWED else further), count


def test_an_overload_is_likely_where_more_are_above_than_are_looked_at() -> None:
    """Above MAX_INHERITED functions of its name there may be one that takes the arguments better."""
    for more_than, found in enumerate(({"1 certain"}, {f"{MAX_INHERITED + 2} likely"})):
        height = MAX_INHERITED + more_than
        first = "class C0 { void f(String a) {} void f(Object a) {} }"
        more = [f"class C{n} extends C{n - 1} {{ void f(Object a) {{}} }}" for n in range(1, height + 1)]
        text = "\n".join([first, *more, f'class D {{ void g() {{ new C{height}().f(""); }} }}'])
        assert said(*graph_of({"A.java": text.encode()}))["A.java", height + 2, "f"] == found


def test_what_overrides_one_of_many_that_fit_equally_is_told_apart_up_to_a_number() -> None:
    """Of more than MAX_NARROWED any may be the one that a function of a class below overrides."""
    for count in (MAX_NARROWED, MAX_NARROWED + 1):
        overloads = "".join(f" void f(X{n} a) {{}}\n" for n in range(count))
        below = "class B extends A {\n void f(X0 a) {}\n void f(Y a) {}\n}\n"
        text = f"{below}class A {{\n{overloads}}}\nclass C {{ void g(A a, Z z) {{ a.f(z); }} }}\n"
        found = said(*graph_of({"A.java": text.encode()}))["A.java", count + 7, "f"]
        assert found >= {"2 possible"}, found
        assert ("3 possible" in found) == (count > MAX_NARROWED), found


BROKEN = {
    "a.py": "def f(:\n  x.(\nfor in y: z(\nclass (A:\n with as b:\n @\nlambda: [for\nf(*, **)\n(yield) = = a[\n",
    "a.ts": "class { constructor(private { = (a, => { export { as } from import * as x; new (; a?.( }\n",
    "a.go": "package\nfunc ( t) ( { x := range ; switch := .( type ) { case : } ; a.( )\n",
    "a.c": "#define A(\nint f( { struct { *a.( = #if\n b)( ; (int)(int( ) ; #else\n ) ) } #endif\n typedef ; (*(\n",
    "a.rs": "use a::{b, ; impl for { fn f( -> match { Some( => if let = #[ mod ; a!( ?.b::<\n",
    "a.cs": "using A.; namespace { partial class : { void F<(this ) => ; [A get; switch { case is ( } #if\n",
    "a.kt": 'import a.* as\nclass (val : { fun .() = when { is -> ; it.( object : { ?: by ${ "\n',
    "a.php": "<?php namespace ; use A\\{, ; class extends { use ; function ( $ = { $this-> :: foreach ( as => fn( [\n",
    "a.rb": 'class A:: < ; def self. ( @a ||= ; include ; attr_reader : ; each { | case when ; super( #{ "\n',
    "a.cc": "namespace { class : public { template < ~A( ; void A::( { ->m<( ; using ; operator new ( [ = :: \n",
    "A.java": "package; import ; class A extends { void ( { new <>() { } ; a.( , x -> ; } enum { , }\n",
}


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("path", BROKEN)
def test_a_broken_text_has_rows_for_what_is_left(path: str, step: int) -> None:
    for end in range(len(BROKEN[path]), 0, -step):
        graph_of({path: BROKEN[path][:end].encode()})


def test_work_tells_how_far_it_is_and_that_it_goes_on_within_a_file() -> None:
    """A broker ends an indexer that has said nothing for a while: neither files nor the work in one may be silent."""
    many = graph_files({f"m{n}.py": b"def f(): return f()\n" for n in range(30)})
    told: list[int] = []
    resolved(many, budget=GraphBudget(), languages=LANGUAGES.rows, tell=told.append)
    assert told == [*range(1, 61)]  # each file when it is read, and when it has rows
    chain = "".join(f"def f{n}(a): return f{n + 1}(a)\n" for n in range(2_000))
    told.clear()
    files = graph_files({"a.py": chain.encode()})
    project = GraphProject(files, {name: row.graph for name, row in LANGUAGES.rows.items()})
    evaluations = solved(project, GraphBudget(), told.append).evaluations
    assert len(told) == 1 + evaluations // 2_000  # no more than some hundredths of a second apart
    assert len(told) > 3
    told.clear()
    assert [*judged(many, resolved(many, budget=GraphBudget(), languages=LANGUAGES.rows), told.append)]
    assert told == [0] * 32 + [*range(1, 31)]  # read, before and after all is looked at together, and each file's


def test_definitions_on_one_line_are_numbered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no number is any of its line, which the outline tells."""
    monkeypatch.setattr(graph_unit, "MAX_TOGETHER", 2)
    graph, _ = graph_of({"a.js": b"function f() {} function g() {} function h() {}\nf(); g(); h();\n"})
    assert {graph.names[name]: part for name, part in zip(graph.name, graph.target_part, strict=True)} == {
        "f": 1,
        "g": 2,
        "h": 0,
    }


def test_a_budget_that_ends_is_said() -> None:
    source = b"def f(): pass\n" + b"f()\n" * 100
    assert graph_of({"a.py": source}, GraphBudget(evaluations=10))[0].is_cut
    assert not graph_of({"a.py": source})[0].is_cut


def test_a_language_without_graph_has_no_facts() -> None:
    assert FACTS.facts_of("toml", b"a = 1\n") is None


def rows_of(graph: GraphColumns) -> Iterable[tuple[object, ...]]:
    return zip(graph.file, graph.line, graph.column, graph.target_file, graph.target_line, graph.reason, strict=True)


def test_the_same_files_give_the_same_rows() -> None:
    sources = {path.name: path.read_bytes() for path in sorted((WORKER / "matching").glob("*.py"))}
    assert list(rows_of(graph_of(sources)[0])) == list(rows_of(graph_of(sources)[0]))


SAID = {
    "a.py": b"import b\nclass A(b.B):\n    def m(self): self.m()  # one\n",
    "b.py": b"class B:\n    def m(self): ...\n",
}
EDITS = {
    "a comment that keeps its lines": ({"a.py": SAID["a.py"].replace(b"one", b"three")}, True),
    "nothing": ({}, True),
    "a call": ({"a.py": SAID["a.py"].replace(b"self.m()", b"self.n()")}, False),
    "a line more": ({"b.py": b"\n" + SAID["b.py"]}, False),
    "a file more": ({"c.py": b"import a\n"}, False),
    "where an import leads": ({"b/__init__.py": b""}, False),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_graph_is_taken_over_where_nothing_that_it_is_made_of_has_changed(edit: str) -> None:
    budget = GraphBudget()
    graph, files = graph_of(SAID, budget)
    before = same_graph.key(files, budget, is_partial=False)
    kept = dict(same_graph.parts(before, graph))
    edited, is_same = EDITS[edit]
    now, changed = graph_of({**SAID, **edited}, budget)
    found = same_graph.known(same_graph.key(changed, budget, is_partial=False), kept)
    assert found == (now if is_same else None)
    assert same_graph.known(same_graph.key(files, budget, is_partial=True), kept) is None
    assert same_graph.known(same_graph.key(files, GraphBudget(1), is_partial=False), kept) is None
