"""The operating system as a ledger file sees it."""

from types import ModuleType

__all__ = ["system"]

system: ModuleType
try:
    from simplexdp.accounting.ledger import posix
except ImportError:
    from simplexdp.accounting.ledger import windows

    system = windows
else:
    system = posix
