"""Documented commands: found in pages and in the help texts, run in this process, compared with what stands there."""

import re
import shlex
from dataclasses import dataclass

DETERMINISTIC = ("calibrate", "certify", "completion", "--help", "reproduce --list")
"""Commands whose output is compared letter by letter; of the others numbers, bars and blanks are not compared."""


@dataclass
class Step:
    """One command and what a page says that it prints."""

    command: str
    printed: str


def steps(page):
    """Return the commands of all console blocks of a page, in order."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, printed = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL).groups()
            found.append(Step(command.strip(), printed))
    return found


def examples(command):
    """Return the example lines of a command's help."""
    lines = re.sub(r"\\\n\s*", "", command.epilog or "").splitlines()
    return [line.strip() for line in lines if re.match(r"\s*(simplexdp|cat|eval) ", line)]


def run(simplexdp, command, *, folder):
    """Run one command line: ``cat FILE |`` before and ``| head -N``, ``> FILE`` behind are understood."""
    text = re.sub(r"\\\n\s*", "", command)
    text = re.sub(r'^eval "\$\((.*)\)"$', r"\1", text)
    stdin = b""
    piped = re.match(r"cat (\S+) \| (.*)", text)
    if piped:
        stdin, text = (folder / piped[1]).read_bytes(), piped[2]
    text, _, head = text.partition(" | head -")
    text = re.sub(r"\s>>?\s\S+$", "", text)
    program, *arguments = shlex.split(text)
    assert program == "simplexdp"
    done = simplexdp(*arguments, stdin=stdin)
    if head:
        done.out = "".join(done.out.splitlines(keepends=True)[: int(head)])
    return done


def masked(text):
    """Return text without what changes from run to run."""
    text = re.sub(r"\d+-\d+-\d+T[\d:+]+", "TIME", text)
    text = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "N", text)
    text = re.sub(r"#+", "", text)
    return re.sub(r"[ \t]+", " ", text).replace(" \n", "\n")


def first_words(text):
    """Return how the lines of a text begin, in no order."""
    return sorted(line.split()[0] for line in text.splitlines() if line and not line.startswith("="))


def same(command, printed, expected):
    """Whether a command printed what a page says."""
    if any(word in command for word in DETERMINISTIC):
        return printed == expected
    if command.startswith("simplexdp recommend"):
        return printed.partition("\n")[0] == expected.partition("\n")[0]
    if command.startswith("simplexdp compare"):
        # Which mechanism comes first, and after which post-processing, is for the tests of the comparison.
        return first_words(printed) == first_words(expected)
    if command.startswith(("simplexdp synthesize", "simplexdp predict")):
        # Records, and the model, are drawn at random: the header stays, and how many lines there are.
        printed, expected = (re.sub(r"(?m)^(?!\A).*", "RECORD", text) for text in (printed, expected))
    return masked(printed) == masked(expected)


def rewritten(page, printed):
    """Return a page with what its commands print now; for whoever writes it."""
    for step, text in zip(steps(page), printed, strict=True):
        page = page.replace(f"$ {step.command}\n{step.printed}", f"$ {step.command}\n{text}", 1)
    return page
