"""Hostile files and hostile statements, made by chance: each asks for as much memory as its form lets it."""

import json
from collections.abc import Callable
from random import Random

MEGABYTE = 2**20

# What is written again and again until a file is full; {} is a number.
REPEATED = {
    "a.json": '"k{}":[{{"a":{}}}],',
    "b.json": '"k{}":1,',
    "a.yaml": "k{}: {{a: [1, 2]}}\n",
    "b.yaml": "- a{}: &a{} x\n",
    "a.toml": "[t{}]\nk = {}\n",
    "a.py": "def f{}():0\n",
    "b.py": "import m{}\n",
    "c.py": "x{}=1;",
    "a.c": "int a{};",
    "b.c": "struct s{}{{int a;}};",
    "a.h": "#define D{} 1\n",
    "b.h": '#include "h{}.h"\n',
    "a.cpp": "class c{}{{}};",
    "a.js": "function f{}(){{}}",
    "b.js": "var v{}=()=>0;",
    "c.js": 'import "m{}";',
    "a.ts": "interface I{}{{a:1}}\n",
    "a.tsx": "const C{}=()=><a/>;",
    "a.go": "func f{}(){{}}\n",
    "a.rs": "fn f{}(){{}}",
    "b.rs": "use m::a{};",
    "a.java": "class C{}{{void f(){{}}}}",
    "a.kt": "fun f{}()=1\n",
    "a.rb": "def f{};end\n",
    "a.php": "<?php function f{}(){{}} ?>",
    "a.cs": "class C{}{{}}",
    "a.sh": "f{}(){{ :; }}\n",
    "a.lua": "function f{}() end ",
    "a.clj": "(defn f{} [])",
    "a.sql": "CREATE TABLE t{} (a int);\n",
    "a.css": ".c{}{{a:b}}",
    "a.html": "<h1 id=i{}>a</h1>",
    "a.md": "# h{}\n",
    "b.md": "|a{}|b|\n|-|-|\n",
    "a.rst": "h{}\n====\n",
    "a.ipynb": '{{"cells":[{{"cell_type":"code","source":["def f{}(): 0"]}}]}},',
    "package-lock.json": '"node_modules/p{}":{{"version":"1","requires":{{"a":"1"}}}},',
    "Cargo.lock": '[[package]]\nname = "p{}"\nversion = "1"\n',
    "a.csv": "{},a,b,c\n",
    "a.min.js": "!function(e){{e.a{}=1}}({{}});",
}
NESTED = {
    "d.json": "[]",
    "e.json": '{"a":|}',
    "d.yaml": "[]",
    "d.c": "()",
    "d.py": "()",
    "d.js": "{}",
    "d.rs": "()",
    "d.html": "<a>|</a>",
}
OPENED = {"a.json": "{", "b.json": "{", "package-lock.json": "{", "a.ipynb": "["}

DOUBLED = "WITH RECURSIVE t(n, s) AS (SELECT 0, {} UNION ALL SELECT n + 1, s || s FROM t WHERE n < 40) "
STATEMENTS = [
    "SELECT * FROM range({big}) a ORDER BY hash(a.range) DESC",
    "SELECT max(s) FROM (SELECT sum(range) OVER (ORDER BY hash(range)) s FROM range({big}))",
    "SELECT len(range({big}))",
    "SELECT len(list_sort(list_transform(range({big}), lambda x: hash(x))))",
    "SELECT len(list_distinct(list_transform(range({some}), lambda x: hash(x))))",
    "SELECT list_sum(list_transform(range({few}), lambda x: len(range({few} + x))))",
    "SELECT list_aggregate(range({some}), 'histogram')",
    "SELECT repeat(repeat(repeat('a', 1000), 1000), {times})",
    "SELECT replace(replace(repeat(repeat('a', 1000), {times}), 'a', repeat('b', 1000)), 'b', 'cc')",
    "SELECT string_agg(a.line_text || b.line_text) FROM content a, content b, content c, content d LIMIT {few}",
    "SELECT len(list(a.line_text || b.line_text)) FROM content a, content b, content c, content d LIMIT {few}",
    "SELECT count(DISTINCT a.line_text || b.line_text || c.line_text) FROM content a, content b, content c LIMIT {few}",
    DOUBLED.format("'x'") + "SELECT max(length(s)) + {few} FROM t",
    DOUBLED.format("[1]") + "SELECT max(len(s)) + {few} FROM t",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n + 1 FROM t WHERE n < {big}) SELECT count(*) FROM t",
    "SELECT count(*) FROM (SELECT unnest(range({big})) AS n GROUP BY n)",
    "SELECT sum(n) FROM (SELECT unnest(range({some})) AS n, unnest(range({some})) AS m ORDER BY hash(m))",
    "SELECT json_valid('[' || repeat(repeat(repeat('[1],', 1000), 100), {times}) || '1]')",
    "SELECT json_extract('[' || repeat(repeat('{{\"a\":1}},', 1000), {times}) || '1]', '$[*].a')",
    "SELECT regexp_replace(repeat(repeat(repeat('ab', 1000), 100), {times}), '(a|b)*c', '', 'g')",
    "SELECT len(regexp_extract_all(repeat(repeat(repeat('ab', 1000), 100), {times}), 'a'))",
    "SELECT len(string_split(repeat(repeat(repeat('a,', 1000), 100), {times}), ','))",
    "SELECT map(range({some}), range({some}))",
    "SELECT max(a.range * b.range) OVER (ORDER BY b.range) FROM range({few}) a, range({few}) b",
]


def file(dice: Random) -> tuple[str, bytes]:
    """A name, and what is in it: of some kilobytes to a megabyte."""
    size = int(2 ** dice.uniform(13, 20))
    make: Callable[[Random, int], tuple[str, str]] = dice.choices((_repeated, _nested, _line), (20, 4, 1))[0]
    name, text = make(dice, size)
    return name, text.encode()[:MEGABYTE]


def statement(dice: Random) -> str:
    """A statement that the gate admits."""
    big, some, few = dice.randrange(10**7, 2 * 10**9), dice.randrange(10**6, 6 * 10**7), dice.randrange(10**4, 10**5)
    return dice.choice(STATEMENTS).format(big=big, some=some, few=few, times=dice.randrange(10, 1001))


def _repeated(dice: Random, size: int) -> tuple[str, str]:
    name = dice.choice([*REPEATED])
    form = REPEATED[name]
    count = size // len(form.format(9**7, 9**7)) + 1
    text = "".join(form.format(number, number) for number in range(count))
    return name, OPENED.get(name, "") + text


def _nested(dice: Random, size: int) -> tuple[str, str]:
    name = dice.choice([*NESTED])
    form = NESTED[name]
    before, _, after = form.partition("|") if "|" in form else (form[:1], "", form[1:])
    depth = size // len(form)
    return name, before * depth + after * depth


def _line(dice: Random, size: int) -> tuple[str, str]:
    name = dice.choice(("l.txt", "l.js", "l.py", "l.json"))
    return name, "x = " + json.dumps("y" * size) if dice.random() < 0.5 else "1+" * (size // 2)
