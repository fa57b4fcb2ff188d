"""What hostile texts cost the graph: more of them cost more in proportion. Each limit has its row in test_graph.py."""

from collections.abc import Callable, Mapping
from functools import partial

import pytest
from costing import costs_under
from graph_reading import FACTS, LANGUAGES
from test_graph import CONTAINERS, graph_files

from fledgling.worker.graph.columns import GraphColumns
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.resolve import resolved
from fledgling.worker.graph.solving import globs
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.rows import MAX_GUESSED

pytestmark = pytest.mark.long  # seconds each; test_work_grows_with_the_text of test_graph.py counts steps in less


def repeated(line: str, count: int) -> str:
    return "".join(line.format(n) for n in range(count))


# ---- reading

ENDLESS_COMMENTS = ("@typedef {", "@typedef {A|", "@import {A", "@typedef {import('", "@import * as a from '")
MANY = ", ".join(f"a{n}" for n in range(1_000))
LISTED = " ".join(f"a{n}" for n in range(700))
BEGUN = "class A\n" + "A.each { |n| class_eval(<<B) }\nA = [\n" * 2_000 + "end\n"
MADE = f"class A\n%w[{LISTED}].each {{ |n|\n" + 'define_method(:"z#{n}") { 1 }\n' * 2_000 + "}\nend\n"
DOLLARS = [f"${each}" for each in LISTED.split()]
READ: Mapping[str, tuple[float, str, Callable[[], str]]] = {  # CPU seconds that it may take, a language, a text
    "cases of a switch that bind names": (1, "javascript", lambda: "switch (b) {\n" + "".join(
        f"case {n}: a{n} = b;\n" for n in range(2_000)
    ) + "}\n"),
    "`try` in one function": (
        1, "python", lambda: "def f():\n" + " try:\n  a = b\n  a = c\n except E:\n  a()\n" * 4_000
    ),
    "conditional functions of one name": (0.8, "rust", lambda: "#[cfg(windows)]\nfn a() {}\n" * 4_000),
    "bounds of one type parameter": (
        2, "rust", lambda: "fn f<T>(t: T) where " + "".join(f"T::B{n}: A, " for n in range(8_000)) + " {}"
    ),
    "names of one declaration": (1, "go", lambda: f"package a\nvar {MANY} int\ntype A struct {{ {MANY} int }}"),
    "members of a block for a long receiver": (2, "csharp", lambda: (
        f"static class E {{ extension(A<{', '.join(['B'] * 2_000)}> a) {{\n" + "int Go() => 1;\n" * 2_000 + "} }\n"
    )),
    **{f"comments that begin with {begun} and do not end": (2, "javascript", lambda begun=begun: (
        f"/** {begun * 20_000} */\n/** @param {{B}} b */\nfunction f(b) {{ b.run(); }}\n"
    )) for begun in ENDLESS_COMMENTS},
    "a name of 3.5 MB that a loop makes": (1.2, "ruby", lambda: (
        f"class A\n%w[{'a' * 3_900}].each {{ |n| class_eval 'def {'#{n}' * 900}b; end' }}\nend\n"
    )),
    "one list in many loops": (1.2, "ruby", lambda: f"A = %w[{LISTED}]\n" + "A.each { |n| b }\n" * 4_000),
    "one text that is evaluated in many places": (
        1.2, "ruby", lambda: "class A\n" + "class_eval <<A;" * 4_000 + "\n" + "def \u00e9; end;\n" * 200 + "A\nend\n"
    ),
    "texts that begin on one line after the other": (2, "ruby", lambda: BEGUN),
    "methods that a loop makes in many places": (2, "ruby", lambda: MADE),
    "parameters of which one comment says types, in PHP": (1, "php", lambda: (
        f"<?php\nclass A {{}}\n/** {repeated('@param A $a{} ', 600)}*/ function f({', '.join(DOLLARS)}) {{}}\n"
    )),
    "parameters of which one comment says types, in JavaScript": (1, "javascript", lambda: (
        f"/** {repeated('@param {{Array<$a{0}> $a{0}', 600)}*/ function f({', '.join(DOLLARS)}) {{}}\n"
    )),
    "parameters of which one comment says types, in Ruby": (
        1, "ruby", lambda: repeated("# @param a{} [A]\n", 450) + f"def f({', '.join(LISTED.split())}); end\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", READ)
def test_what_is_read_costs_in_proportion_to_the_text(shape: str) -> None:
    seconds, language, text = READ[shape]
    source = text().encode()
    facts = costs_under(seconds, partial(FACTS.facts_of, language, source))
    assert len(facts or b"") < 100 * len(source)


# ---- resolving

CALLS_OF_EACH_OTHER = "this.m.call(new C{}()); C{}.prototype.m.call(this);"
REPLACED = ("class C{} {{ m() {{}} }}\n", "delete new C{}().m;\n", "new C{}().m();\n")
HAVING = "class A{0}\n def foo; end\n def bar; end\nend\ndef f{0}(x{0})\n x{0}.foo\n x{0}.bar\nend\n"
KNOWN = "class A{0}\n def foo; end\nend\ndef f{0}(node) = node.foo\nf{0}(A{0}.new)\ndef g{0}(node) = node.foo\n"
CHAINS = {  # what the first class of a chain has, and what each below it has and asks for
    "what a base outside has": ("m() { this.props.p0(); }", "m{0}() {{ this.props.p0(); this.q{0}(); }}"),
    "overloads": ("m(a: any) {}", "m(a: string): void; m(a: number): void; m(a: any) {{ this.m(1); }}"),
    "fields": ("f = 1;", "f{0} = () => 1; m{0}() {{ this.f{0}(); this.f; }}"),
}
SPACES = "".join(f"namespace A{n} {{ export function f() {{ g() }} }}\n" for n in range(1_500))
USINGS = "".join(f"using N{n};\n" for n in range(600))


def extending(receiver: str) -> dict[str, str]:
    uses = repeated(" make{}().go()\n", 2_000)
    return {"a.kt": f"import lib.*\n{repeated(receiver, 2_000)}fun E.go() {{}}\nfun f() {{\n{uses}}}\n"}


RESOLVED: Mapping[str, tuple[float, Callable[[], dict[str, str]]]] = {  # CPU seconds that it may take, and the files
    **{f"containers: {shape}": (2 if "above each other" in shape else 0.6, lambda text=text, shape=shape: (
        {"a.py": text(1_500 if "above each other" in shape else 750)}
    )) for shape, text in CONTAINERS.items()},
    "functions that are called on objects of each other": (0.65, lambda: {"a.js": "".join(
        f"class C{n} {{ m() {{ this.x(); {CALLS_OF_EACH_OTHER.format(n * 7 % 250, n * 3 % 250)} }} x() {{}} }}\n"
        for n in range(250)
    )}),
    "fields of a class that are passed by name": (1, lambda: {"a.py": (
        "class A:\n" + repeated(" a{}: int\n", 2_000) + f"def f({', '.join(f'a{n}' for n in range(2_000))}): pass\n"
        + f"f({', '.join(f'a{n}=1' for n in range(2_000))})\n"
    )}),
    "members that many places replace": (2, lambda: {"a.js": "".join(repeated(line, 1_000) for line in REPLACED)}),
    "parts of a class of Ruby": (0.6, lambda: {
        "a.rb": repeated("class A\n def m{}; end\nend\n", 800) + "def f(x)\n x.m1\n x.m2\nend\n"
    }),
    "classes of Ruby with the same members": (0.6, lambda: {"a.rb": repeated(HAVING, 800)}),
    "arguments of one name in Ruby": (0.6, lambda: {"a.rb": repeated(KNOWN, 800)}),
    "classes of Python with the same members": (0.55, lambda: {"a.py": repeated(
        "class A{0}:\n def foo(self): pass\n def bar(self): pass\ndef f{0}(x):\n x.foo()\n x.bar()\n", 1_000
    )}),
    "arguments of one name in Python": (0.55, lambda: {"a.py": repeated(
        "class A{0}:\n def foo(self): pass\ndef f{0}(node): node.foo()\nf{0}(A{0}())\ndef g{0}(node): node.foo()\n",
        1_000,
    )}),
    "a metaclass for each class": (0.55, lambda: {"a.py": repeated(
        "class M{0}(type):\n def __init__(a, b, c, d): d['foo'] = b\n"
        "class A{0}(metaclass=M{0}):\n def foo(self): pass\nA{0}().foo()\n",
        1_000,
    )}),
    "namespaces of which all names are taken": (2.5, lambda: {  # some 6 where each is asked for each name
        **{f"n{n}.cs": f"namespace N{n} {{ class C{n} {{ void M{n}() {{}} }} }}" for n in range(600)},
        "a.cs": f"{USINGS}class A {{ void f() {{\n" + repeated("new C{0}().M{0}(); Z{0}();\n", 600) + "} }\n",
    }),
    "classes of which all names are taken": (2, lambda: {  # some 7 likewise
        **{f"n{n}.cs": f"class N{n} {{ static void C{n}() {{}} }}" for n in range(600)},
        "a.cs": (
            USINGS.replace("using", "using static")
            + "class A { void f() {\n" + repeated("C{0}(); Z{0}();\n", 600) + "} }\n"
        ),
    }),
    "modules that one takes all names of": (3, lambda: {
        **{f"m{n}.py": f"def f{n}(): ...\n" for n in range(500)},
        "a.py": repeated("from m{} import *\n", 500) + "f0()\n" * 2_000,
    }),
    "modules that hand on each other's names": (2, lambda: {
        f"m{n}.ts": f"import {{ g{n} }} from './m0';\n" + repeated("export * from './m{}';\n", 60) + f"g{n}();\n"
        for n in range(60)
    }),
    "setters of one property": (3, lambda: {"a.py": (
        "class A:\n @property\n def v(self): return 1\n" + " @v.setter\n def v(self, a): pass\n" * 4_000
        + "def f():\n a = A()\n" + " a.v = 1\n" * 4_000
    )}),
    "imports by one name": (3, lambda: {
        "a.py": repeated("def x{}(): ...\n", 1_000),
        "b.py": repeated("from a import x{} as t\n", 1_000) + "print(t)\n" * 1_000,
    }),
    "functions that extend a type outside": (1, lambda: extending("fun E{}.go() {{}}\n")),
    "functions that take one name": (1, lambda: extending("fun go(a{}: Int) {{}}\n")),
    "modules that extend a class": (1.3, lambda: {"a.rb": (
        repeated("module M{0}\n def m{0}; end\nend\n", 750) + "class C\n" + repeated(" extend M{}\n", 750) + "end\n"
        + repeated("C.m{}\n", 750)
    )}),
    "global functions of one name": (0.8, lambda: {
        **{f"a{n}.d.ts": "declare function go(): void;\n" * 20 for n in range(250)}, "b.ts": "go();\n" * 1_250
    }),
    "parts of a module that is declared": (0.85, lambda: {
        "m.d.ts": repeated("declare module 'm' {{ export function f{}(): void; }}\n", 1_500),
        "b.ts": repeated("import {{f{0}}} from 'm';\nf{0}();\n", 1_500),
    }),
    "global functions of scripts": (1.2, lambda: {
        "0.js": repeated("f{}();\n", 6_000), "1.js": repeated("function f{}() {{}}\n", 6_000)
    }),
    "namespaces in two files": (1.2, lambda: {"a.ts": SPACES, "b.ts": SPACES.replace("f() { g", "g() { f")}),
    "texts that begin on one line after the other": (2, lambda: {"a.rb": BEGUN}),
    "methods that a loop makes in many places": (2, lambda: {"a.rb": MADE}),
    "what one metaclass puts into each class": (0.85, lambda: {"a.py": (
        "class M(type):\n  def __new__(cls, name, bases, d):\n" + repeated("    d['a{0}'] = {0}\n", 1_500)
        + repeated("class A{0}(metaclass=M):\n  def b(self): self.a{0}()\n", 1_500)
    )}),
    "classes in a chain below a type outside": (0.65, lambda: {"a.php": "<?php\nuse C\\B;\n" + "".join(
        f"class A{n} extends A{n - 1} implements B {{ function f{n}(B $b) {{ $b->f{n}(); }} }}\n" for n in range(250)
    )}),
    "modules that are mixed in by an expression": (2, lambda: {"a.rb": (
        repeated("module M{0}\n def m{0}; end\n def m; end\nend\nclass C{0}\n def go = m\nend\n", 500)
        + repeated("a.include(b::M{})\n", 500)
    )}),
    "values that something outside gives": (0.8, lambda: {"a.py": (
        "import lib\ndef g(a):\n" + " if a: return lib.b()\n" * 2_000
        + repeated("g(1).m{0}()\ndef m{0}(): ...\n", 2_000)
    )}),
    "overloads in a chain of classes": (2.9, lambda: {"A.java": (
        "class C0 { void f(int a) {} void f(String a) {} void f(C0 a) {} }\n" + "".join(
            f'class C{n} extends C{n - 1} {{ void f(C{n} a) {{ f(1); f(this); }} void f(long a) {{ f(""); }} }}\n'
            for n in range(1, 250)
        )
    )}),
    "functions that each of a chain of classes has": (1.5, lambda: {
        "C0.java": "class C0 { void m(int a) {} }", **{
            f"C{n}.java": f"class C{n} extends C{n - 1} {{ void m(int a) {{}} void n() {{ m(1); }} }}"
            for n in range(1, 100)
        }
    }),
    **{f"classes in a chain that ask for {what}": (0.9, lambda first=first, each=each: {"a.ts": (  # some 8 for 400
        f"import {{B}} from 'b';\ninterface P {{ p0(): void }}\nclass A0 extends B<P> {{ {first} }}\n"
        + "".join(f"class A{n} extends A{n - 1} {{ {each.format(n)} }}\n" for n in range(1, 200))
    )}) for what, (first, each) in CHAINS.items()},
    "fixtures of one name": (3, lambda: {
        "conftest.py": "import pytest\n@pytest.fixture\ndef db(db): return db\n" * 1_000,
        "test_a.py": "def test_a(db): pass\n" * 1_000,
    }),
}  # fmt: skip


def resolved_under(seconds: float, texts: Mapping[str, str]) -> GraphColumns:
    files = graph_files({path: text.encode() for path, text in texts.items()})
    return costs_under(seconds, lambda: resolved(files, budget=GraphBudget(), languages=LANGUAGES.rows))


@pytest.mark.parametrize("shape", RESOLVED)
def test_what_is_resolved_costs_in_proportion_to_the_files(shape: str) -> None:
    seconds, texts = RESOLVED[shape]
    resolved_under(seconds, texts())


@pytest.mark.parametrize(
    ("path", "definitions", "use"),
    [
        ("a.py", "if x{}:\n def f(): pass\n", "def g{}(): f()\n"),
        ("a.cs", "partial class F {{ }}\n", "class G{} {{ F f; }}\n"),
        ("a.js", "function f() {{}}\n", "function g{}() {{ f() }}\n"),
        ("a.c", "#ifdef A{}\nint f(int a) {{ return a; }}\n#endif\n", "int g{}() {{ return f(1); }}\n"),
    ],
)
def test_a_name_of_many_bindings_costs_in_proportion_to_its_uses(path: str, definitions: str, use: str) -> None:
    """Each of 1,500 uses means 1,500 definitions: 17 CPU seconds in C#, 3 to 4 else, if each is looked at for each."""
    graph = resolved_under(2, {path: repeated(definitions, 1_500) + repeated(use, 1_500)})
    last = [graph.target_line[at] for at, line in enumerate(graph.line) if line == graph.line[-1]]
    assert len(set(last)) > MAX_GUESSED


def test_modules_that_hand_on_all_names_to_each_other_are_looked_through_so_far() -> None:
    uses = repeated("f{0}(); g{0}()\n", 60)
    stars = "".join(f"from m{n * 13 % 100} import *\n" for n in range(60))
    graph = resolved_under(5, {f"m{n}.py": f"{stars}def f{n}(): ...\n{uses}" for n in range(100)})
    reasons = set(graph.reason)
    assert {Reason.UNSEEN} < reasons <= {Reason.UNSEEN, Reason.BOUND, Reason.SEVERAL}  # beyond MAX_STARRED steps


def test_modules_of_rust_that_hand_on_all_names_in_a_circle_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some 5 CPU seconds where all steps are made."""
    monkeypatch.setattr(globs, "MAX_STARRED", 150_000)
    taken = (f"mod m{n} {{ pub use super::m{(n + 1) % 1000}::*; fn f() {{ g(); h{n}(); }} }}\n" for n in range(1000))
    resolved_under(1.8, {"src/lib.rs": "".join(taken)})
