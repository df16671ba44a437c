"""Reference values for the tests of package stats.

Run it as

    python3 reference.py > reference.json

It was made with the versions that stand in reference.json under "made_with" (Debian 12:
Python 3.11.2, NumPy 1.24.2, SciPy 1.10.1). Where SciPy has the function, the value is
SciPy's. Where it has not, it is worked out here from the definition, in the
slowest and plainest way that finishes.
"""

import itertools
import json
import platform
import sys
import warnings

import numpy as np
import scipy
from scipy import optimize, stats

warnings.simplefilter("ignore")

ALTERNATIVES = ["two-sided", "less", "greater"]


def samples():
    """Named sets of values: smooth, rounded to steps of a timer, tied, constant, small."""
    rng = np.random.default_rng(20240229)
    smooth = 60 + rng.standard_normal(100)
    wide = 61.5 + 1.5 * rng.standard_normal(100)
    walk = np.empty(200)
    walk[0] = 0
    for i in range(1, 200):
        walk[i] = 0.8 * walk[i - 1] + rng.standard_normal()
    sets = {
        "smooth100": smooth,
        "smooth99": smooth[:99],
        "wide100": wide,
        "rounded100": np.round(smooth),
        "rounded_wide100": np.round(wide),
        "fine100": np.round(smooth * 8) / 8,
        "skewed80": 60 + rng.exponential(2, 80),
        "walk200": 60 + walk,
        "constant20": np.full(20, 0.1),
        "small5": rng.normal(60, 1, 5),
        "small8": rng.normal(61, 1, 8),
        "small13": rng.normal(60.5, 1, 13),
        "tied7": np.array([60, 61, 61, 62, 62, 62, 63]),
        "tied6": np.array([61, 61, 62, 62, 63, 64]),
        "small4": rng.normal(60, 1, 4),
        "small6": rng.normal(60, 1, 6),
        "small7": rng.normal(60, 1, 7),
    }
    sets["slower4"] = sets["small4"] * 1.02 + 0.1 * np.arange(4)
    return {k: [float(v) for v in x] for k, x in sets.items()}


def describe(x):
    x = np.array(x)
    return {
        "median": np.median(x),
        "p05": np.percentile(x, 5),
        "p95": np.percentile(x, 95),
        "p99": np.percentile(x, 99),
        "mean": x.mean(),
        "sd": x.std(ddof=1),
        "mad": stats.median_abs_deviation(x),
    }


def all_resamples(x, level):
    """The percentile bootstrap of the median over every resample that there is."""
    medians = np.sort(np.median(np.array(list(itertools.product(x, repeat=len(x)))), axis=1))
    tail = (1 - level) / 2

    def at(p):
        return medians[max(int(np.ceil(p * len(medians) - 1e-9)) - 1, 0)]

    return at(tail), at(1 - tail)


def drawn_resamples(x, level):
    r = stats.bootstrap(
        (np.array(x),), np.median, n_resamples=50_000, batch=5_000, confidence_level=level,
        method="percentile", vectorized=True, axis=-1, random_state=np.random.default_rng(42),
    ).confidence_interval
    return r.low, r.high


def cliff(x, y):
    return sum(np.sign(a - b) for a in x for b in y) / (len(x) * len(y))


def autocorrelation(x, lag):
    d = np.array(x) - np.mean(x)
    return float((d[lag:] * d[: len(d) - lag]).sum() / (d * d).sum())


def effective_size(x):
    pairs = itertools.takewhile(
        lambda g: g > 0,
        (autocorrelation(x, k) + autocorrelation(x, k + 1) for k in range(0, len(x) - 1, 2)),
    )
    return len(x) / max(2 * sum(pairs) - 1, 1)


def paired(base, candidate, shift, level):
    d = np.log(np.array(candidate) / np.array(base))
    ci = stats.t.interval(level, len(d) - 1, d.mean(), stats.sem(d))
    return {
        "mean": d.mean(),
        "sd": d.std(ddof=1),
        "t": stats.ttest_1samp(d, shift).statistic,
        "above": stats.ttest_1samp(d, shift, alternative="greater").pvalue,
        "below": stats.ttest_1samp(d, shift, alternative="less").pvalue,
        "low": ci[0],
        "high": ci[1],
    }


