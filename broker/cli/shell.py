"""`shell`: questions one after the other over one index, typed at a prompt or piped.

At a terminal there are two processes. The one at the prompt edits lines, which takes system calls that a confined
broker may not make, and sees no answer; what is typed goes to the other through a pipe, and that is the broker, as for
any command. History is in memory and ends with the prompt.
"""

import asyncio
import contextlib
import gc
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import click

from fledgling.broker.cli import ask, terminal, tool_options
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import ServedProject, project_of, setting_options, settings_given
from fledgling.broker.cli.starting import indexed, run
from fledgling.broker.front import Front
from fledgling.messages.answers import Refusal
from fledgling.messages.generations import CODE
from fledgling.messages.questions import QUESTIONS
from fledgling.plain import MAX_SHOWN, said

SQL = ("SELECT", "FROM", "WITH", "DESCRIBE", "SUMMARIZE", "SHOW", "PIVOT", "VALUES")  # how a statement begins
LEAVE = ("exit", "quit", ":q")
HELP = (
    "Type `search timeout -t python` or any tool, as in a shell, or one SELECT; `help TOOL` says more, `exit` leaves."
)
PROMPT = "fledgling> "
EXTRA = "a prompt needs prompt_toolkit: pip install 'fledgling-lens[shell]'; or pipe questions, a line each"
MAX_LINE = 2**16  # characters of a question, which may be SQL


@click.command("shell", cls=Command, examples=("fledgling shell", "echo 'search timeout' | fledgling shell --root ."))
@setting_options
@click.option("--answering", type=int, hidden=True, help="the descriptor that tells the prompt that a line is answered")
@click.pass_context
def shell(context: click.Context, /, answering: int | None, **options: Any) -> None:
    """Answer one question after the other over one index, which follows the project.

    Tools are typed as commands, without `fledgling` before them; a line of SQL is a query, if the profile allows it.
    """
    if answering is None and sys.stdin.isatty():
        raise SystemExit(_prompt(context.find_root(), settings_given(context)))
    project = project_of(options)
    raise SystemExit(run(indexed(project, is_followed=True), lambda front, _: _answered(front, project, answering)))


# ---- the broker -----------------------------------------------------------------------------------------------------


async def _answered(front: Front, project: ServedProject, answering: int | None) -> int:
    """Answer line by line to the end; return the exit code of the last."""
    gc.enable()  # a command ends before there is much to collect, and this may not
    await front.indexed(CODE)
    code = terminal.OK
    while line := await asyncio.to_thread(_next_line):
        if line.strip() in LEAVE:
            break
        if line.strip():
            code = await _one(front, project, line.strip())
        sys.stdout.flush()
        if answering is not None:
            os.write(answering, b"\n")
    return code


def _next_line() -> str:
    """Return the next line; of one that is too long, so much that this is seen."""
    line = part = sys.stdin.readline(MAX_LINE + 1)
    while len(part) > MAX_LINE and not part.endswith("\n"):
        part = sys.stdin.readline(MAX_LINE + 1)
    return line


async def _one(front: Front, project: ServedProject, line: str) -> int:
    """Answer one line; what is wrong with it is said, and the next is waited for."""
    try:
        tool, words = _words(line)
        if tool == "help":
            _help(words, project)
            return terminal.OK
        return await _ask(front, project, tool, words)
    except click.ClickException as wrong:
        click.echo(f"fledgling: {said(wrong.format_message())}", err=True)
        return terminal.USAGE
    except click.exceptions.Exit:  # --help was asked for
        return terminal.OK
    except SystemExit as ended:  # what is refused has been said
        return ended.code if isinstance(ended.code, int) else terminal.NOTHING


def _words(line: str) -> tuple[str, list[str]]:
    """Return the tool and the words behind it: `_words("FROM files")` is `("query", ["--format", "table", ...])`."""
    if len(line) > MAX_LINE:
        raise click.UsageError(f"a line has more than {MAX_LINE:,} characters; ask for less at once")
    if line.split(None, 1)[0].upper() in SQL:
        return "query", ["--format", "table", "--", line]
    try:
        tool, *words = shlex.split(line)
    except ValueError as wrong:
        raise click.UsageError(f"{wrong}; quote it as in a shell") from None
    if tool == "fledgling" and words:
        tool, *words = words
    if tool not in (*QUESTIONS, "help"):
        raise click.UsageError(f"{tool[:MAX_SHOWN]!r} is not a tool. {HELP}")
    return tool, words


def _help(words: list[str], project: ServedProject) -> None:
    if words[:1] and words[0] in QUESTIONS:
        command = ask.command_of(words[0])
        terminal.show_text(command.get_help(click.Context(command, info_name=words[0])))
    else:
        terminal.show_text(f"{HELP} Tools of the profile {project.profile.name}: {', '.join(project.profile.tools)}.")


async def _ask(front: Front, project: ServedProject, tool: str, words: list[str]) -> int:
    context = ask.command_of(tool).make_context(tool, words)
    if given := settings_given(context):
        raise click.UsageError(f"{given[0]} is a setting of the whole shell: leave, and give it to fledgling shell")
    as_json, color = context.params.pop("as_json"), context.params.pop("color")
    asked, looks = tool_options.asked(tool, context.params, as_json=as_json, color=color)
    answer = await ask.asked_of(front, ask.checked(project, tool, asked), looks)
    if isinstance(answer, Refusal):
        terminal.refuse(answer)
    terminal.show(answer, looks)
    return terminal.exit_code(answer, is_partial=False)


# ---- the prompt -----------------------------------------------------------------------------------------------------


def _prompt(root: click.Context, settings: Sequence[str]) -> int:
    """Edit lines, and hand them to a broker, until it ends or nothing more is asked; return its exit code."""
    try:
        from prompt_toolkit import PromptSession  # noqa: PLC0415  (an extra, and a fifth of a second)
        from prompt_toolkit.shortcuts import CompleteStyle  # noqa: PLC0415
    except ImportError:
        terminal.fail(EXTRA)
    from fledgling.broker.cli.typed import Completing  # noqa: PLC0415

    # A symbol takes an index of its own: it is completed where Tab is pressed, and a line can be typed meanwhile.
    session: PromptSession[str] = PromptSession(
        PROMPT,
        completer=Completing(root.command, settings),
        complete_while_typing=False,
        complete_in_thread=True,
        complete_style=CompleteStyle.READLINE_LIKE,
    )
    reading, telling = os.pipe()
    command = [sys.executable, "-I", "-m", "fledgling", "shell", *settings, "--answering", str(telling)]
    # In a session of its own: Ctrl-C is for the line that is typed.
    broker = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[telling], start_new_session=True, text=True)
    os.close(telling)
    assert broker.stdin
    with broker.stdin as asking, contextlib.suppress(BrokenPipeError, EOFError):
        while True:
            try:
                line = " ".join(session.prompt().split("\n"))
            except KeyboardInterrupt:  # another line, as in a shell
                continue
            if line.strip() in LEAVE:
                break
            asking.write(f"{line}\n")
            asking.flush()
            if not _is_answered(reading):
                break
    return broker.wait()


def _is_answered(reading: int) -> bool:
    """Wait for the end of an answer; False where the broker has ended."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # every answer ends in its time
            return bool(os.read(reading, 1))
