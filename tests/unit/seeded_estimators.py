"""Private estimators as scikit-learn's checks want them."""

from simplexdp.testing import SeededRng


class SeededByIntegers:
    """Takes the integers that scikit-learn's checks put into `random_state`; the estimators themselves refuse them."""

    def set_params(self, **parameters):
        seed = parameters.get("random_state")
        if isinstance(seed, int) and seed >= 0:
            parameters["random_state"] = SeededRng(seed)
        return super().set_params(**parameters)


def unavoidable(estimator):
    """Failures of scikit-learn's checks that privacy makes unavoidable, each with its reason."""
    if isinstance(estimator, SeededByIntegers):
        return {"check_estimators_overwrite_params": "a SeededRng counts the calls that it has served"}
    return {}
