"""What is completed at the prompt of `fledgling shell`: as in a shell, by the same functions."""

import shlex
from collections.abc import Iterator, Sequence

import click
from click.shell_completion import ShellComplete
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from fledgling.broker.cli.completing import VARIABLE
from fledgling.messages.questions import QUESTIONS


class Completing(Completer):
    """Completes tools, their options and what these may be; `settings` go with each, as they were typed."""

    def __init__(self, program: click.Command, settings: Sequence[str]) -> None:
        self._shell = ShellComplete(program, {}, "fledgling", VARIABLE)
        self._settings = settings

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """Yield what the word before the cursor may become."""
        before = document.text_before_cursor
        try:
            words = shlex.split(before)
        except ValueError:  # in the middle of a quoted word
            return
        begun = words.pop() if words and not before[-1].isspace() else ""
        if words and words[0] not in QUESTIONS:
            return
        arguments = [*words[:1], *self._settings, *words[1:]]
        for item in self._shell.get_completions(arguments, begun):
            if words or item.value in QUESTIONS:
                yield Completion(shlex.quote(item.value), start_position=-len(begun), display=item.value)
