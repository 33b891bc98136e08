"""Parameters keep their own defaults on the API pages.

``epsilon, metric, seed`` with one description is read by griffe as three parameters that all have the default (and,
where the line states no type, the annotation) of the first; and of ``metric : {"kl", "l1"}`` it says that the first is
the default, whatever the signature says. An extension of griffe: mkdocs.yml names this file.
"""

from __future__ import annotations

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


def told_apart(docstring: griffe.Docstring, parameters: Any) -> None:
    """Correct what the parameters of one docstring were given."""
    heads = [line.partition(" : ") for line in docstring.lines]
    kinds = {name: kind.strip().removesuffix(", optional") for head, _, kind in heads for name in head.strip().rstrip(":").split(", ")}
    shared = {name for head, _, _ in heads if ", " in head for name in head.strip().rstrip(":").split(", ")}
    if not any(name in shared or kinds.get(name, "").startswith("{") for name in (item.name for item in parameters)):
        return
    # Not every docstring is shown on a page: those that are not may say what griffe warns of.
    sections = docstring.parse(docstring.parser, **docstring.parser_options, warnings=False)
    docstring.__dict__["parsed"] = sections
    for section in sections:
        if section.kind is not griffe.DocstringSectionKind.parameters:
            continue
        for item in section.value:
            kind = kinds.get(item.name, "")
            choices = kind.startswith("{") and kind.endswith("}")
            if item.name not in parameters or not (item.name in shared or choices):
                continue
            item.value = parameters[item.name].default
            if choices:
                item.annotation = " or ".join(kind[1:-1].replace("'", '"').split(", "))
            elif not kind:
                item.annotation = parameters[item.name].annotation
