"""A stand-in for triton.testing: a measured function returns how many milliseconds it is to take."""
import random


def _summarize_statistics(times, quantiles, return_mode):
    return sorted(times)[len(times) // 2]


def do_bench(fn, warmup=25, rep=100, quantiles=None, return_mode="mean"):
    ms = fn()
    return _summarize_statistics([ms * (1 + 0.002 * random.random()) for _ in range(9)], quantiles, return_mode)


class Benchmark:
    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args):
        self.__dict__.update(locals())


class Mark:
    def __init__(self, fn, benchmark):
        self.fn, self.benchmark = fn, benchmark

    def _run(self, bench):
        for x in bench.x_vals:
            for line in bench.line_vals:
                self.fn(**dict.fromkeys(bench.x_names, x), **{bench.line_arg: line}, **bench.args)

    def run(self, print_data=False):
        self._run(self.benchmark)


def perf_report(benchmark):
    return lambda fn: Mark(fn, benchmark)
