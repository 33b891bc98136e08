"""[HN] Figure 5: the law of the error at the data (49, 49) under DL(1, 1); see `error_laws`."""

from simplexdp.reproduce.hn.error_laws import EPSILON, error_law_figure


def _why(mean: dict[str, float], cost: dict[str, float]) -> str:
    return (
        "The paper's finding comes back with its formulas as printed: an exponent of epsilon over the local "
        f"sensitivity has {mean['printed']:.3f}, {'less' if mean['printed'] < mean['laplace'] else 'more'} than "
        f"Laplace noise, but costs {cost['printed']:.2f} by exact certification, not {EPSILON}. With the 1/2, the "
        f"local version has {mean['local']:.3f} at a cost of {cost['local']:.2f}. Certified to be {EPSILON}-private, "
        f"and pure, the error is {mean['certified']:.3f}; Laplace noise of sensitivity 1 has {mean['laplace_1']:.3f}."
    )


FIGURE = error_law_figure(
    5,
    (49, 49),
    "With two categories the exponential mechanism is better than Laplace noise, in experiment and in theory: good "
    "answers are more likely, bad ones less.",
    _why,
)
