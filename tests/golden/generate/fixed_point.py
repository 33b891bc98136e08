"""Writes data/fixed_point.csv: ln, exp and quotients as integers, from mpmath with 100 digits more than printed.

A row holds the operation, the number b of binary places, one or two operands and floor(f(operands) 2^b), the operands
in units of 2^-b too; all integers in base 36 to keep the file small.
"""

import random
from pathlib import Path

from mpmath import mp, mpf

DATA = Path(__file__).parents[1] / "data" / "fixed_point.csv"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def base36(n: int) -> str:
    """Print an integer in base 36."""
    sign, n, text = "-" if n < 0 else "", abs(n), ""
    while n:
        n, digit = divmod(n, 36)
        text = DIGITS[digit] + text
    return sign + (text or "0")


def operands(rng: random.Random, bits: int) -> list[tuple[str, int, int]]:
    """Return hostile and random operands in units of 2^-bits."""
    one = 1 << bits
    rows = [("ln", n, 0) for n in (1, 2, one - 1, one, one + 1, 2 * one // 3, 4 * one // 3, 2 * one, one << 60)]
    rows += [("ln", max(1, rng.getrandbits(rng.randrange(2, bits + 50))), 0) for _ in range(25)]
    rows += [("exp", n, 0) for n in (0, 1, -1, one, -one, 22 * one, -bits * one, -(bits * one * 69) // 100)]
    rows += [("exp", rng.randrange(-50 * one, 22 * one), 0) for _ in range(15)]
    rows += [("exp", rng.randrange(-one, one) >> rng.randrange(0, bits), 0) for _ in range(10)]
    for _ in range(25):
        a, b = (rng.getrandbits(rng.randrange(2, 2 * bits)) for _ in range(2))
        rows.append(("div", rng.choice([a, -a]), max(1, b)))
    return rows


def value(operation: str, bits: int, a: int, b: int) -> int:
    """Evaluate one row with 100 more digits than it needs."""
    if operation == "div":
        return (a << bits) // b
    with mp.workdps(int((2 * bits + 200) * 0.302) + 100):
        x = mpf(a) / mpf(2) ** bits
        return int(mp.floor((mp.ln(x) if operation == "ln" else mp.exp(x)) * mpf(2) ** bits))


def main() -> None:
    """Write the file."""
    rng = random.Random(20)
    lines = ["operation,bits,a,b,floor"]
    for bits in (128, 256, 512, 1024, 4608):
        chosen = operands(rng, bits)
        for operation, a, b in chosen if bits < 2000 else chosen[::4]:
            lines.append(f"{operation},{bits},{base36(a)},{base36(b)},{base36(value(operation, bits, a, b))}")
    DATA.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
