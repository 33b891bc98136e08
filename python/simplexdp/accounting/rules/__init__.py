"""Rules of budgets: what may still be spent when the next cost depends on earlier answers.

A rule is chosen when a book is opened and never changes. It turns states into states: a book keeps one short text, and
a debit takes as long as the first one whatever the history. See docs/theory/budgets.md for the proofs.

================  ==========================================================================================
``"pure"``        epsilons add up (and chances to tell everything, where delta > 0)
``"gaussian"``    a pair is held and moved by what each spend needs; Gaussian noise costs what it must
``"renyi"``       Renyi divergences add up at one order
``"units"``       releases of one named curve are counted
``"planned"``     tight composition; valid only if no cost depends on an answer, which the caller promises
================  ==========================================================================================
"""

import json
from typing import Any, Literal, get_args

from simplexdp._arguments import choice, flag
from simplexdp.accounting.curve import Adjacency
from simplexdp.accounting.rules._adaptive import GaussianRule, PureRule, RenyiRule
from simplexdp.accounting.rules._planned import PlannedRule
from simplexdp.accounting.rules._rule import Plan, Rule
from simplexdp.accounting.rules._unit import shown
from simplexdp.accounting.rules._units import UnitsRule
from simplexdp.exceptions import InvalidParameterError, LedgerError

__all__ = ["Plan", "PlannedRule", "Rule", "RuleName", "from_text", "make", "shown"]

RuleName = Literal["auto", "pure", "gaussian", "renyi", "units", "planned"]

_CLASSES: dict[str, type[Rule]] = {
    kind.name: kind for kind in (PureRule, GaussianRule, RenyiRule, UnitsRule, PlannedRule)
}
_SETTINGS = {"gaussian": "slack", "renyi": "order", "units": "curve"}


def make(
    name: RuleName = "auto",
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency = "replace",
    adaptive: bool = True,
    **settings: Any,
) -> Rule:
    """Return the rule of a budget.

    Parameters
    ----------
    name : {"auto", "pure", "gaussian", "renyi", "units", "planned"}, default "auto"
        By default ``"pure"`` where delta is 0 and ``"gaussian"`` otherwise; ``"planned"`` if not `adaptive`.
    epsilon : float
        Budget, above zero.
    delta : float
        Budget, in [0, 1).
    adjacency : {"replace", "add_remove"}, default "replace"
        Of every curve that is spent.
    adaptive : bool, default True
        Whether costs may depend on earlier answers. ``False`` is a promise that they do not; no other rule than
        ``"planned"`` needs it.
    **settings
        ``slack`` of the Gaussian rule: the share of delta for tails heavier than normal ones, 0.01 by default;
        ``order`` of the Renyi rule: by default the best one for Gaussian noise;
        ``curve`` of the rule in units: the curve that is counted.

    Returns
    -------
    Rule

    Examples
    --------
    >>> import simplexdp as sdp
    >>> from simplexdp.accounting import rules
    >>> rule = rules.make(epsilon=1.0, delta=0.0)
    >>> state = rule.debit(rule.start(), [(sdp.PrivacyCurve.pure(0.25), 3)])
    >>> rule.used(state), rule.fits(state, [(sdp.PrivacyCurve.pure(0.5), 1)])
    (0.75, False)
    """
    choice("rule", name, get_args(RuleName))
    adaptive = flag("adaptive", adaptive)
    if name == "auto":
        name = "planned" if not adaptive else "pure" if delta == 0 else "gaussian"
    if adaptive == (name == "planned"):
        raise InvalidParameterError(
            "rule must be 'planned' exactly where adaptive is False, the promise that no cost depends on an answer, "
            f"got {name!r} with adaptive={adaptive}"
        )
    for setting in settings:
        if _SETTINGS.get(name) != setting:
            raise InvalidParameterError(f"{setting} must not be given for the rule {name!r}")
    if name == "units" and "curve" not in settings:
        raise InvalidParameterError("curve must be given for the rule 'units', of rules.make(\"units\", curve=...)")
    return _CLASSES[name](epsilon=epsilon, delta=delta, adjacency=adjacency, **settings)


def from_text(text: str) -> Rule:
    """Return the rule that `Rule.to_text` wrote; nothing in the text is ever executed.

    Parameters
    ----------
    text : str
        As stored.

    Returns
    -------
    Rule
    """
    try:
        stored = json.loads(text)
        kind = _CLASSES[stored.pop("rule")]
        return kind.from_stored(stored)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise LedgerError(f"the rule in the ledger cannot be read: {error}") from error
