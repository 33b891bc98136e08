"""A histogram of persons with several records."""

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.exceptions import InvalidParameterError
from simplexdp.models import PrivateHistogram
from simplexdp.testing import SeededRng

pytestmark = pytest.mark.filterwarnings("ignore::simplexdp.InsecureRandomnessWarning")

RNG = np.random.default_rng(5)
VISITS = {
    "patient": RNG.integers(0, 200, 1500).tolist(),
    "ward": RNG.choice(["eye", "ear"], 1500).tolist(),
    "visit": RNG.choice(["first", "second", "third"], 1500).tolist(),
}
WARDS = {"domain": ["first", "second", "third"], "groups": ["eye", "ear"]}


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", ["auto", "dirichlet", "discrete_gaussian"])
@pytest.mark.parametrize("by", [None, "ward"])
def test_all_records_of_a_person_are_hidden(mechanism, adjacency, by):
    histogram = PrivateHistogram(
        **WARDS, epsilon=1.0, delta=1e-6, mechanism=mechanism, adjacency=adjacency, total=300, unit="patient",
        max_rows=2, random_state=SeededRng(1),
    ).fit(VISITS, "visit", by=by)  # fmt: skip
    assert histogram.privacy_.epsilon(1e-6) <= 1.0
    assert "'patient'" in histogram.privacy_.label
    one = PrivateHistogram(
        **WARDS, epsilon=1.0, delta=1e-6, mechanism=type_of(histogram), adjacency=adjacency, total=300
    ).fit(VISITS, "visit", by=by)
    if mechanism == "dirichlet":
        assert histogram.mechanism_.max_rows == 2
    else:
        # Twice the records, twice the noise.
        size = "sigma" if mechanism == "discrete_gaussian" else "scale"
        assert float(getattr(histogram.mechanism_, size)) >= 1.9 * float(getattr(one.mechanism_, size))
        assert histogram.released_.sum() == pytest.approx(400, abs=200)


def type_of(histogram):
    kinds = {sdp.DiscreteLaplaceMechanism: "discrete_laplace", sdp.DiscreteGaussianMechanism: "discrete_gaussian"}
    return kinds.get(type(histogram.mechanism_), "dirichlet")


def test_noise_that_keeps_the_total_is_for_one_record_each():
    kept = PrivateHistogram(WARDS["domain"], unit="patient", max_rows=1, epsilon=1.0).fit(VISITS, "visit")
    assert isinstance(kept.mechanism_, sdp.SumPreservingLaplaceMechanism)
    assert kept.released_.sum() == 200
    with pytest.raises(InvalidParameterError, match="mechanism must hide"):
        PrivateHistogram(WARDS["domain"], unit="patient", max_rows=2, mechanism="sum_preserving_laplace").fit(
            VISITS, "visit"
        )


def test_records_are_bounded_where_dask_holds_them():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame(VISITS), npartitions=2)
    histogram = PrivateHistogram(**WARDS, epsilon=1.0, delta=1e-6, unit="patient", max_rows=2)
    released = histogram.release_on_dask(frame, "visit", by="ward").compute()
    assert len(released) == 2
    assert float(histogram.mechanism_.sensitivity) == 4


def test_a_bound_needs_a_unit():
    with pytest.raises(InvalidParameterError, match="max_rows must be None unless unit"):
        PrivateHistogram(WARDS["domain"], max_rows=2).fit(VISITS, "visit")


def test_a_seed_keeps_the_same_rows_of_persons():
    one, same = (
        PrivateHistogram(**WARDS, unit="patient", max_rows=1, epsilon=5.0, random_state=SeededRng(2))
        .fit(VISITS, "visit", by="ward")
        .released_
        for _ in range(2)
    )
    assert np.array_equal(one, same)
    with pytest.raises(InvalidParameterError, match="random_state must be None"):
        PrivateHistogram(**WARDS, unit="patient", max_rows=1, random_state=2).fit(VISITS, "visit")
