"""What is extracted for each language, in one message on standard output; no project is looked at."""

import sys
from importlib import metadata

import msgspec

from fledgling import refusals
from fledgling.messages.answers import Refusal
from fledgling.messages.languages import KnownLanguage
from fledgling.worker.language import Language, LanguageError
from fledgling.worker.languages.table import load_languages


def known() -> list[KnownLanguage] | Refusal:
    """Return what the rows say of each language, in order of the names."""
    try:
        return [_known(name, row) for name, row in load_languages().rows.items()]
    except LanguageError as wrong:
        return refusals.unfit(str(wrong))


def _known(name: str, row: Language) -> KnownLanguage:
    return KnownLanguage(
        name,
        definitions=row.finds_definitions,
        imports=row.finds_definitions and row.imports is not None,
        comments=row.comment_lines and bool(row.comments or row.finds_definitions),
        uses=bool(row.graph.rules),
        parser=_parser(row),
        extensions=row.extensions,
    )


def _parser(row: Language) -> str | None:
    """Name what reads a language: `tree-sitter-go 0.25.0`, or what of this project does."""
    if row.grammars:
        package = row.grammars[0].partition(".")[0].replace("_", "-")
        return f"{package} {_version(package)}"
    if row.inner:
        return f"that of what is in it ({row.inner})"
    if row.reader:
        return f"own reader ({row.reader})"
    return f"own rules ({row.rules[0]})" if row.rules else None


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.msgpack.encode(known()))
