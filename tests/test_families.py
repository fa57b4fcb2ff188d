"""Families of languages, each resolved by itself: what is taken over, and that the whole is the same without."""

from itertools import accumulate

import pytest
from test_graph import LANGUAGES, graph_files

from fledgling.worker.graph.columns import GraphColumns, joined
from fledgling.worker.graph.linking.families import families
from fledgling.worker.graph.resolve import Resolving, resolved
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile

APART = {  # three families: a file of each
    "a.py": b"class A:\n    def run(self): return walk()\n    def m(self): return self.run()\n"
    b"class B(A):\n    def m(self): pass\n",
    "b.ts": b"export function go() { return halt(); }\nfunction halt() {}\nclass C { jump() {} }\n",
    "c.php": b"<?php\nfunction stop() { Turn(); Run(); return STOP(); }\n",
    "d.tsx": b"import { go } from './b';\ngo();\n",
}
EDITED_APART = {  # what is edited, and the families that are resolved anew, by their first file
    "nothing": ({}, []),
    "a body": ({"b.ts": APART["b.ts"].replace(b"return halt()", b"halt()")}, ["b.ts"]),
    "a name more": ({"b.ts": APART["b.ts"] + b"function other() {}\n"}, ["b.ts"]),
    "a name that another family mentions": ({"b.ts": APART["b.ts"] + b"function walk() {}\n"}, ["a.py", "b.ts"]),
    "in another case": ({"b.ts": APART["b.ts"] + b"function turn() {}\n"}, ["b.ts", "c.php"]),
    "a name less that another family mentions": ({"a.py": b"def walk(): pass\n"}, ["a.py", "c.php"]),
    "another file of one": ({"e.py": b"import a\na.A().run()\n"}, ["a.py"]),
}


def of_families(files: list[GraphFile], known: dict[int, GraphColumns]) -> tuple[list[GraphColumns], list[str]]:
    """The graph of each family, and the first file of each that was resolved."""
    told: list[int] = []
    resolving = Resolving(files, budget=GraphBudget(), languages=LANGUAGES.rows, is_partial=False, tell=told.append)
    graphs = [*resolving.graphs(known)]
    begins = accumulate((2 * len(family) for family in resolving.apart), initial=1)
    return graphs, [family[0].path for family, begin in zip(resolving.apart, begins, strict=False) if begin in told]


@pytest.mark.parametrize("edit", EDITED_APART)
def test_a_family_of_languages_is_resolved_anew_where_what_it_mentions_has_changed(edit: str) -> None:
    edited, anew = EDITED_APART[edit]
    before, now = graph_files(APART), graph_files({**APART, **edited})
    old, resolved_first = of_families(before, {})
    assert resolved_first == ["a.py", "b.ts", "c.php"]
    same = {
        at: old[at]
        for at, family in enumerate(families(now, LANGUAGES.rows))
        if [now[number] for number in family] == [before[number] for number in families(before, LANGUAGES.rows)[at]]
    }
    graphs, resolved_again = of_families(now, same)
    assert resolved_again == anew
    whole = resolved(now, budget=GraphBudget(), languages=LANGUAGES.rows)
    assert joined(families(now, LANGUAGES.rows), graphs) == whole
    assert [*zip(whole.file, whole.line, whole.column, strict=True)] == sorted(
        zip(whole.file, whole.line, whole.column, strict=True)
    )
