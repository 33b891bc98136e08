"""``simplexdp completion``: what a shell needs to complete our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]


@click.command(
    epilog="""\b
Examples:
  # bash, for this session or for all of them
  eval "$(simplexdp completion bash)"
  simplexdp completion bash >> ~/.bashrc

\b
  # zsh and fish
  simplexdp completion zsh >> ~/.zshrc
  simplexdp completion fish > ~/.config/fish/completions/simplexdp.fish
"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL."""
    from simplexdp.cli.app import app

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    # The text alone: making the object asks the shell for its version, which need not be installed here.
    completer = kind.__new__(kind)
    completer.cli, completer.ctx_args = app, {}
    completer.prog_name, completer.complete_var = "simplexdp", "_SIMPLEXDP_COMPLETE"
    click.echo(completer.source_template % completer.source_vars())
