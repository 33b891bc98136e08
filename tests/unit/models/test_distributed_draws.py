"""Draws on Dask and Spark: never made again for what was delivered, and paid for only when all could be counted."""

import os
import subprocess
import sys

import numpy as np
import pytest

import simplexdp as sdp
from simplexdp.models import PrivateHistogram

dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

LEVELS = ["a", "b", "c"]


def frame(values=LEVELS, rows=60, partitions=3):
    generator = np.random.default_rng(5)
    data = pd.DataFrame({"x": generator.choice(values, rows), "g": generator.integers(0, 4, rows)})
    return dd.from_pandas(data, npartitions=partitions)


def histogram(**options):
    return PrivateHistogram(LEVELS, epsilon=1.0, delta=1e-6, total=60, **options)


def twice(graph, keys, **_):
    """A scheduler that loses the first result of everything, and computes it again."""
    dask.get(graph, keys)
    return dask.get(graph, keys)


def rows(released):
    return released.compute().sort_values("g").reset_index(drop=True)


@pytest.mark.parametrize("stored", [False, True])
def test_a_dask_release_is_the_same_however_often_it_is_computed(tmp_path, stored):
    checkpoint = str(tmp_path / "draws") if stored else None
    released = histogram().release_on_dask(frame(), "x", by="g", groups=[0, 1, 2, 3], checkpoint=checkpoint)
    first = rows(released)
    assert first.shape == (4, 4)
    np.testing.assert_allclose(first[["p0", "p1", "p2"]].sum(axis=1), 1.0)
    with dask.config.set(scheduler=twice):
        pd.testing.assert_frame_equal(rows(released), first)
    pd.testing.assert_frame_equal(rows(released.repartition(npartitions=1)), first)


def test_a_partition_that_is_drawn_twice_counts_as_it_was_stored_first(tmp_path, monkeypatch):
    from simplexdp.mechanisms import DirichletMechanism

    draws = []
    release = DirichletMechanism.release

    def noted(self, table, **options):
        draws.append(release(self, table, **options))
        return draws[-1]

    monkeypatch.setattr(DirichletMechanism, "release", noted)
    folder = str(tmp_path / "draws")
    with dask.config.set(scheduler=twice):
        plain = histogram(mechanism="dirichlet")
        released = plain.release_on_dask(frame(), "x", by="g", groups=[0, 1, 2, 3], checkpoint=folder)
        found = rows(released)
    parts = [name for name in os.listdir(folder) if name.endswith(".parquet")]
    assert sum(len(draw) for draw in draws) == 4
    assert len(parts) == len(os.listdir(folder)) == released.npartitions
    drawn = {tuple(row) for draw in draws for row in draw}
    assert {tuple(row) for row in found[["p0", "p1", "p2"]].to_numpy()} == drawn


def test_an_attempt_that_is_slower_leaves_what_is_stored(tmp_path):
    from simplexdp.models.dask import _read, _stored

    path = str(tmp_path / "part.parquet")
    _stored(pd.DataFrame({"g": [1], "p0": [0.25]}), path)
    _stored(pd.DataFrame({"g": [1], "p0": [0.75]}), path)
    assert _read(path)["p0"].tolist() == [0.25]
    assert os.listdir(tmp_path) == ["part.parquet"]


def test_what_cannot_be_counted_or_stored_is_refused_before_the_debit(tmp_path):
    accountant = sdp.Accountant(5.0, 1e-5)
    paid = histogram(accountant=accountant)
    with pytest.raises(sdp.InvalidDataError):
        paid.release_on_dask(frame([*LEVELS, "SECRET"]), "x", by="g", groups=[0])
    (tmp_path / "file").write_text("")
    for checkpoint in (str(tmp_path), str(tmp_path / "file")):
        with pytest.raises(sdp.InvalidParameterError, match="checkpoint"):
            paid.release_on_dask(frame(), "x", by="g", groups=[0], checkpoint=checkpoint)
    with pytest.raises(sdp.InvalidParameterError, match="by must not"):
        paid.release_on_dask(frame().rename(columns={"g": "p1"}), "x", by="p1", groups=[0])
    assert accountant.debits == 0
    paid.release_on_dask(frame(), "x", by="g", groups=[0], checkpoint=str(tmp_path / "new"))
    assert [row["state"] for row in accountant.spends()] == ["released"]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("mechanism", ["auto", "discrete_laplace", "discrete_gaussian", "dirichlet"])
