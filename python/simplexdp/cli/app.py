"""The program with its commands, each loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from simplexdp import __version__

__all__ = ["OutputClosed", "app"]

COMMANDS = {
    "release": ("release", "Release a private histogram of a column."),
    "posterior": ("posterior", "Release a private Bayesian posterior of a column."),
    "mean": ("numbers", "Release the mean of a numeric column."),
    "quantile": ("numbers", "Release quantiles of a numeric column."),
    "calibrate": ("calibrate", "Say which parameters meet a budget, and what error to expect."),
    "certify": ("certify", "Compute the exact guarantee of a Hellinger mechanism."),
    "plan": ("plan", "Say what each epsilon buys for a task."),
    "recommend": ("recommend", "Recommend a mechanism for a task."),
    "compare": ("compare", "Say which mechanism wins at equal guarantees."),
    "fit-nb": ("models", "Fit a private naive Bayes classifier."),
    "fit-bn": ("models", "Fit a private Bayesian network."),
    "fit-synth": ("synthesizer", "Fit a synthesizer: synthetic tables without a given structure."),
    "card": ("card", "Write a model card of a released model."),
    "predict": ("predict", "Classify records with a released classifier."),
    "synthesize": ("synthesize", "Draw synthetic records from what was released, or of a table in one step."),
    "ledger": ("ledger", "Show or make a budget that releases are debited from."),
    "reproduce": ("reproduce", "Run the papers' figures again."),
    "bench": ("bench", "Time the library on this machine."),
    "completion": ("completion", "Print the completion script of a shell."),
}
"""Module and summary of each command, so that the list can be shown without importing any."""


class OutputClosed(Exception):  # noqa: N818
    """Whoever read the output has gone."""


class _LazyGroup(click.Group):
    """A group that imports a command when it is called, and lists all of them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"simplexdp.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # click would take it for a failure of the program.
            raise OutputClosed from None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  simplexdp release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --delta 1e-6
  simplexdp calibrate --epsilon 1 --delta 1e-6 --dimension 3 --total 1000
  simplexdp release --help

\b
Exit codes: 0 done; 1 refused (budget, bad data, not affordable); 2 usage; 130 interrupted.
""",
)
@click.version_option(__version__, "-V", "--version", prog_name="simplexdp")
def app() -> None:
    """Release histograms, posteriors and models of a data file under differential privacy.

    Every release says exactly how private it is. Randomness comes from the operating system. True counts are never
    printed unless --show-truth asks for them; neither are values that occur in the data.
    """
