"""Parameters that share one line of a docstring keep their own defaults on the API pages.

``epsilon, metric, seed`` with one description is read by griffe as three parameters that all have the default (and,
where the line states no type, the annotation) of the first. An extension of griffe: mkdocs.yml names this file.
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
    typed = {name: bool(kind) for head, _, kind in heads if ", " in head for name in head.rstrip(":").split(", ")}
    if not typed:
        return
    # Not every docstring is shown on a page: those that are not may say what griffe warns of.
    sections = docstring.parse(docstring.parser, **docstring.parser_options, warnings=False)
    docstring.__dict__["parsed"] = sections
    for section in sections:
        if section.kind is not griffe.DocstringSectionKind.parameters:
            continue
        for item in section.value:
            if item.name in typed and item.name in parameters:
                item.value = parameters[item.name].default
                if not typed[item.name]:
                    item.annotation = parameters[item.name].annotation
