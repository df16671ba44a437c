from pytest_benchmark.stats import Metadata


class BenchmarkFixture:
    def __init__(self, node, disabled=False):
        self.name, self.fullname, self.disabled, self.stats = node.name, node.nodeid, disabled, None

    def _make_stats(self, iterations):
        self.stats = Metadata(self, iterations, options={})
        return self.stats

    def _make_runner(self, function_to_benchmark, args, kwargs):
        def runner(loops_range, timer=None):
            for _ in loops_range or range(1):
                result = function_to_benchmark(*args, **kwargs)
            duration = 1.0 + len(self.stats.stats.data) if self.stats else 0.0
            return duration if loops_range else (duration, result)

        return runner

    def __call__(self, function_to_benchmark, *args, **kwargs):
        if not self.disabled:
            runner = self._make_runner(function_to_benchmark, args, kwargs)
            runner(range(10))  # calibrates
            stats = self._make_stats(10)
            for _ in range(2):
                stats.update(runner(range(10)))
        return function_to_benchmark(*args, **kwargs)

    def pedantic(self, target, args=(), kwargs=None, setup=None, teardown=None, rounds=1, warmup_rounds=0, iterations=1):
        stats = self._make_stats(iterations)
        loops_range = range(iterations) if iterations > 1 else None
        for n in range(warmup_rounds + rounds):
            runner = self._make_runner(target, args, kwargs or {})
            duration = runner(loops_range) if loops_range else runner(loops_range)[0]
            if n >= warmup_rounds:
                stats.update(duration)
        return target(*args, **(kwargs or {}))
