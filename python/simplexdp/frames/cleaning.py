"""Text as people type it, made alike by public rules before it is compared with a domain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simplexdp import _arguments as check
from simplexdp.exceptions import InvalidParameterError

__all__ = ["Cleaning", "with_spellings"]

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True)
class Cleaning:
    """Public rules that make spellings of one value the same; values that are no text stay as they are.

    In this order: Unicode normalisation, spaces, case, replacements, the map. What is empty then is missing. The rules
    are public: choose them without looking at private data. The levels of a domain may be written in any spelling:
    ``Domain(["Flu"], clean=Cleaning(fold=True))`` holds ``"FLU"`` too, under the name ``"Flu"``.

    Parameters
    ----------
    trim : bool, default True
        Whether spaces at both ends go, and several in a row become one.
    fold : bool, default False
        Whether case is folded: ``"FLU"`` and ``"Flu"`` become ``"flu"``, ``"Straße"`` becomes ``"strasse"``.
    unicode : {"NFC", "NFD", "NFKC", "NFKD"} or None, default "NFC"
        Which form letters with accents, ligatures and wide digits get.
    replace : mapping of str to str, optional
        Regular expressions and what takes their place, in order.
    values : mapping of str to str or None, optional
        What whole values, as they are by then, stand for; None makes them missing.

    Examples
    --------
    >>> from simplexdp.frames import Cleaning
    >>> clean = Cleaning(fold=True, replace={r"[^a-z ]": ""}, values={"influenza": "flu", "n a": None})
    >>> clean("  INFLUENZA. "), clean("n  a"), clean(7)
    ('flu', None, 7)
    """

    trim: bool = True
    fold: bool = False
    unicode: str | None = "NFC"
    replace: Mapping[str, str] = field(default_factory=dict, hash=False)
    values: Mapping[str, str | None] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check.flag("trim", self.trim)
        check.flag("fold", self.fold)
        if self.unicode is not None:
            check.choice("unicode", self.unicode, FORMS)
        for name in ("replace", "values"):
            if not isinstance(getattr(self, name), Mapping):
                raise InvalidParameterError(f"{name} must map text to text, got {type(getattr(self, name)).__name__}")
        if not all(isinstance(key, str) and isinstance(to, (str, type(None))) for key, to in self.values.items()):
            raise InvalidParameterError("values must map text to text or None")
        patterns = []
        for pattern, text in self.replace.items():
            try:
                patterns.append((re.compile(pattern), text))
                patterns[-1][0].sub(text, "")
            except (re.error, TypeError, IndexError) as error:
                raise InvalidParameterError(
                    f"replace must map regular expressions to text, got {pattern!r}: {error}"
                ) from None
        object.__setattr__(self, "_patterns", patterns)

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON can hold them, which `from_json` reads."""
        return {
            "trim": self.trim,
            "fold": self.fold,
            "unicode": self.unicode,
            # In order: an object of JSON has none.
            "replace": [list(rule) for rule in self.replace.items()],
            "values": dict(self.values),
        }

    @classmethod
    def from_json(cls, content: Any) -> Cleaning:
        """Return what `to_json` wrote. Its regular expressions are run on the text that is cleaned.

        Examples
        --------
        >>> from simplexdp.frames import Cleaning
        >>> clean = Cleaning(fold=True, replace={r"[.]$": ""})
        >>> Cleaning.from_json(clean.to_json()) == clean
        True
        """
        names = {"trim", "fold", "unicode", "replace", "values"}
        if not isinstance(content, Mapping) or set(content) != names:
            raise InvalidParameterError(f"clean must be an object with the members {sorted(names)!r}")
        rules = content["replace"]
        pairs = isinstance(rules, list) and all(isinstance(rule, list) and len(rule) == 2 for rule in rules)
        if not pairs or not all(isinstance(text, str) for rule in rules for text in rule):
            raise InvalidParameterError("replace must be a list of pairs of text")
        return cls(**{**content, "replace": dict(rules)})

    def __call__(self, value: Any) -> Any:
        """Return the value by the rules, None for a text that is empty then."""
        if not isinstance(value, str):
            return value
        if self.unicode is not None:
            value = unicodedata.normalize(self.unicode, value)  # type: ignore[arg-type]
        if self.trim:
            value = " ".join(value.split())
        if self.fold:
            value = value.casefold()
        for pattern, text in self._patterns:  # type: ignore[attr-defined]
            value = pattern.sub(text, value)
        if self.trim and self.replace:
            value = " ".join(value.split())
        found = self.values.get(value, value)
        return found if found else None

    def only_spelling(self) -> Cleaning:
        """Return the rules without replacements and the map: what is left makes no other value of one."""
        return Cleaning(trim=self.trim, fold=self.fold, unicode=self.unicode)

    def leaves(self, text: str) -> bool:
        """Whether some value may become this text; with regular expressions nothing is known, and it may."""
        return bool(self.replace) or self(text) == text or text in self.values.values()


def with_spellings(codes: Mapping[Any, int], clean: Cleaning | None) -> dict[Any, int]:
    """Return the codes of levels by what values are after cleaning.

    A level that no value becomes as it is written, ``"Flu"`` where case is folded, is found by what its own text
    becomes. Every other level is found as it is written, and comes first.

    Raises
    ------
    InvalidParameterError
        When two levels are spellings of one value: one of them would never have a record. What a map makes another
        level is listed on purpose, and has none.
    """
    found = dict(codes)
    if clean is None:
        return found
    spelling, left = clean.only_spelling(), []
    for level, code in codes.items():
        text = clean(level) if isinstance(level, str) else None
        if text is None or text == level:
            continue
        if clean.leaves(level) or spelling(level) != text:
            left.append((text, code))  # what the level is by itself, or by its spelling alone, comes first
            continue
        if text in found:
            other = next(each for each, place in codes.items() if place == found[text])
            raise InvalidParameterError(
                f"domain must list every value once, and {other!r} and {level!r} are one after its cleaning"
            )
        del found[level]
        found[text] = code
    for text, code in left:
        found.setdefault(text, code)
    return found
