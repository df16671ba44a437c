"""How long SciPy takes for the percentile bootstrap of the median.

The samples come as a JSON list on standard input. Out comes a JSON object: the
seconds of each repeat, and the interval of the last.
"""

import json
import sys
import time

import numpy as np
from scipy import stats

x = np.array(json.load(sys.stdin))
seconds = []
for repeat in range(7):
    start = time.perf_counter()
    ci = stats.bootstrap(
        (x,), np.median, n_resamples=10_000, confidence_level=0.95, method="percentile",
        vectorized=True, axis=-1, random_state=np.random.default_rng(42),
    ).confidence_interval
    seconds.append(time.perf_counter() - start)
json.dump({"seconds": seconds, "low": ci.low, "high": ci.high}, sys.stdout)
