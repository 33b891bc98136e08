"""Plots show what they are given: the data of the artists, labels, and nothing of a window system."""

import subprocess
import sys

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.comparison import winners
from simplexdp.plots.style import MARKERS, shortened
from simplexdp.testing import SeededRng

pytest.importorskip("matplotlib")

CURVE = sdp.PrivacyCurve.gaussian(sigma=4.0)
HOSTILE = ["<script>", "$x_1$ and $", "a\nb\tc", "été", "y" * 500, "{0} %s \\frac"]


def ink(ax):
    """The share of pixels that are not white."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return float((np.asarray(canvas.buffer_rgba())[..., :3] < 250).any(axis=-1).mean())


def own_axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def test_matplotlib_is_imported_by_the_first_plot_and_pyplot_never():
    code = (
        "import sys, simplexdp as sdp; sdp.plots.privacy_curve; print('matplotlib' in sys.modules);"
        "sdp.plots.privacy_curve(sdp.PrivacyCurve.pure(1.0));"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]


class TestTradeoff:
    def test_points_are_those_of_the_curve_below_the_diagonal(self):
        ax = sdp.plots.tradeoff({"a": CURVE, "b": 3 * CURVE})
        diagonal, *lines = ax.get_lines()
        for line, curve in zip(lines, (CURVE, 3 * CURVE), strict=True):
            fpr, fnr = (np.asarray(values) for values in line.get_data())
            np.testing.assert_array_equal(fnr, curve.tradeoff(fpr))
            np.testing.assert_array_less(fnr, 1 - fpr + 1e-12)
        assert next(text.get_text() for text in ax.get_legend().get_texts()) == "guessing"
        assert len({line.get_linestyle() for line in (diagonal, *lines)}) == 3

    def test_what_is_no_curve_is_refused(self):
        with pytest.raises(sdp.InvalidParameterError, match="curve must be a privacy curve"):
            sdp.plots.tradeoff({})


class TestPrivacyCurve:
    def test_points_lie_on_the_curve_and_reach_both_ends(self):
        ax = sdp.plots.privacy_curve(CURVE)
        (line,) = ax.get_lines()
        epsilon, delta = line.get_data()
        np.testing.assert_array_equal(delta, CURVE.delta(np.asarray(epsilon)))
        assert epsilon[0] == 0
        assert epsilon[-1] == pytest.approx(CURVE.epsilon(1e-12), rel=1e-9)
        assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("epsilon", "delta", "log")
        assert ax.get_title() == CURVE.label
        assert ink(ax) > 0.01

    def test_several_have_a_legend_and_lines_that_differ_without_colour(self):
        curves = {"dirichlet": CURVE, "b": 3 * CURVE, "c": sdp.PrivacyCurve.from_zcdp(0.1)}
        ax = sdp.plots.privacy_curve(curves)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == list(curves)
        assert len({line.get_linestyle() for line in ax.get_lines()}) == 3

    def test_a_band_shows_the_lower_bound_of_a_composition(self):
        total = 3 * CURVE
        (band,) = sdp.plots.privacy_curve(total).collections
        x, y = band.get_paths()[0].vertices.T
        lower, upper = (np.asarray(bound) for bound in total.epsilon_bounds(y))
        np.testing.assert_array_less(0, lower)
        assert np.all(np.minimum(np.abs(x - lower), np.abs(x - upper)) < 1e-6)
        assert len(x) > 60
        assert not sdp.plots.privacy_curve(CURVE).collections

    @pytest.mark.parametrize(
        "curve",
        [
            sdp.PrivacyCurve.pure(1.0),
            sdp.PrivacyCurve.pure(0.0),
            sdp.PrivacyCurve.from_epsilon_delta(0.0, 1e-3),
            sdp.PrivacyCurve.from_epsilon_delta(2.0, 1e-6, adjacency="add_remove"),
            sdp.PrivacyCurve.from_rdp(5.0, 0.1),
            sdp.PrivacyCurve.gaussian(sigma=1e-2),
            sdp.PrivacyCurve.gaussian(sigma=1e6),
            sdp.DirichletMechanism(scale=1.0, prior=1.0, dimension=3).privacy,
        ],
        ids=repr,
    )
    def test_every_kind_of_curve_is_drawn(self, curve):
        ax = sdp.plots.privacy_curve(curve, own_axes())
        epsilon, delta = ax.get_lines()[0].get_data()
        assert np.all(np.isfinite(epsilon))
        assert np.all(np.diff(epsilon) > 0)
        assert np.all((delta >= 0) & (delta <= 1))
        ink(ax)

    def test_other_things_are_refused(self):
        for bad in (1.0, {}, {"a": 2}):
            with pytest.raises(sdp.InvalidParameterError, match="curve"):
                sdp.plots.privacy_curve(bad)
        with pytest.raises(sdp.InvalidParameterError, match="least_delta"):
            sdp.plots.privacy_curve(CURVE, least_delta=0.0)


class TestBudget:
    def test_bars_stand_where_the_total_was(self):
        accountant = sdp.Accountant(1.0, 0.0)
        for count, name in ((1, "ages"), (2, "$incomes$"), (1, "")):
            accountant.spend(sdp.PrivacyCurve.pure(0.125), on=name, count=count)
        assert [total for _, total in accountant.running_total()] == [0.125, 0.375, 0.5]
        ax = sdp.plots.budget(accountant)
        bars = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
        assert bars == [(0.0, 0.125), (0.125, 0.25), (0.375, 0.125), (0.5, 0.5)]
        assert [text.get_text() for text in ax.texts] == ["0.125", "0.25", "0.125", "0.5"]
        names = [text.get_text() for text in ax.get_yticklabels()]
        assert names == ["ages", r"\$incomes\$ x 2", "debit 3", "left"]
        assert ink(ax) > 0.01

    def test_of_many_releases_the_first_are_one_bar_and_a_ledger_file_will_do(self):
        accountant = sdp.Accountant(1.0, 0.0)
        for index in range(40):
            accountant.spend(sdp.PrivacyCurve.pure(2.0**-7), label=f"query {index}")
        assert accountant.debits == 40
        ax = sdp.plots.budget(accountant.path)
        names = [text.get_text() for text in ax.get_yticklabels()]
        assert names[0] == "first 23 releases"
        assert names[1:] == [*(f"query {index}" for index in range(23, 40)), "left"]
        assert ax.patches[0].get_width() == 23 / 128
        assert accountant.running_total(2) == accountant.running_total()[-2:]

    def test_an_empty_and_a_spent_budget(self):
        accountant = sdp.Accountant(1.0, 0.0)
        assert [bar.get_width() for bar in sdp.plots.budget(accountant).patches] == [1.0]
        accountant.spend(sdp.PrivacyCurve.pure(1.0))
        ax = sdp.plots.budget(accountant, own_axes())
        assert [bar.get_width() for bar in ax.patches] == [1.0, 0.0]
        ink(ax)


class TestRelease:
    def test_bars_and_intervals_are_the_numbers_given(self):
        values, lower, upper = [0.5, 0.2, 0.3], [0.45, 0.21, 0.0], [0.6, 0.3, 0.2]
        ax = sdp.plots.release(values, lower, upper, labels=["a", 2, None], level=0.9)
        assert [bar.get_width() for bar in ax.patches] == values
        segments = np.array(ax.collections[0].get_segments())
        np.testing.assert_array_equal(segments[:, :, 0], np.stack([lower, upper], axis=1))
        assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "2", "None"]
        assert {text.get_text() for text in ax.get_legend().get_texts()} == {"released", "90 % interval"}
        assert ink(ax) > 0.05

    @pytest.mark.parametrize("size", [1, 40, 41, 1000])
    def test_any_number_of_categories(self, size):
        values = np.full(size, 1 / size)
        ax = sdp.plots.release(values, values / 2, values * 2)
        assert len(ax.patches) == (size if size <= 60 else 41)
        assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1)
        assert ink(ax) > 0.03

    def test_hostile_labels_are_plain_text(self):
        ax = sdp.plots.release(np.full(6, 1 / 6), labels=HOSTILE)
        ink(ax)
        assert all(len(text.get_text()) <= 32 for text in ax.get_yticklabels())

    @pytest.mark.parametrize(
        "arguments",
        [
            ([[0.5, 0.5]],),
            ([],),
            ([0.5, np.nan],),
            ([0.5, 0.5], [0.1, 0.1]),
            ([0.5, 0.5], [0.1], [0.2]),
            ([0.5, 0.5], None, None, ["a"]),
        ],
    )
    def test_what_does_not_fit_is_refused(self, arguments):
        with pytest.raises(sdp.InvalidParameterError):
            sdp.plots.release(*arguments)


class TestErrors:
    def test_comparisons_become_one_line_for_each_mechanism(self):
        names = ["dirichlet", "discrete_gaussian", "discrete_laplace"]
        tables = [sdp.compare(300, 4, e, 1e-6, mechanisms=names, samples=30) for e in (2.0, 0.5, 1.0)]
        ax = sdp.plots.error_against_epsilon(tables)
        by_label = {line.get_label().lower().replace(" ", "_"): line for line in ax.get_lines()}
        assert set(by_label) == set(names)
        for name, line in by_label.items():
            assert list(line.get_xdata()) == [0.5, 1.0, 2.0]
            assert list(line.get_ydata()) == [tables[i].row(name).error for i in (1, 2, 0)]
            assert line.get_marker() == MARKERS[name]
        assert ax.get_title() == "n = 300, 4 categories, delta = 1e-06"
        assert ax.get_ylabel() == "mean kl error"
        assert ink(ax) > 0.01

    def test_given_series(self):
        ax = sdp.plots.error_against_epsilon({"a": ([2, 1], [0.1, 0.2]), "b": ([1, 2], [0.3, 0.2], [0.01, 0.02])})
        assert [list(line.get_ydata()) for line in ax.get_lines()] == [[0.2, 0.1], [0.3, 0.2]]
        np.testing.assert_allclose(np.array(ax.collections[1].get_segments())[:, :, 1], [[0.28, 0.32], [0.16, 0.24]])
        ink(ax)

    def test_what_does_not_belong_together_is_refused(self):
        one, other = (sdp.compare(n, 4, 1.0, 1e-6, mechanisms=["dirichlet"], samples=10) for n in (10, 20))
        for bad in ([], [one, other], {}, {"a": ([1, 2], [1])}, {"a": ([1, 2],)}):
            with pytest.raises(sdp.InvalidParameterError, match="data"):
                sdp.plots.error_against_epsilon(bad)


def test_the_map_names_every_winner():
    found = winners([100, 1000], [2, 5, 50], metric="l1", samples=40, mechanisms=["dirichlet", "discrete_laplace"])
    ax = sdp.plots.winner_map(found)
    texts = np.array([text.get_text() for text in ax.texts]).reshape(2, 3)
    for (row, column), text in np.ndenumerate(texts):
        name, ratio = text.rsplit("\n", 1)
        assert name.lower().replace("\n", "_") == found.winner[row, column]
        assert ratio == ("tie" if found.tied[row, column] else f"{found.margin[row, column]:.2f}x")
    assert len(ax.patches) == found.tied.sum()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["100", "1,000"]
    assert ink(ax) > 0.3


class TestTernary:
    mechanism = sdp.HellingerMechanism(prior=[1, 1, 1], n=8, epsilon=1.0)

    def test_tiles_are_the_candidates_in_the_colour_of_their_probability(self):
        ax = sdp.plots.ternary(self.mechanism, [5, 2, 1], labels=HOSTILE[:3])
        (tiles,) = ax.collections
        np.testing.assert_array_equal(tiles.get_array(), self.mechanism.probabilities([5, 2, 1]))
        centres = np.array([path.vertices[:6].mean(axis=0) for path in tiles.get_paths()])
        shares = self.mechanism.candidates() / 8
        np.testing.assert_allclose(centres[:, 0], shares[:, 1] + shares[:, 2] / 2, atol=1e-12)
        np.testing.assert_allclose(centres[:, 1], shares[:, 2] * np.sqrt(0.75), atol=1e-12)
        assert ink(ax) > 0.2

    def test_the_data_are_marked_only_when_asked(self):
        assert not sdp.plots.ternary(self.mechanism, [5, 2, 1]).get_lines()
        marks = sdp.plots.ternary(self.mechanism, [5, 2, 1], show_truth=True).get_lines()
        assert [float(x[0]) for x, _ in (mark.get_data() for mark in marks)] == [2 / 8 + 1 / 16] * 2

    def test_three_categories_only(self):
        with pytest.raises(sdp.InvalidParameterError, match="three categories"):
            sdp.plots.ternary(sdp.HellingerMechanism(prior=[1, 1], n=8, epsilon=1.0), [4, 4])
        with pytest.raises(sdp.InvalidParameterError, match="labels"):
            sdp.plots.ternary(self.mechanism, [5, 2, 1], labels=["a"])


def test_the_title_of_a_narrow_map_is_not_cut_off():
    found = sdp.comparison.winners([100, 1000], [2, 10], mechanisms=["dirichlet", "discrete_laplace"], samples=50)
    ax = sdp.plots.winner_map(found)
    ax.figure.draw_without_rendering()
    title, whole = ax.title.get_window_extent(), ax.figure.bbox
    assert whole.x0 <= title.x0 < title.x1 <= whole.x1


def test_a_seeded_release_plots_without_warnings():
    mechanism = sdp.DirichletMechanism(scale=0.5, prior=2.0, dimension=3)
    y = mechanism.release([50, 30, 20], rng=SeededRng(1))
    assert len(sdp.plots.release(y, *mechanism.interval(y, 100).T).patches) == 3


def test_long_names_are_cut_and_line_breaks_become_spaces():
    assert shortened("a\n b") == "a b"
    assert shortened("x" * 40) == "x" * 27 + "…"