@pytest.mark.parametrize("who", [{}, {"unit": "p", "max_rows": 2}], ids=["records", "persons"])
def test_every_mechanism_draws_in_the_partitions(mechanism, adjacency, who):
    people = frame().assign(p=1)
    accountant = sdp.Accountant(1.0, 1e-6, adjacency=adjacency)
    plain = histogram(mechanism=mechanism, adjacency=adjacency, accountant=accountant, **who)
    found = rows(plain.release_on_dask(people, "x", by="g", groups=[0, 1, 2, 3, 9]))
    shares = found[["p0", "p1", "p2"]].to_numpy()
    assert shares.shape == (5, 3)
    assert np.all(shares >= 0)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert plain.privacy_.epsilon(1e-6) <= 1.0
    assert ("'p'" in plain.privacy_.label) == bool(who)
    assert [row["state"] for row in accountant.spends()] == ["released"]


def test_workers_that_cannot_draw_are_named_before_the_debit(monkeypatch):
    from simplexdp.frames import workers

    assert workers.answering(("simplexdp", "pyarrow"))(0) == sdp.__version__
    assert workers.answering(("simplexdp", "no_such_package"))(0) == "no no_such_package"
    with pytest.raises(ImportError, match="a worker cannot import no_such_package; install simplexdp"):
        workers.check_answers("1", ["1", "no no_such_package"])
    with pytest.raises(ImportError, match=r"a worker has simplexdp 0.9, and here it is 1;"):
        workers.check_answers("1", ["1", "0.9", "1"])


class Cluster:
    """As a client of Dask's: it computes here, and says what its workers and its scheduler answer."""

    def __init__(self, workers, scheduler=sdp.__version__):
        self.workers, self.scheduler, self.asked = workers, scheduler, []

    def get(self, graph, keys, **_):
        return dask.get(graph, keys)

    def run(self, question, *_):
        self.asked.append(question(0))
        return dict(enumerate(self.workers))

    def run_on_scheduler(self, question, *_):
        return self.scheduler

    def submit(self, question, *arguments, pure):
        from concurrent.futures import Future

        found = Future()
        found.set_result(question(*arguments))
        return found


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (Cluster([sdp.__version__, "no simplexdp"]), "a worker cannot import simplexdp; install simplexdp"),
        (Cluster([sdp.__version__, "0.0.9"]), "a worker has simplexdp 0.0.9, and here it is"),
        (Cluster([sdp.__version__], "no pyarrow"), "the scheduler cannot import pyarrow"),
    ],
)
@pytest.mark.parametrize("who", [{}, {"unit": "p", "max_rows": 2}], ids=["records", "persons"])
def test_a_cluster_of_dask_is_asked_before_the_debit(cluster, message, who):
    people = frame().assign(p=1)
    accountant = sdp.Accountant(5.0, 1e-5)
    model = histogram(accountant=accountant, **who)
    with dask.config.set(scheduler=cluster.get):
        with pytest.raises(ImportError, match=f"nothing was released: {message}"):
            model.release_on_dask(people, "x", by="g", groups=[0])
        if who:
            with pytest.raises(ImportError, match=message):
                model.fit(people, "x")
            with pytest.raises(ImportError, match=message):
                sdp.frames.count_table(people, ["x"], {"x": LEVELS}, **{**who, "unit": "p"})
    assert cluster.asked
    assert accountant.debits == 0


