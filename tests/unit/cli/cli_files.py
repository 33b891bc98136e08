"""Records that commands are tried on, and arguments that many tests share."""

import numpy as np

COUNTS = {"clerk": 611, "nurse": 325, "smith": 101}
"""True counts of the jobs, none of which may be seen in what a command prints."""

BUDGET = ("--epsilon", "1", "--delta", "1e-6")
JOBS = ("--column", "job", "--domain", "clerk,nurse,smith")


def people():
    """Return records as CSV: every job so often as `COUNTS` says, regions and ages at random."""
    generator = np.random.default_rng(1)
    jobs = generator.permutation(np.repeat(list(COUNTS), list(COUNTS.values())))
    regions = generator.choice(["north", "south"], len(jobs))
    ages = generator.integers(1, 6, len(jobs))
    rows = [f"{id},{job},{region},{age}" for id, (job, region, age) in enumerate(zip(jobs, regions, ages, strict=True))]
    return "\n".join(["id,job,region,age", *rows]) + "\n"
