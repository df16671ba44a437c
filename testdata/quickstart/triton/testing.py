import random

import triton


def _summarize_statistics(times, quantiles, return_mode):
    return sum(times) / len(times)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    triton.cost = 0.0
    fn()
    times = [triton.cost * (1 + 0.002 * random.random()) for _ in range(20)]
    return _summarize_statistics(times, quantiles, return_mode)
