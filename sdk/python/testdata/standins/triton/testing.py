"""Stands in for triton.testing. Times are milliseconds: those of fn, if it returns a list of them."""

import statistics


def _summarize_statistics(times, quantiles, return_mode):
    if quantiles is not None:
        ordered = sorted(times)
        return [ordered[int(q * (len(times) - 1))] for q in quantiles]
    if return_mode == "all":
        return times
    return {"min": min, "max": max, "mean": statistics.mean, "median": statistics.median}[return_mode](times)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return _summarize_statistics(fn(), quantiles, return_mode)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    fn()
    return _summarize_statistics(fn(), quantiles, return_mode)


class Benchmark:
    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, **looks):
        self.x_names, self.x_vals, self.line_arg, self.line_vals = x_names, x_vals, line_arg, line_vals
        self.line_names, self.plot_name, self.args = line_names, plot_name, args


class Mark:
    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def _run(self, bench, save_path, show_plots, print_data, diff_col=False, save_precision=6, **kwargs):
        for x in bench.x_vals:
            row = [self.fn(**{name: x for name in bench.x_names}, **{bench.line_arg: y}, **bench.args, **kwargs) for y in bench.line_vals]
            print(bench.plot_name, x, *row)

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        for bench in self.benchmarks if isinstance(self.benchmarks, list) else [self.benchmarks]:
            self._run(bench, save_path, show_plots, print_data, **kwargs)


def perf_report(benchmarks):
    return lambda fn: Mark(fn, benchmarks)