@pytest.mark.parametrize("answers", [[sdp.__version__] * 2, []], ids=["two workers", "none yet"])
def test_a_cluster_that_can_draw_does(answers):
    cluster = Cluster(answers)
    with dask.config.set(scheduler=cluster.get):
        released = histogram().release_on_dask(frame(), "x", by="g", groups=[0, 1])
    assert released.shape[1] == 4
    assert cluster.asked == [sdp.__version__]


def test_what_a_worker_is_asked_needs_no_package_to_be_read():
    """In another Python process that cannot import the package: the question is sent as its code."""
    cloudpickle = pytest.importorskip("cloudpickle")
    from simplexdp.frames import workers

    sent = cloudpickle.dumps(workers.answering(workers.NEEDED)).hex()
    script = f"import sys, pickle; sys.modules['simplexdp'] = None\nprint(pickle.loads(bytes.fromhex('{sent}'))(0))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "no simplexdp", done.stderr


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
def test_on_spark_too(spark, tmp_path, monkeypatch):
    accountant = sdp.Accountant(5.0, 1e-5)
    paid = histogram(accountant=accountant)
    bad = spark.createDataFrame([("SECRET", 0), ("a", 1)] * 5, ["x", "g"])
    good = spark.createDataFrame([("a", 0), ("b", 1)] * 5, ["x", "g"])
    with pytest.raises(Exception, match="must hold values of its domain only"):
        paid.release_on_spark(bad, "x", by="g", groups=[0, 1])
    path = str(tmp_path / "draws")
    (tmp_path / "there").mkdir()
    with pytest.raises(sdp.InvalidParameterError, match="checkpoint"):
        paid.release_on_spark(good, "x", by="g", groups=[0, 1], checkpoint=str(tmp_path / "there"))
    assert accountant.debits == 0
    monkeypatch.setattr("simplexdp.frames.workers.NEEDED", ("simplexdp", "no_such_package"))
    with pytest.raises(ImportError, match="a worker cannot import no_such_package"):
        paid.release_on_spark(good, "x", by="g", groups=[0, 1])
    assert accountant.debits == 0
    monkeypatch.undo()
    released = paid.release_on_spark(good, "x", by="g", groups=[0, 1], checkpoint=path)
    first = sorted(released.collect())
    assert sorted(released.collect()) == sorted(spark.read.parquet(path).collect()) == first
    assert len(first) == 2
    assert accountant.debits == 1


@pytest.mark.filterwarnings("ignore")  # pyspark's own deprecations
@pytest.mark.parametrize("mechanism", ["dirichlet", "discrete_laplace", "discrete_gaussian"])
def test_every_mechanism_bounds_persons_on_spark(spark, mechanism):
    # One person has most rows of a group, all of them alike; everybody else has one.
    busy = [("p0", "a", 0)] * 300
    others = [(f"p{1 + place}", "b", place % 2) for place in range(400)]
    visits = spark.createDataFrame([*busy, *others], ["p", "x", "g"])
    accountant = sdp.Accountant(8.0, 1e-6, unit="p")
    model = PrivateHistogram(
        ["a", "b"], epsilon=8.0, delta=1e-6, total=200, mechanism=mechanism, unit="p", max_rows=2, accountant=accountant
    )
    released = model.release_on_spark(visits, "x", by="g", groups=[0, 1])
    shares = {row["g"]: row["probabilities"] for row in released.collect()}
    assert sorted(shares) == [0, 1]
    # 2 of 202 rows count in the first group; all 300 would be 60 %. Noise of this budget is a few rows.
    assert all(abs(sum(row) - 1) < 1e-9 and row[0] < 0.25 for row in shares.values())
    assert (accountant.debits, model.privacy_.unit) == (1, "p")
    assert model.privacy_.epsilon(1e-6) <= 8.0
