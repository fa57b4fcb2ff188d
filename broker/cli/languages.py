"""`languages`: what is extracted for each, and by which parser."""

from collections.abc import Iterator

import click
import msgspec

from fledgling.broker import spawn
from fledgling.broker.cli import terminal
from fledgling.broker.cli.project import json_option
from fledgling.messages.answers import Refusal
from fledgling.messages.languages import KnownLanguage

HEADS = ("language", "definitions", "imports", "comments", "uses", "parser", "files")


@click.command()
@json_option
def languages(as_json: bool) -> None:
    """List what is extracted for each language: definitions, imports, comments, uses, and by which parser.

    Text is found in every file, whatever its language.
    """
    said = spawn.run_once("fledgling.worker.languages")
    known = msgspec.msgpack.decode(said, type=list[KnownLanguage] | Refusal)
    if isinstance(known, Refusal):
        terminal.refuse(known)
    if as_json:
        terminal.show_json({"languages": known})
    else:
        terminal.show_rows([HEADS, *_rows(known)], "languages", HEADS, as_json=False)


def _rows(known: list[KnownLanguage]) -> Iterator[tuple[str, ...]]:
    for one in sorted(known, key=lambda one: (not one.definitions, one.name)):
        found = ("yes" if each else "-" for each in (one.definitions, one.imports, one.comments, one.uses))
        yield one.name, *found, one.parser or "-", " ".join(one.extensions)
