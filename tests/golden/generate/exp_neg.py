"""floor(2^bits exp(-numerator/denominator)), mpmath with 100 bits more than asked."""

import csv
import random
from pathlib import Path

from mpmath import mp, mpf


def main() -> None:
    rng = random.Random(20240602)
    cases = [(0, 1, 64), (1, 1, 64), (1, 1, 4000), (1, 10**300, 128), (10**6, 1, 64), (63, 1, 64), (64, 1, 64)]
    for _ in range(300):
        size = rng.choice([8, 64, 600])
        numerator, denominator = rng.getrandbits(size) + 1, rng.getrandbits(size) + 1
        cases.append((numerator * rng.choice([1, 100]), denominator, rng.choice([1, 8, 64, 127, 128, 192, 1000])))
    path = Path(__file__).parents[1] / "data" / "exp_neg.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["numerator", "denominator", "bits", "scaled"])
        for numerator, denominator, bits in cases:
            mp.prec = bits + 100 + 64
            value = mp.exp(-mpf(numerator) / denominator)
            writer.writerow([numerator, denominator, bits, int(mp.floor(value * mpf(2) ** bits))])


if __name__ == "__main__":
    main()