def trimmed(x, share):
    """Yuen's test of one sample: that of two, where the other does not vary."""
    test = stats.ttest_ind(x, [60.0] * len(x), equal_var=False, trim=share, alternative="greater")
    return {"mean": stats.trim_mean(x, share), "t": test.statistic, "above": test.pvalue}


def power(shift, sd, n, alpha):
    return stats.nct.sf(stats.t.ppf(1 - alpha, n - 1), n - 1, shift / sd * np.sqrt(n))


def shares(kind, alpha, looks):
    t = np.array(looks) / looks[-1]
    spent = {
        "power 1": lambda: t,
        "power 3": lambda: t**3,
        "obrien-fleming": lambda: 2 * stats.norm.sf(stats.norm.isf(alpha / 2) / np.sqrt(t)) / alpha,
        "pocock": lambda: np.log(1 + (np.e - 1) * t),
    }[kind]()
    return np.diff(spent, prepend=0)


def boundaries(alpha, looks, share):
    """Group-sequential boundaries, by Gauss-Legendre quadrature of the recursion."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    z, mass, n = None, None, None
    bounds = []
    for look, part in zip(looks, share):
        def crossing(b):
            if z is None:
                return stats.norm.sf(b)
            return (mass * stats.norm.sf((b * np.sqrt(look) - z * np.sqrt(n)) / np.sqrt(look - n))).sum()

        b = optimize.brentq(lambda b: crossing(b) - alpha * part, -9, 9, xtol=1e-13)
        bounds.append(b)
        grid = -9 + (b + 9) * (nodes + 1) / 2
        if z is None:
            density = stats.norm.pdf(grid)
        else:
            step = np.sqrt(look - n)
            arg = (grid[:, None] * np.sqrt(look) - z[None, :] * np.sqrt(n)) / step
            density = (stats.norm.pdf(arg) * mass[None, :]).sum(axis=1) * np.sqrt(look) / step
        z, mass, n = grid, density * weights * (b + 9) / 2, look
    return bounds


def holm(ps):
    m = len(ps)
    order = sorted(range(m), key=lambda i: ps[i])
    out = [0.0] * m
    for k, i in enumerate(order):
        out[i] = min(1, max((m - j) * ps[order[j]] for j in range(k + 1)))
    return out


def benjamini_hochberg(ps):
    m = len(ps)
    order = sorted(range(m), key=lambda i: ps[i])
    out = [0.0] * m
    for k, i in enumerate(order):
        out[i] = min(1, min(m / (j + 1) * ps[order[j]] for j in range(k, m)))
    return out


def energy(x, y):
    """q of two sides, from all pairs."""
    n, m = len(x), len(y)
    x, y = np.array(x), np.array(y)
    q = 2 / (n + m) * np.abs(x[:, None] - y).sum()
    if n > 1:
        q -= 2 * m / ((n + m) * (n - 1)) * np.abs(x[:, None] - x).sum() / 2
    if m > 1:
        q -= 2 * n / ((n + m) * (m - 1)) * np.abs(y[:, None] - y).sum() / 2
    return q


def best_split(x):
    found = [(energy(x[:t], x[t:k]), -t) for t in range(1, len(x)) for k in range(t + 1, len(x) + 1)]
    if not found:
        return None
    q, t = max(found)
    return q, -t


def judge(x, y):
    if len(x) + len(y) <= 2:
        return 1.0
    p = stats.ttest_ind_from_stats(np.mean(x), np.std(x), len(x), np.mean(y), np.std(y), len(y)).pvalue
    return 1.0 if np.isnan(p) else float(p)


def change_points(x, window, max_p, min_magnitude, like_otava):
    """Split in windows, then merge, as Apache Otava does.

    When a point goes, the one before it and the one after it are judged again; in Otava
    those are the next two.
    """
    generous = max_p * 10 if max_p < 0.05 else (max_p * 2 if max_p < 0.5 else max_p)
    found, start = set(), 0
    while start < len(x):
        w = x[start : start + window]
        cuts = []
        while True:
            ends = [0] + sorted(cuts) + [len(w)]
            best = [(*s, a, b) for a, b in zip(ends, ends[1:]) if (s := best_split(w[a:b]))]
            if not best:
                break
            q, t, a, b = max(best, key=lambda s: s[0])
            if judge(w[a : a + t], w[a + t : b]) > generous:
                break
            cuts.append(a + t)
        found |= {start + c for c in cuts}
        start = max([start + window // 2] + [start + c for c in cuts])
    points = sorted(found)
    verdicts = [verdict(x, points, i) for i in range(len(points))]
    while points:
        weakest = max(range(len(points)), key=lambda i: verdicts[i]["p"])
        if verdicts[weakest]["p"] < max_p:
            weakest = min(range(len(points)), key=lambda i: magnitude(verdicts[i]))
            if magnitude(verdicts[weakest]) > min_magnitude:
                break
        del points[weakest], verdicts[weakest]
        for i in (weakest, weakest + 1) if like_otava else (weakest - 1, weakest):
            if 0 <= i < len(points):
                verdicts[i] = verdict(x, points, i)
    return verdicts


def verdict(x, points, i):
    a, b, c = ([0] + points + [len(x)])[i : i + 3]
    return {"index": b, "p": judge(x[a:b], x[b:c]), "before": np.mean(x[a:b]), "after": np.mean(x[b:c])}


def magnitude(v):
    return max(abs(v["after"] / v["before"] - 1), abs(v["before"] / v["after"] - 1))


def histories():
    rng = np.random.default_rng(7)
    steps = np.repeat([100, 104, 104, 97, 97, 97, 110], 20) + rng.normal(0, 1, 140)
    return {
        "steps": [float(v) for v in np.round(steps, 3)],
        "rounded": [float(v) for v in np.round(steps)],
        "quiet": [float(v) for v in np.round(rng.normal(60, 1, 90), 3)],
        "close": [float(v) for v in np.round(np.repeat([100, 101, 100.2, 101.2, 100.4], 9) + rng.normal(0, 0.5, 45), 3)],
        "spike": [float(v) for v in np.round(rng.normal(60, 1, 60) + 30 * (np.arange(60) == 31), 3)],
    }


def reference():
    data = samples()
    series = histories()
    ref = {
        "made_with": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "samples": data,
        "series": series,
    }
    ref["describe"] = [{"x": k, **describe(x)} for k, x in data.items()]
    ref["normal_cdf"] = [{"z": z, "p": stats.norm.cdf(z)} for z in [-30, -8, -3.5, -1, 0, 0.3, 2, 5]]
    ref["normal_quantile"] = [
        {"p": p, "z": stats.norm.ppf(p)} for p in [1e-200, 1e-20, 1e-9, 1e-4, 0.025, 0.3, 0.5, 0.9, 0.9995]
    ]
    ref["student"] = [
        {"t": t, "df": df, "p": stats.t.cdf(t, df)}
        for t in [-40, -6, -2.5, -0.1, 0, 1, 3, 9]
        for df in [1, 3, 7, 31, 198, 5000]
    ]
    ref["power"] = [
        {"shift": s, "sd": 0.01, "n": n, "alpha": a, "power": power(s, 0.01, n, a)}
        for s in [0, 0.005, 0.01, 0.03]
        for n in [2, 4, 8, 32, 400]
        for a in [0.05, 0.001]
    ]
    ref["median_law"] = [
        {"x": k, "level": level, "low": ends[0], "high": ends[1]}
        for k in ["small4", "small5", "small6", "tied6"]
        for level in [0.5, 0.8, 0.95, 0.99]
        for ends in [all_resamples(data[k], level)]
    ]
    ref["median_drawn"] = [
        {"x": k, "level": 0.95, "low": ends[0], "high": ends[1]}
        for k in ["smooth99", "smooth100", "fine100", "rounded100"]
        for ends in [drawn_resamples(data[k], 0.95)]
    ]
    pairs = [
        ("smooth100", "wide100"), ("rounded100", "rounded_wide100"), ("small5", "small8"), ("small8", "small5"),
        ("small8", "smooth100"), ("small5", "small13"), ("tied7", "tied6"), ("tied6", "tied7"),
        ("skewed80", "smooth99"), ("constant20", "constant20"), ("small13", "small13"),
    ]
    ref["cliff"] = [{"x": a, "y": b, "delta": cliff(data[a], data[b])} for a, b in pairs]
    ref["mann_whitney"] = [
        {"x": a, "y": b, "alternative": alt, "u": r.statistic, "p": r.pvalue}
        for a, b in pairs
        for alt in ALTERNATIVES
        for r in [stats.mannwhitneyu(data[a], data[b], alternative=alt)]
    ]
    differences = {
        "smooth": (np.array(data["wide100"]) - np.array(data["smooth100"])).tolist(),
        "rounded": (np.array(data["rounded_wide100"]) - np.array(data["rounded100"])).tolist(),
        "small": (np.array(data["small8"]) - 60.4).tolist(),
        "small odd": (np.array(data["small13"]) - 60.4).tolist(),
        "one": [0.5],
        "tied": [1.0, 1.0, -1.0, 2.0, 2.0, 3.0, -3.0, 4.0],
        "zeros": [0.0, 0.0, 1.5, -2.5, 3.25, 4.0, 5.5, -0.5],
    }
    ref["differences"] = differences
    ref["wilcoxon"] = [
        {"d": k, "alternative": alt, "statistic": r.statistic, "p": r.pvalue}
        for k, d in differences.items()
        for alt in ALTERNATIVES
        # SciPy takes ties for the exact method, and newer versions no longer do.
        for r in [stats.wilcoxon(d, alternative=alt, method="approx" if k == "tied" else "auto")]
    ]
    ref["autocorrelation"] = [
        {"x": k, "lag": lag, "r": autocorrelation(data[k], lag)}
        for k in ["walk200", "smooth100", "rounded100"]
        for lag in [0, 1, 2, 17]
    ]
    ref["effective_size"] = [
        {"x": k, "size": effective_size(data[k])} for k in ["walk200", "smooth100", "rounded100", "skewed80"]
    ]
    ref["paired"] = [
        {"base": b, "candidate": c, "shift": s, "level": level, **paired(data[b], data[c], s, level)}
        for b, c in [("smooth100", "wide100"), ("rounded100", "rounded_wide100"), ("small4", "slower4"), ("tied7", "small7")]
        for s in [0.0, float(np.log(1.03))]
        for level in [0.95, 0.999]
    ]
    ref["trimmed"] = [
        {"x": k, "share": share, **trimmed(data[k], share)}
        for k in ["smooth100", "skewed80", "tied7", "small7"]
        for share in [0.0, 0.1, 0.25]
    ]
    looks = [4, 8, 16, 32]
    ref["spending"] = [
        {"kind": k, "alpha": a, "looks": looks, "shares": list(share), "bounds": boundaries(a, looks, share)}
        for a in [0.05, 0.001]
        for k in ["power 1", "power 3", "obrien-fleming", "pocock"]
        if (k, a) != ("obrien-fleming", 0.001)  # its first boundary is beyond the grid
        for share in [shares(k, a, looks)]
    ]
    ref["multiple"] = [
        {"p": ps, "holm": holm(ps), "benjamini_hochberg": benjamini_hochberg(ps)}
        for ps in [[0.01, 0.04, 0.03, 0.005], [0.5], [0.2, 0.2, 0.01, 1.0, 0.0], [0.9, 0.04, 0.8]]
    ]
    ref["q_values"] = [
        {"series": k, "q": [0.0] + [energy(x[:t], x[t:]) for t in range(1, len(x))]}
        for k, x in series.items()
        if k != "steps"
    ]
    ref["change_points"] = [
        {
            "series": k, "window": w, "max_p": p, "min_magnitude": m, "like_otava": like,
            "points": change_points(x, w, p, m, like),
        }
        for k, x in series.items()
        for w, p, m in [(30, 0.001, 0.0), (20, 0.05, 0.0), (20, 0.01, 0.05)]
        for like in [False, True]
    ]
    return ref


def plain(v):
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, (np.floating, np.integer)):
        return v.item()
    return v


if __name__ == "__main__":
    json.dump(plain(reference()), sys.stdout, separators=(",", ":"))
    print()
