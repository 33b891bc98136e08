"""Every option of every command, misused: refused in one line that names it, with the right code and no data."""

import os
import shlex

import click
import pytest
from cli_files import BUDGET, JOBS

from simplexdp.cli.app import COMMANDS, app

REFUSED, USAGE = 1, 2

MODELS = ("--domains", "domains.json", *BUDGET)
NUMBERS = ("people.csv", "--column", "age", "--bounds", "1:5", "--epsilon", "1")
CALLS = {
    "release": ("people.csv", *JOBS, *BUDGET),
    "posterior": ("people.csv", *JOBS, "--epsilon", "1", "--mechanism", "laplace"),
    "mean": NUMBERS,
    "quantile": NUMBERS,
    "calibrate": (*BUDGET, "--dimension", "3", "--total", "1000"),
    "certify": ("--prior", "1,1", "--n", "5", "--epsilon", "1"),
    "plan": ("histogram", "--n", "100", "--domains", "3", "--epsilons", "1"),
    "recommend": ("counts", "--n", "100", "--dimension", "3", *BUDGET),
    "compare": ("--n", "100", "--dimension", "3", *BUDGET),
    "fit-nb": ("people.csv", "--target", "job", *MODELS),
    "fit-bn": ("people.csv", "--edge", "region>job", *MODELS),
    "fit-synth": ("people.csv", *MODELS),
    "card": ("model.json",),
    "predict": ("model.json", "people.csv"),
    "synthesize": ("people.csv", *MODELS),
    "ledger": ("new.db", "--create", "5", "1e-6"),
    "reproduce": ("dm-figure-1", "--fast"),
    "bench": ("--seconds", "0.001"),
    "completion": (),
}
"""A call of each command that would do, and that its options are put into."""

NO_TEXT = os.fsdecode(b"\xff")
"""What the system hands over for bytes that are not UTF-8."""

PARTNERS = {"--by": "--groups", "--ledger": "ledger", "--create": "epsilon"}
"""What is missed first, or what a user calls it."""

FREE = {"--name", "--title", "--uses", "--limits", "--other", "--null", "--other-group"}
"""Options that take any text."""


def commands():
    """Return every command by its words."""
    found = {}
    for name in COMMANDS:
        command = app.get_command(None, name)
        found[name] = command.commands["show"] if isinstance(command, click.Group) else command
    return found


def misuses(option):
    """Return values that an option of this type cannot have."""
    kind = option.type
    if option.is_flag:
        return []
    if isinstance(kind, click.Path):
        return ["", "missing.xyz"] if kind.exists else ["", "nowhere/a.html"] if kind.file_okay else ["people.csv"]
    if isinstance(kind, click.Choice):
        return ["", "SECRET"]
    if isinstance(kind, click.types.IntParamType):
        return ["", "-1", "1.5", "nan", "text"]
    if isinstance(kind, click.types.FloatParamType):
        return ["", "-1", "nan", "inf", "text"]
    return [NO_TEXT] if option.opts[0] in FREE else [NO_TEXT, "", "SECRET\x1b[2J"]


def given(name, option, *values):
    """Return the call of a command with another value of an option."""
    call = [name, *CALLS[name]]
    while option in call:
        place = call.index(option)
        del call[place : place + 1 + len(values)]
    return [*call, option, *values]


@pytest.fixture
def made(simplexdp, folder):
    """Let there be a model and a ledger."""
    assert simplexdp("fit-nb", *CALLS["fit-nb"], "--out", "model.json").code == 0
    assert simplexdp("ledger", "budget.db", "--create", "5", "1e-6").code == 0
    return set(os.listdir(folder))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", commands())
def test_every_option_is_refused_by_its_name(simplexdp, folder, made, name):
    wrong = []
    for option in commands()[name].params:
        if not isinstance(option, click.Option):
            continue
        called = max(option.opts, key=len)
        for value in misuses(option):
            done = simplexdp(*given(name, called, *[value] * option.nargs))
            # What a file does not have is named itself, whatever option asked for it.
            named = any(word in done.err for word in (called, "no column", PARTNERS.get(called, called)))
            fine = done.code in (REFUSED, USAGE) and named and done.out == ""
            if not fine or {"unexpected", "Traceback", "\x1b"} & set(done.err.replace(":", " ").split()):
                wrong.append((called, value, done.code, done.err[-200:], done.out[:50]))
    assert not wrong, "\n".join(map(str, wrong))
    assert set(os.listdir(folder)) == made


