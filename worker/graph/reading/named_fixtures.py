"""Fixtures of pytest that texts name: `usefixtures("a", "b")`, `getfixturevalue("a")`."""

import re

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.expressions import last_name
from fledgling.worker.graph.reading.labels import IS_TEXT
from fledgling.worker.graph.tables import Op, Use

WRITTEN = re.compile(r"[\"'](\w++)[\"']")


def note_fixtures(builder: Builder, node: int, function: int) -> None:
    """Note the fixtures that the arguments of a call name, each as what is called there."""
    tree, naming = builder.tree, builder.dialect.names_fixtures
    if not naming or last_name(builder, function) not in naming:
        return
    for kid in (part for arguments in tree.kids[node] for part in tree.kids[arguments]):
        written = WRITTEN.fullmatch(tree.text(kid)) if tree.kind(kid) == IS_TEXT else None
        if written:
            name = builder.named(written[1])
            builder.site_at(tree.start[kid] + 1, name, Use.CALL, builder.add(Op.FIXTURE, name, builder.scope))
