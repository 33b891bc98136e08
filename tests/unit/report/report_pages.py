"""Pages for the tests of the report, some of them with text that means harm."""

import numpy as np

import simplexdp as sdp
from simplexdp.report import release_report

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onload='x",
    "</style></title></table>",
    "&lt;b&gt; &amp;",
    "x" * 500,
    "a\x00\x08\x85b\ud800\uffff",
    "\u202eright to left\u202c",
    "été 漢字 😀",
    "<!-- ]]> {{7*7}} ${7}",
    "",
    None,
    3.5,
]


def page_of(labels, *, curve=None, guarantee=None, values=None, **more):
    d = len(labels)
    values = np.full(d, 1 / d) if values is None else np.asarray(values)
    return release_report(
        labels=labels,
        values=values,
        lower=values * 0.8,
        upper=np.minimum(values * 1.25, 1),
        level=0.95,
        curve=curve or sdp.PrivacyCurve.gaussian(sigma=5.0),
        guarantee={"delta": 1e-6} if guarantee is None else guarantee,
        **{"parameters": {"scale": 0.5}, **more},
    )