CROSSED = {
    "release people.csv --column job --domain a,b --domain-file domains.json --epsilon 1": "--domain or --domain-file",
    "release people.csv --column job --domain a,b --epsilon 1 --json --format csv": "--json",
    "release people.csv --column job --domain a,a --epsilon 1": "--domain must list every value once",
    "release people.csv --column job --domain , --epsilon 1": "--domain must list every value once",
    "release people.csv --column age --domain 5..1 --epsilon 1": "a range of --domain must go up",
    "release people.csv --column age --domain 1..10000000000 --epsilon 1": "a range of --domain must go up and have",
    "release people.csv --column age --domain 1..1000001 --epsilon 1": "at most 1000000 values, got 1..1000001",
    "release people.csv --column age --domain 1..2.5 --epsilon 1": "a range of --domain must be two integers",
    "release people.csv --column age --domain 0,1e3..2 --epsilon 1": "two integers such as 1..5, got 1e3..2",
    "release people.csv --column age --domain 1...5 --epsilon 1": "two integers such as 1..5, got 1...5",
    "release people.csv --column age --domain 1..99999999999999999999 --epsilon 1": "a range of --domain",
    "release people.csv --column age --domain 1..5 --by job --groups 0..1.5 --epsilon 1": "a range of --groups",
    "release people.csv --column job --domain clerk,nurse,smith": "--epsilon",
    "release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --groups a,b": "--groups",
    "release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --max-rows 2": "--unit",
    "release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --first-by age": "--unit",
    "release people.csv --column age --bins age=0:5:1 --domain 1..5 --epsilon 1": "--bins",
    "release people.csv --column job --discover --domain a,b --epsilon 1 --delta 1e-6": "--discover",
    "release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --prior 1 --mechanism laplace": "--prior",
    "release people.csv --column job --domain clerk,nurse,smith --epsilon 1 --report page.txt": "--report",
    "release domains.json --column job --domain clerk,nurse,smith --epsilon 1": "--input-format",
    "release . --column job --domain clerk,nurse,smith --epsilon 1": "directory",
    "release missing.csv --column job --domain clerk,nurse,smith --epsilon 1": "missing.csv",
    "mean people.csv --column age --bounds 5:1 --epsilon 1": "--bounds",
    "mean people.csv --column job --bounds 1:5 --epsilon 1": "column 'job'",
    "mean people.csv --column age --bounds 1:5": "--epsilon",
    "quantile people.csv --column age --bounds 1:5 --epsilon 1 --levels 2": "--levels",
    "calibrate --epsilon 1 --delta 1e-6 --dimension 3 --total 10 --mechanism laplace": "--delta",
    "certify --prior 1,x --n 5 --epsilon 1": "--prior",
    "plan classifier --n 10": "--domains or --like",
    "plan histogram --n 10 --domains 3 --edges a>b": "--edges",
    "plan histogram --n 10 --domains 3 --metric accuracy": "--metric",
    "plan posterior --n 10 --domains 3 --adjacency add_remove": "--adjacency",
    "plan network --n 200 --domains 3,3": "--edges",
    "plan classifier --n 200 --domains 3,3 --delta 0": "--delta",
    "recommend counts --n 10 --dimension 3 --epsilon 1 --delta 1e-6 --metric kl": "--metric",
    "recommend counts --n 10 --dimension 3 --epsilon 1 --delta 1e-6 --tables 3": "--tables and --rows",
    "fit-nb people.csv --target wage --domains domains.json --epsilon 1 --delta 1e-6": "--target",
    "fit-bn people.csv --edge wage>job --domains domains.json --epsilon 1 --delta 1e-6": "--edge",
    "fit-bn people.csv --edge job>job --domains domains.json --epsilon 1 --delta 1e-6": "edge",
    "fit-synth people.csv --domains domains.json --epsilon 1 --delta 1e-320": "--epsilon",
    "fit-nb people.csv --target job --domains domains.json --epsilon 1e-320 --delta 1e-6": "--epsilon",
    "synthesize people.csv --domains domains.json --epsilon 1 --delta 1e-6 --compare 1e-320": "--compare",
    "predict people.csv people.csv": "people.csv",
    "card people.csv --out page.html": "people.csv",
    "ledger people.csv": "people.csv is not a ledger",
    "ledger missing.db": "missing.db",
}
"""Calls whose options do not go together, and what is said of them."""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("call", CROSSED)
def test_options_that_do_not_go_together(simplexdp, call):
    done = simplexdp(*shlex.split(call))
    assert done.code in (REFUSED, USAGE), done.out
    assert CROSSED[call] in done.err
    assert "unexpected" not in done.err
    assert done.out == ""


def test_a_long_value_is_not_repeated_in_full(simplexdp):
    done = simplexdp("release", "people.csv", "--column", "x" * 5000, *JOBS[2:], *BUDGET)
    assert done.code == USAGE
    assert "(5000 characters)" in done.err
    assert len(done.err) < 600


WEAK = {
    "release people.csv --column job --domain clerk,nurse,smith --epsilon 20 --delta 0.01 --mechanism dirichlet": 2,
    "posterior people.csv --column job --domain clerk,nurse,smith --epsilon 20 --mechanism laplace": 1,
    "mean people.csv --column age --bounds 1:5 --epsilon 20": 1,
    "quantile people.csv --column age --bounds 1:5 --epsilon 20": 1,
    "calibrate --epsilon 20 --delta 0.01 --dimension 3 --total 1000": 2,
    "certify --prior 1,1 --n 5 --epsilon 20": 1,
    "recommend counts --n 1000 --dimension 3 --epsilon 20 --delta 0.01": 2,
    "fit-nb people.csv --target job --domains domains.json --epsilon 20 --delta 0.01 --out model.json": 2,
    "fit-bn people.csv --domains domains.json --epsilon 20 --delta 0.01 --out network.json": 2,
    "fit-synth people.csv --domains domains.json --epsilon 20 --delta 0.01 --out model.json": 2,
    "synthesize people.csv --domains domains.json --epsilon 20 --delta 0.01 --out records.csv": 2,
    "ledger new.db --create 20 1e-6": 1,
}
"""Calls with an epsilon above ten, or a delta above one in the number of records too: how often each is to be said."""


@pytest.mark.parametrize("call", WEAK)
def test_a_weak_budget_is_spoken_of_once_for_each_weakness(simplexdp, call):
    done = simplexdp(*shlex.split(call))
    assert done.code == 0, done.err
    said = done.out + done.err
    assert said.count("protects hardly anything") == 1, said
    assert said.count("A delta of one in") + said.count("is at least one in n") == WEAK[call] - 1, said
