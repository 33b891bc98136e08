"""Weights exp(log) as integers: e and floor(exp(log) 2^(60 + e)), mpmath at 80 digits."""

import csv
import math
import random
from pathlib import Path

from mpmath import mp, mpf

mp.dps = 80


def main() -> None:
    rng = random.Random(20240601)
    logs = [0.0, -5e-324, -1e-300, -(2.0**-53), -(2.0**-49), -(2.0**-48), -math.log(2), -22710.9, -22711.0]
    logs += [-(k + d) * math.log(2) for k in (0, 1, 2, 5, 1000, 32765) for d in (0.0, 0.4999999, 0.5, 0.5000001)][:-3]
    logs += [-(10 ** rng.uniform(-18, 4.356)) for _ in range(400)]
    path = Path(__file__).parents[1] / "data" / "selection_weights.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["log", "exponent", "mantissa_2_60"])
        for log in logs:
            value = mp.exp(mpf(log))
            exponent = max(0, -int(mp.floor(mp.log(value, 2))))
            writer.writerow([repr(log), exponent, int(mp.floor(value * mpf(2) ** (60 + exponent)))])


if __name__ == "__main__":
    main()
