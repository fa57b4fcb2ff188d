"""`completion`: the scripts that complete commands in bash, zsh and fish."""

import click
from click.shell_completion import get_completion_class

from fledgling.broker.cli import bash
from fledgling.broker.cli.completing import VARIABLE
from fledgling.broker.cli.help import Command


@click.command(
    cls=Command,
    examples=(
        'eval "$(fledgling completion bash)"    # in ~/.bashrc; zsh likewise, in ~/.zshrc',
        "fledgling completion fish | source    # in ~/.config/fish/config.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell: it completes paths, symbols, languages and profiles."""
    bash.register()
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(context.find_root().command, {}, "fledgling", VARIABLE).source())
