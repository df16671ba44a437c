"""The pytest plugin: a fixture that measures, and records as pawl_perf.record does.

    def test_softmax(pawl):
        x = torch.rand(4096)
        pawl.bench(lambda: softmax(x))

The case is named after the test and its parameters. With PAWL_SAMPLES=FILE its samples are written there.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from typing import Any, Callable, Dict, List

import pytest

from pawl_perf import record

_SHORT_S = 100e-6  # shorter runs are measured in batches of at least this
_MAX_BATCH = 1 << 20
_measured: Dict[str, List[float]] = {}  # of this session: a process has one


class Pawl:
    """What the fixture pawl gives a test."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def bench(self, run: Callable[[], Any], *, name: str = "", samples: int = 20) -> List[float]:
        """Measures run and returns its samples, in seconds for one run. name tells two of one test apart."""
        if samples < 1:
            raise ValueError(f"pawl.bench: samples is at least 1, not {samples}")
        case, times = self._case(name), _measure(run, samples)
        _measured[case] = times
        kept = record.start()
        if kept is not None:
            kept.add(case, {}, (self._node.nodeid, name), times)
        return times

    def _case(self, name: str) -> str:
        path, _, test = self._node.nodeid.partition("::")
        test, bracket, params = test.replace("::", ".").partition("[")
        stem = path.rsplit("/", 1)[-1]
        case = (stem[: -len(".py")] if stem.endswith(".py") else stem) + "." + test
        parts = [case, params.rstrip("]") if bracket else "", name]
        return "/".join(part for part in parts if part)


def _measure(run: Callable[[], Any], samples: int) -> List[float]:
    """Samples of the wall clock. With a GPU each sample waits for it."""
    torch: Any = sys.modules.get("torch")
    wait = torch.cuda.synchronize if torch is not None and torch.cuda.is_available() else _nothing
    clock = time.perf_counter

    def batch(size: int) -> float:
        wait()
        before = clock()
        for _ in range(size):
            run()
        wait()
        return clock() - before

    batch(1)  # what only the first run does: compiling, loading, allocating
    size = 1
    while batch(size) < _SHORT_S and size < _MAX_BATCH:
        size *= 2
    collecting = gc.isenabled()
    gc.disable()
    try:
        return [batch(size) / size for _ in range(samples)]
    finally:
        if collecting:
            gc.enable()


def _nothing() -> None:
    pass


@pytest.fixture(name="pawl")
def _pawl(request: Any) -> Pawl:
    """Measures: pawl.bench(run)."""
    return Pawl(request.node)


def pytest_configure() -> None:
    record.start()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not _measured:
        return
    kept = record.recorder()
    terminalreporter.section("pawl")
    for case, times in _measured.items():
        terminalreporter.write_line(f"{case}  {statistics.median(times) * 1e6:.4g} us, median of {len(times)}")
    terminalreporter.write_line(f"samples: {kept.path}" if kept is not None else f"samples are not kept: set {record.VARIABLE}=FILE")
