"""What simplexdp raises and warns of.

```text
SimplexDpError
+-- InvalidParameterError (also ValueError)   a public parameter breaks its rule
+-- InvalidDataError      (also ValueError)   private data break a rule; never quotes them
+-- BudgetExceededError                       the release would cost more than what is left
+-- LedgerError           (also OSError)      an accountant's ledger is missing, damaged or another one
+-- NotAffordableError                        an exhaustive computation is too large
+-- NumericalError        (also ArithmeticError)   promised accuracy could not be reached
+-- EntropyError          (also OSError)      the operating system gave no entropy

UserWarning
+-- InsecureRandomnessWarning                 a seeded generator stands where a secure one belongs
+-- PrivacyLeakWarning                        something public was inferred from private data
+-- WeakGuaranteeWarning                      a budget that protects hardly anything
```
"""

__all__ = [
    "BudgetExceededError",
    "EntropyError",
    "InsecureRandomnessWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "LedgerError",
    "NotAffordableError",
    "NumericalError",
    "PrivacyLeakWarning",
    "SimplexDpError",
    "WeakGuaranteeWarning",
]


class SimplexDpError(Exception):
    """Base class of every error that simplexdp raises on purpose."""


class InvalidParameterError(SimplexDpError, ValueError):
    """A public parameter breaks its rule: the message names it, the rule and the value."""


class InvalidDataError(SimplexDpError, ValueError):
    """Private data break a rule: the message names the argument and the rule, never the data."""


class BudgetExceededError(SimplexDpError):
    """A release was refused, before anything was drawn, because it would exceed the budget."""


class LedgerError(SimplexDpError, OSError):
    """The ledger of an accountant cannot be used, so nothing may be released on its account."""


class NotAffordableError(SimplexDpError):
    """Enumeration or certification would be too large: says what was asked, the limit, what to use instead."""


class NumericalError(SimplexDpError, ArithmeticError):
    """A numerical routine could not reach the accuracy that it promises."""


class EntropyError(SimplexDpError, OSError):
    """The operating system delivered no entropy. Nothing was released; there is no fallback."""


class InsecureRandomnessWarning(UserWarning):
    """Seeded randomness was used for a release: reproducible, and not private."""


class PrivacyLeakWarning(UserWarning):
    """Something that should be public, a domain for instance, was inferred from private data."""


class WeakGuaranteeWarning(UserWarning):
    """A budget protects hardly anything: a delta of one in n or more, an epsilon above 10."""
