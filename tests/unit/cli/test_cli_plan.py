"""``simplexdp plan``: what a file of domains says cuts the stand-in as it cuts what is released."""

import json

import pytest


@pytest.fixture
def files(folder):
    rows = [f"{'clerk' if i % 3 else 'smith'},{18 + i % 50}" for i in range(300)]
    (folder / "staff.csv").write_text("job,age\n" + "\n".join(rows) + "\n", encoding="utf-8")

    def domains(**stated):
        (folder / "staff.json").write_text(json.dumps(stated), encoding="utf-8")
        return ["--like", "staff.csv", "--domains", "staff.json", "--n", "300", "--epsilons", "2"]

    return domains


@pytest.mark.parametrize(
    "age, levels", [({"bins": 5, "bounds": [18, 68]}, 5), ({"edges": [18, 30, 68], "null": True}, 3)]
)
def test_numbers_of_the_stand_in_are_cut_by_the_bins_of_the_file(simplexdp, files, age, levels):
    done = simplexdp("plan", "groups", *files(job=["clerk", "smith"], age=age))
    assert done.code == 0, done.err
    assert f"histograms of {levels} categories in 2 groups" in done.out
    assert "stand-in table of 300 records" in done.out


def test_values_that_the_file_does_not_list_need_a_level_that_the_command_can_give(simplexdp, files):
    given = ["plan", "groups", *files(job=["clerk"], age={"bins": 5, "bounds": [18, 68]})]
    refused = simplexdp(*given)
    assert refused.code == 1
    assert "--other NAME" in refused.err
    assert "smith" not in refused.err
    done = simplexdp(*given, "--other", "rest")
    assert done.code == 0
    assert "in 2 groups" in done.out
    missing = simplexdp("plan", "groups", "--n", "9", "--domains", "2,2", "--other", "rest")
    assert missing.code == 2
    assert "--other and --null need a file of --domains" in missing.err


def test_an_epsilon_above_ten_is_warned_of_once(simplexdp):
    done = simplexdp("plan", "histogram", "--n", "100", "--domains", "3", "--epsilons", "1,20")
    assert done.err.count("epsilon above 10") == 1
    assert simplexdp("plan", "histogram", "--n", "100", "--domains", "3", "--epsilons", "1,9").err == ""
