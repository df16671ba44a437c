"""Evolves matmul.c: mutate the best kernel so far, let pawl judge the child, keep it if it leads.

    pawl submit grant --trust trusted
    PYTHONPATH=../../sdk/python python3 evolve.py 200

Every generation is a line of results/evolve.jsonl. Called again, it goes on from there.
"""

import json
import os
import random
import sys

import pawl_submit

EDITS = [  # of the source: one may help, two do not, and two are mistakes that every search makes
    ("#include <string.h>\n", '#pragma GCC optimize("unroll-loops")\n#include <string.h>\n'),
    ("float *restrict c", "float *c"),
    ("int p = 0; p < n; p += BLOCK_K", "int p = 0; p + BLOCK_K < n; p += BLOCK_K"),
    ("static int least", "static itn least"),
    ("always_inline", "noinline"),
]
GENES = {
    "BLOCK_M": [8, 16, 32, 64, 128],
    "BLOCK_N": [16, 32, 64, 128, 256],
    "BLOCK_K": [16, 32, 64],
    "UNROLL": [1, 2, 4, 8],
    "EDIT": [None] + list(range(len(EDITS))),
}
BASE = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "UNROLL": 1, "EDIT": None}
LOG = "results/evolve.jsonl"


def source(genes):
    with open("matmul.c", encoding="utf-8") as f:
        text = f.read()
    if genes["EDIT"] is not None:
        text = text.replace(*EDITS[genes["EDIT"]])
    return "".join(f"#undef {k}\n#define {k} {v}\n" for k, v in genes.items() if k != "EDIT") + text


def evolve(generations, pawl="pawl", seed=0):
    os.makedirs("results", exist_ok=True)
    done = [json.loads(line) for line in open(LOG, encoding="utf-8")] if os.path.exists(LOG) else []
    best = next((d["genes"] for d in reversed(done) if d["leads"]), BASE)
    for n in range(len(done), generations):
        chance = random.Random(seed * 1_000_003 + n)
        child = dict(best)
        for gene in chance.sample(sorted(GENES), chance.choice([1, 1, 2])):
            child[gene] = chance.choice([v for v in GENES[gene] if v != child[gene]])
        answer = pawl_submit.evaluate({"matmul.c": source(child)}, stage="quick", note=str(child), pawl=pawl)
        leads = answer["best"] == answer["id"]
        best = child if leads else best
        with open(LOG, "a", encoding="utf-8") as log:
            print(json.dumps({"genes": child, "leads": leads, "reward": pawl_submit.reward(answer), "answer": answer}), file=log)
    return best


if __name__ == "__main__":
    print(json.dumps(evolve(int(sys.argv[1]), *sys.argv[2:3])))
