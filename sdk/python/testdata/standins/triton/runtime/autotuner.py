"""Stands in for triton's autotuner, which measures with do_bench to choose a config."""

from triton.testing import do_bench


def choose(configs):
    return min(configs, key=lambda config: do_bench(lambda: [config]))
