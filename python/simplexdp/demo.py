"""The main job on a bundled data set: a private histogram, truth beside release, and what it guarantees.

Run it with ``python -m simplexdp.demo``.
"""

from __future__ import annotations

import numpy as np

import simplexdp as sdp
from simplexdp.datasets import EMPLOYMENT_DURATION, german_credit

EPSILON, DELTA = 1.0, 1e-6


def main() -> None:
    """Print the histogram of a public data set beside its private release."""
    codes = german_credit()["employment_duration"]
    levels = list(EMPLOYMENT_DURATION)
    counts = sdp.frames.count_table({"duration": codes}, ["duration"], {"duration": levels})

    total = len(codes)
    mechanism = sdp.DirichletMechanism.calibrated(EPSILON, DELTA, len(levels), total=total, loss="kl")
    released = mechanism.release(counts)
    estimate = mechanism.debias(released, total, project=True)

    print("How long 1000 applicants for a loan have been employed (South German Credit, public data)\n")
    print(f"{'':<18}{'truth':>8}{'release':>10}{'debiased':>10}")
    for code, p, y, e in zip(levels, counts / total, released, estimate, strict=True):
        bar = "#" * round(40 * y)
        print(f"{EMPLOYMENT_DURATION[code]:<18}{p:>8.3f}{y:>10.3f}{e:>10.3f}  {bar}")

    exact = mechanism.privacy.epsilon(DELTA)
    print(f"\nDrawn from Dirichlet(r * counts + a) with r = {mechanism.scale:.4g}, a = {float(mechanism.prior):.4g}.")
    print(f"Guarantee: ({EPSILON:g}, {DELTA:g})-differential privacy when one record is replaced; exactly,")
    print(f"epsilon = {exact:.6f} at delta = {DELTA:g}, the sampler's own error included.")
    print(f"Largest error of this release: {np.abs(released - counts / total).max():.3f}")


if __name__ == "__main__":
    main()
