"""`audit`: attack a server under a profile; check an audit log."""

import asyncio
import logging
import os
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import click

from fledgling.broker.audit_log.verify import summary, verify
from fledgling.broker.audit_log.writer import MAX_LINE
from fledgling.broker.cli import terminal
from fledgling.broker.cli.project import json_option
from fledgling.config import ConfigError, is_path
from fledgling.security import profile as profiles
from fledgling.settings import Settings

_log = logging.getLogger("fledgling")


@click.group("audit", invoke_without_command=True)
@click.option("--profile", "asked", multiple=True, metavar="PROFILE", help="a profile to audit; may be repeated")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="audit it on this project too",
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="write JUnit XML to this file")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="write a page for reviewers to this file")
@json_option
@click.pass_context
def audit_group(
    context: click.Context,
    asked: tuple[str, ...],
    root: Path | None,
    junit: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Attack a server under a profile, and report what stopped what; or look at audit logs.

    The server is a real one, over a hostile project made for it in a temporary directory. Nothing is written into
    a project of --root. It takes a minute or two a profile. Exit codes: 0 nothing got through; 1 something did, or
    could not be proven; 2 wrong usage.
    """
    if context.invoked_subcommand is not None:
        return
    # Imported here, not at the top: it loads the MCP SDK, as a client.
    from fledgling.security.audit import junit as junit_xml  # noqa: PLC0415
    from fledgling.security.audit import page, report, run  # noqa: PLC0415

    names = asked or (Settings().profile,)
    audited = {str(Path(name).resolve()) if is_path(name) else name: profiles.load(name) for name in names}
    with ExitStack() as stack:
        named = ((junit, junit_xml.junit), (html, page.page))
        files = [(stack.enter_context(_opened(path)), written) for path, written in named if path]
        _log.info("attacking a server under %s; it takes a minute or two for each", ", ".join(audited))
        found = asyncio.run(run.audit(audited, root.resolve() if root else None))
        for file, written in files:
            _replace(file, written(found))
    if as_json:
        terminal.show_json(found)
    else:
        terminal.show_text(report.text(found))
    raise SystemExit(found.exit_code)


def _opened(path: Path) -> TextIO:
    """Open a file that says what it said until it is replaced. Raises ConfigError."""
    try:
        return path.open("a", encoding="utf-8")
    except OSError as wrong:
        raise ConfigError(str(path), f"it cannot be opened ({wrong.strerror})", "name another file") from None


def _replace(file: TextIO, text: str) -> None:
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.truncate(0)
    file.write(text)


@audit_group.command("verify", short_help="Check that no line of an audit log was changed")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--last", metavar="HASH", help="the hash of a line, printed by an earlier verify and kept elsewhere")
@json_option
def audit_verify(file: str, last: str | None, as_json: bool) -> None:
    """Check that no line of an audit log was changed, removed, inserted or moved.

    The last line, and lines cut off at the end, are vouched for by no other line, and someone who writes the whole file
    anew can chain it anew. So the last hash is printed: keep it where the log's writer cannot reach, and give it as
    --last the next time. Exit codes: 0 good; 1 broken, or no line has the hash of --last; 2 wrong usage.
    """
    if file != "-" and not Path(file).is_file():  # a FIFO may have no writer, a device no end
        raise click.BadParameter(f"'{file}' is not a regular file; give - to read a pipe.", param_hint="'FILE'")
    with click.open_file(file, "rb") as log:
        checked = verify(iter(lambda: log.readline(MAX_LINE), b""), last)
    if as_json:
        terminal.show_json(checked)
    else:
        terminal.show_text("\n".join(summary(checked, last)))
    is_good = not checked.broken and (last is None or checked.found is not None)
    raise SystemExit(terminal.OK if is_good else terminal.NOTHING)
