"""Parameters keep their own defaults on the API pages.

``epsilon, metric, seed`` with one description is read by griffe as three parameters that all have the default (and,
where the line states no type, the annotation) of the first; and of ``metric : {"kl", "l1"}`` it says that the first is
the default, whatever the signature says. An extension of griffe: mkdocs.yml names this file.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class GroupedParameters(griffe.Extension):
    """Give every parameter of a docstring the default of its own place in the signature."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Look at everything that has a docstring."""
        self._look(pkg)

    def _look(self, thing: Any) -> None:
        if thing.is_alias:
            return
        parameters = getattr(thing, "parameters", None)
        if thing.docstring is not None and parameters is not None:
            told_apart(thing.docstring, parameters)
        for member in thing.members.values():
            self._look(member)


OF_KIND = re.compile(r",? ?(optional|default:? .*)$")
"""What a line says behind the type."""

OCTAL, BRACES = re.compile(r"default:? (0o[0-7]+)$"), re.compile(r"[{}]")


def told_apart(docstring: griffe.Docstring, parameters: Any) -> None:
    """Correct what the parameters of one docstring were given."""
    heads = [line.partition(" : ") for line in docstring.lines]
    kinds = {name: OF_KIND.sub("", kind) for head, _, kind in heads for name in names_of(head)}
    stated = {name: OCTAL.search(kind) for head, _, kind in heads for name in names_of(head)}
    shared = {name for head, _, _ in heads if ", " in head for name in names_of(head)}
    # Not every docstring is shown on a page: those that are not may say what griffe warns of.
    sections = docstring.parse(docstring.parser, **docstring.parser_options, warnings=False)
    docstring.__dict__["parsed"] = sections
    for section in sections:
        if section.kind is not griffe.DocstringSectionKind.parameters:
            continue
        for item in section.value:
            kind = kinds.get(item.name, "")
            choices = kind.startswith("{")
            # Those of a data class are not in a signature of its own.
            signed = item.name in parameters
            if signed and (item.name in shared or choices):
                item.value = parameters[item.name].default
            if found := stated.get(item.name):
                # The signature has its number, which nobody reads as permissions.
                item.value = found.group(1)
            if choices:
                item.annotation = " or ".join(BRACES.sub("", kind).replace("'", '"').split(", "))
            elif "," in kind or "-" in kind:
                # Griffe takes a list of words for a tuple, and a hyphen for a difference.
                item.annotation = kind
            elif signed and item.name in shared and not kind:
                item.annotation = parameters[item.name].annotation


def names_of(head: str) -> list[str]:
    """Return the parameters of one line."""
    return head.strip().rstrip(":").split(", ")
