from pytest_benchmark.stats import Metadata


class BenchmarkFixture:
    def __init__(self, node, disabled=False):
        self.name, self.fullname, self.disabled, self.stats = node.name, node.nodeid, disabled, None

    def _make_stats(self, iterations):
        self.stats = Metadata(self, iterations, options={})
        return self.stats

    def __call__(self, function_to_benchmark, *args, **kwargs):
        if not self.disabled:
            stats = self._make_stats(10)
            for duration in (1.0, 2.0):
                stats.update(duration)
        return function_to_benchmark(*args, **kwargs)

    def pedantic(self, target, args=(), kwargs=None, setup=None, teardown=None, rounds=1, warmup_rounds=0, iterations=1):
        stats = self._make_stats(iterations)
        for n in range(rounds):
            stats.update(1.0 + n)
        return target(*args, **(kwargs or {}))
