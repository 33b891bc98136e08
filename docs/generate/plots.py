"""Write the pictures of ``docs/plots.md``: ``python docs/generate/plots.py``.

Draws are seeded, so that the pictures stay the same until something changes. The pictures of the report need a
headless chromium; without one they stay as they are.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import simplexdp as sdp
from simplexdp.plots.style import panels, style
from simplexdp.report import release_report
from simplexdp.testing import SeededRng

OUT = Path(__file__).resolve().parents[1] / "plots"
COUNTS = [1412, 893, 650, 500, 345, 150, 50]
LABELS = ["Engineering", "Care", "Education", "Trade and transport", "Administration", "Agriculture", "Other"]
COMPARED = ["dirichlet", "discrete_gaussian", "discrete_laplace", "sum_preserving_laplace", "posterior_draw"]


PHONE = 3.5
"""Inches, which a phone shows a little larger: letters have their own size there, and larger ones on a desk."""

TICKS, CELLS = 9.5, 6.8
"""Points of labels of ticks, whose exponents have 0.7 of it, and of what stands in the cells of a map."""


def narrow(height: float = 3.0) -> Any:
    """Return axes that a phone shows at their own size."""
    with style():
        return panels(width=PHONE, height=height)[1][0, 0]


def save(name: str, axes: Any) -> None:
    """Write a plot as SVG, without the date."""
    with style():
        axes.tick_params(which="both", labelsize=TICKS)
        axes.figure.savefig(OUT / f"{name}.svg", metadata={"Date": None})


def released() -> tuple[sdp.DirichletMechanism, Any]:
    """Return the mechanism and the release that the page shows."""
    total = sum(COUNTS)
    mechanism = sdp.DirichletMechanism.calibrated(
        epsilon=1.0, delta=1e-6, dimension=len(COUNTS), total=total, loss="l1"
    )
    return mechanism, mechanism.release(COUNTS, rng=SeededRng(4))


def draw() -> None:
    """Draw every function of `simplexdp.plots` once."""
    mechanism, y = released()
    curves = {
        "dirichlet": mechanism.privacy,
        "gaussian": sdp.PrivacyCurve.gaussian(sigma=5.0),
        "three gaussian": 3 * sdp.PrivacyCurve.gaussian(sigma=5.0),
        "pure": sdp.PrivacyCurve.pure(1.0),
    }
    save("privacy-curve", sdp.plots.privacy_curve(curves, ax=narrow()))
    save(
        "tradeoff",
        sdp.plots.tradeoff({"gaussian, sigma 1": sdp.PrivacyCurve.gaussian(sigma=1.0)} | curves, ax=narrow(4.65)),
    )

    accountant = sdp.Accountant(1.0, 1e-6, adaptive=False)
    for label, sigma in (("ages", 15.0), ("income by region", 20.0), ("postcodes", 12.0), ("ages, again", 15.0)):
        accountant.spend(sdp.PrivacyCurve.gaussian(sigma=sigma), on=label)
    save("budget", sdp.plots.budget(accountant, ax=narrow()))

    lower, upper = mechanism.interval(y, sum(COUNTS)).T
    save("release", sdp.plots.release(y, lower, upper, labels=LABELS, level=0.95, ax=narrow()))

    epsilons = (0.1, 0.3, 1.0, 3.0, 10.0)
    tables = [sdp.compare(1000, 20, e, 1e-6, "l1", mechanisms=COMPARED, samples=300) for e in epsilons]
    save("error-against-epsilon", sdp.plots.error_against_epsilon(tables, ax=narrow()))
    found = sdp.comparison.winners([100, 1000, 10**4, 10**5], [2, 10, 100, 1000])
    winners = sdp.plots.winner_map(found, ax=narrow(3.2))
    for text in winners.texts:
        text.set_fontsize(CELLS)
    save("winner-map", winners)

    save("plan", sdp.plots.plan(sdp.plan("histogram", n=1000, domains=10), ax=narrow(3.4)))

    hellinger = sdp.HellingerMechanism(prior=[1, 1, 1], n=20, epsilon=0.8)
    save(
        "ternary",
        sdp.plots.ternary(hellinger, [10, 6, 4], labels=["red", "green", "blue"], show_truth=True, ax=narrow()),
    )


def photograph() -> None:
    """Write pictures of the report, light on a desk and dark on a phone, where there is a browser."""
    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium: the pictures of the report stay as they are")
        return
    mechanism, y = released()
    lower, upper = mechanism.interval(y, sum(COUNTS)).T
    page = release_report(
        labels=LABELS,
        values=y,
        lower=lower,
        upper=upper,
        level=0.95,
        curve=mechanism.privacy,
        guarantee={"epsilon": 1.0, "delta": 1e-6},
        parameters={"mechanism": "dirichlet", "scale": mechanism.scale, "prior": mechanism.prior},
        title="Occupations in the survey",
    )
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        (where / "page.html").write_text(page, encoding="utf-8")
        (where / "phone.html").write_text(
            '<body style="margin:0"><iframe src="page.html" style="border:0;width:360px;height:900px"></iframe></body>'
        )
        shots = [("report", "page.html", "900,900", "1"), ("report-phone", "phone.html", "360,900", "0")]
        for name, file, size, scheme in shots:
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            command += [f"--user-data-dir={where / 'profile'}", f"--window-size={size}"]
            command += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={OUT / name}.png"]
            subprocess.run([*command, (where / file).as_uri()], check=True, capture_output=True, timeout=180)


def main() -> int:
    """Write all pictures."""
    OUT.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdp.InsecureRandomnessWarning)
        draw()
        photograph()
    return 0


if __name__ == "__main__":
    sys.exit(main())
