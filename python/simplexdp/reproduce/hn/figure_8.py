"""[HN] Figure 8: the law of the error at the data (1, 1, 1, 77) under DL(1, 1, 1, 1); see `error_laws`."""

from simplexdp.reproduce.hn.error_laws import error_law_figure


def _why(mean: dict[str, float], _: dict[str, float]) -> str:
    return (
        "We agree with the paper: at the edge the local sensitivity is not far below the global one and saves next "
        f"to nothing ({mean['local']:.3f} against {mean['global']:.3f}, as printed {mean['printed']:.3f}), and the "
        "candidates near the data are few among 91881."
    )


FIGURE = error_law_figure(
    8,
    (1, 1, 1, 77),
    "At the edge of the simplex, too, Laplace noise is clearly better, with good answers far more likely.",
    _why,
)
