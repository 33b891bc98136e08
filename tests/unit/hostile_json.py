"""Saved models that are not what they should be."""

import copy
import json


def cut_off_and_replaced(text):
    """Yield texts that no file of a model can be."""
    yield from (text[:end] for end in range(0, len(text) - 1, 17))
    yield from (text.replace("0.", constant, 1) for constant in ("NaN+", "-", "1e999 "))
    yield from (text.replace(': "replace"', ": NaN"), "[" * 100_000, "null", text + "x")


def spoiled(text):
    """Yield a file with every value replaced by what does not belong there, or taken away."""
    good = json.loads(text)

    def paths(value, path=()):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            if isinstance(each, (dict, list)):
                yield from paths(each, (*path, key))

    for path in paths(good):
        for bad in [None, True, -1, "x", [], {}, [[]], [[None]], [{}], 3.7, 10**400, 2**40, [[0.5, 0.5], [1]], ...]:
            content = copy.deepcopy(good)
            holder = content
            for key in path[:-1]:
                holder = holder[key]
            if bad is ...:
                del holder[path[-1]]
            else:
                holder[path[-1]] = bad
            yield json.dumps(content)
