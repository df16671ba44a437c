# Makes posterior.json: the model's answers by another program, once. Needs numpy and scipy.
#   python3 posterior.py > posterior.json
# One normal distribution over all gains: covariances are sums over what two gains have in
# common, the answer is the textbook's formula for a conditional normal distribution.
import json
import numpy as np
from scipy.stats import multivariate_normal

RULE, RULE_SD, LEVEL, LESSON, LESSON_SD = 0.7, 0.35, 0.03, 0.15, 0.2
scales = dict(fix=0.07, slope=0.2, **{"class": 0.05}, gpu=0.03, noise=0.09, kernel=0.3)
rng = np.random.default_rng(28)

def place(kernel=None):
    claims = {}
    for lesson in range(3):
        if rng.random() < 0.3:
            claims[f"lesson{lesson}"] = round(float(rng.uniform(-0.1, 0.6)), 3)
    k = kernel if kernel is not None else int(rng.integers(12))
    return dict(fix=f"fix{rng.integers(6)}", **{"class": f"class{k % 3}"}, gpu=f"sm_{80 + k % 2}",
                kernel=f"kernel{k}", prior=round(float(rng.uniform(0, 0.4)), 3), claims=claims)

def departs(p):
    return {l: (g - RULE * p["prior"]) / len(p["claims"]) for l, g in p["claims"].items()}

def common(a, b):
    v = LEVEL**2 + RULE_SD**2 * a["prior"] * b["prior"]
    same = lambda k: a[k] == b[k]
    v += LEVEL**2 * same("class") + LEVEL**2 * same("gpu")
    if same("fix"):
        v += scales["fix"]**2 + scales["slope"]**2 * a["prior"] * b["prior"]
        v += scales["class"]**2 * same("class") + scales["gpu"]**2 * same("gpu")
    da, db = departs(a), departs(b)
    v += sum(LESSON_SD**2 * da[l] * db[l] for l in da if l in db)
    if same("kernel"):
        v += scales["kernel"] * scales["noise"]**2
        if same("fix") and same("class") and same("gpu"):
            v += (1 - scales["kernel"]) * scales["noise"]**2
    return v

def mean(p):
    return RULE * p["prior"] + LESSON * sum(departs(p).values())

seen, outcomes = set(), []
while len(outcomes) < 40:
    p = place()
    key = (p["fix"], p["class"], p["gpu"], p["kernel"])
    if key in seen:
        continue
    seen.add(key)
    outcomes.append(dict(p, gain=round(float(rng.normal(0.1, 0.15)), 4), error=round(float(rng.uniform(0.01, 0.06)), 4)))
asked = [place(kernel=3) for _ in range(8)] + [place(kernel=99) for _ in range(4)]

K = np.array([[common(a, b) for b in outcomes] for a in outcomes])
K += np.diag([o["error"]**2 + 0.01**2 for o in outcomes])
m = np.array([mean(o) for o in outcomes])
y = np.array([o["gain"] for o in outcomes])
C = np.array([[common(a, b) for b in outcomes] for a in asked])
P = np.array([[common(a, b) for b in asked] for a in asked])
gains = np.array([mean(a) for a in asked]) + C @ np.linalg.solve(K, y - m)
covariance = P - C @ np.linalg.solve(K, C.T)
evidence = multivariate_normal(m, K).logpdf(y) + len(y) / 2 * np.log(2 * np.pi)
for a, g, v in zip(asked, gains, np.diag(covariance)):
    a.update(expected=float(g), variance=float(v))
print(json.dumps(dict(scales=scales, outcomes=outcomes, asked=asked, evidence=float(evidence)), indent=1))
