"""advise ranks by exact variance, before anybody is asked anything."""

import math

import numpy as np
import pytest

import murmure as mu

# math.md section 2, "Var* at N=1e5, k=128 (the lecture's figure)"
VAR_STAR = {
    0.5: {"GRR": 3.033194e-03, "SUE": 1.591693e-04, "OUE": 1.567079e-04, "BLH": 1.667079e-04, "OLH": 1.581740e-04,
          "SubsetSelection": 1.541144e-04},
    1.0: {"GRR": 4.359648e-04, "SUE": 3.917698e-05, "OUE": 3.682694e-05, "BLH": 4.682694e-05, "OLH": 3.691655e-05,
          "SubsetSelection": 3.609788e-05},
    math.log(3): {"GRR": 3.225e-04, "SUE": 3.232051e-05, "OUE": 3e-05, "BLH": 4e-05, "OLH": 3e-05,
                  "SubsetSelection": 2.937744e-05},
    2.0: {"GRR": 3.267735e-05, "SUE": 9.206736e-06, "OUE": 7.240617e-06, "BLH": 1.724062e-05, "OLH": 7.245914e-06,
          "SubsetSelection": 6.970968e-06},
    3.0: {"GRR": 4.010499e-06, "SUE": 3.697105e-06, "OUE": 2.205640e-06, "BLH": 1.220564e-05, "OLH": 2.205650e-06,
          "SubsetSelection": 2.014698e-06},
    4.0: {"GRR": 6.286569e-07, "SUE": 1.810154e-06, "OUE": 7.602183e-07, "BLH": 1.076022e-05, "OLH": 7.602285e-07,
          "SubsetSelection": 5.842426e-07},
    5.0: {"GRR": 1.262794e-07, "SUE": 9.742241e-07, "OUE": 2.731869e-07, "BLH": 1.027319e-05, "OLH": 2.731874e-07,
          "SubsetSelection": 1.262794e-07},
}  # fmt: skip
DETAIL = {0.5: ("g = 3", "w = 48"), 1.0: ("g = 4", "w = 34"), 2.0: ("g = 8", "w = 15"), 3.0: ("g = 21", "w = 6"),
          4.0: ("g = 56", "w = 2"), 5.0: ("g = 149", "w = 1")}  # fmt: skip


def test_the_lectures_figure_is_one_call():
    """Var* of every oracle at N = 1e5, k = 128, with the best g and w, to the printed digits."""
    advice = mu.advise(mu.Categories(128), list(VAR_STAR), 100_000, rank_by="var-star")
    rows = {(r["epsilon"], r["mechanism"]): r for r in advice.rows}

    for epsilon, expected in VAR_STAR.items():
        for name, value in expected.items():
            assert rows[epsilon, name]["var_star"] == pytest.approx(value, rel=2e-6), (epsilon, name)
        assert rows[epsilon, "HadamardResponse"]["var_star"] == pytest.approx(expected["BLH"], rel=2e-6)
        if epsilon in DETAIL:
            assert (rows[epsilon, "OLH"]["detail"], rows[epsilon, "SubsetSelection"]["detail"]) == DETAIL[epsilon]


def test_rows_are_ranked_and_the_first_of_each_epsilon_is_best():
    advice = mu.advise(mu.Categories(16), [0.5, 2.0], 1000, rank_by="worst")
    for epsilon in (0.5, 2.0):
        block = [r for r in advice.rows if r["epsilon"] == epsilon]

        assert [r["worst_variance"] for r in block] == sorted(r["worst_variance"] for r in block)
        assert [r["best"] for r in block] == [True] + [False] * (len(block) - 1)


def test_the_mean_over_values_needs_no_knowledge_of_the_shares():
    """Variances are straight lines in the shares, which sum to one."""
    k = 12
    weights = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    unknown = {r["mechanism"]: r for r in mu.advise(mu.Categories(k), 1.0, 500).rows}
    known = {r["mechanism"]: r for r in mu.advise(mu.Categories(k), 1.0, 500, shares=weights).rows}

    for name in unknown:
        assert unknown[name]["mean_variance"] == pytest.approx(known[name]["mean_variance"], rel=1e-12)
        assert known[name]["worst_variance"] <= unknown[name]["worst_variance"] * (1 + 1e-12)


def test_grr_gives_way_to_oue_where_the_closed_form_says():
    """Var*: GRR beats OUE exactly while k < 3 e^eps + 2 (10.2 at eps 1)."""
    for k in (10, 11):
        rows = {r["mechanism"]: r["var_star"] for r in mu.advise(mu.Categories(k), 1.0, 1000).rows}

        assert (rows["GRR"] < rows["OUE"]) == (k < 3 * math.e + 2)


def test_numbers_are_ranked_by_the_variance_of_their_mean():
    """On [-1, 1] at eps 1: Duchi 4.683 at the middle, hybrid 4.289 everywhere, in units of width 2, per person."""
    rows = {r["mechanism"]: r for r in mu.advise(mu.Interval(-1.0, 1.0), 1.0, 1, rank_by="worst").rows}
    grid = (1023 / 1024) ** 2  # the grid's midpoints span slightly less than the interval

    assert rows["Duchi"]["worst_variance"] == pytest.approx(4.682694 * grid, rel=1e-4)
    assert rows["Hybrid"]["worst_variance"] == pytest.approx(4.288992 * grid, rel=1e-3)
    assert rows["Hybrid"]["best"]
    assert rows["Hybrid"]["var_star"] is None


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"domain": 128}, "advise.domain"),
        ({"people": 0}, "advise.people"),
        ({"people": 2.5}, "advise.people"),
        ({"people": "many"}, "advise.people"),
        ({"epsilon": -1.0}, "advise.epsilon"),
        ({"epsilon": []}, "advise.epsilon"),
        ({"rank_by": "luck"}, "advise.rank_by"),
        ({"shares": [0.5, 0.2]}, "sum to 1"),
        ({"shares": 1.5}, "between 0 and 1"),
        ({"shares": float("nan")}, "between 0 and 1"),
        ({"statistic": "mean"}, "advise.statistic"),
        ({"statistic": "median"}, "advise.statistic"),
    ],
)
def test_bad_input_is_named(arguments, fragment):
    good = {"domain": mu.Categories(4), "epsilon": 1.0, "people": 100}
    with pytest.raises(mu.MurmureError, match=fragment.replace(".", r"\.")):
        mu.advise(**{**good, **arguments})


def test_the_plot_is_written(tmp_path):
    """A figure for people who would rather look than read."""
    mu.advise(mu.Categories(8), [0.5, 1.0, 2.0], 1000).plot(tmp_path / "figure.svg")

    assert (tmp_path / "figure.svg").read_text().lstrip().startswith("<?xml")
