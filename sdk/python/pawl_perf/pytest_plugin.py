"""The pytest plugin: a fixture that measures, and an option that lets pawl judge the tests that measure.

    def test_softmax(pawl):
        x = torch.rand(4096)
        pawl.bench(lambda: softmax(x))

The case is named after the test and its parameters. `pytest --pawl-base main` judges it against main; `pawl run -- pytest`
does the same from outside. With PAWL_SAMPLES=FILE the samples are written there.
"""

from __future__ import annotations

import gc
import os
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
        return _measure(run, samples)


def _keep(times: List[float], bench: Pawl, run: Any, *, name: str = "", samples: int = 0) -> None:
    node = bench._node.nodeid
    case = record.case_of_test(node) + ("/" + name if name else "")
    _measured[case] = times
    kept = record.start()
    if kept is not None:
        kept.add(case, {}, (node, name), times)


record.wrap(Pawl, "bench", _keep)  # it measures in turns with another commit, if pawl asks for them


def _measure(run: Callable[[], Any], samples: int) -> List[float]:
    """Samples of the wall clock. With a GPU each sample waits for it."""
    pace = record.here.pace or record.Pace()
    times: List[float] = []
    torch: Any = sys.modules.get("torch")
    wait = torch.cuda.synchronize if torch is not None and torch.cuda.is_available() else _nothing
    clock = time.perf_counter

    def once(size: int) -> float:
        wait()
        before = clock()
        for _ in range(size):
            run()
        wait()
        return clock() - before

    def batch(size: int) -> float:
        return pace.run(len(times), once, size)

    batch(1)  # what only the first run does: compiling, loading, allocating
    size = 1
    while batch(size) < _SHORT_S and size < _MAX_BATCH:
        size *= 2
    collecting = gc.isenabled()
    gc.disable()
    try:
        while len(times) < samples:
            times.append(batch(size) / size)
        return times
    finally:
        if collecting:
            gc.enable()


def _nothing() -> None:
    pass


@pytest.fixture(name="pawl")
def _pawl(request: Any) -> Pawl:
    """Measures: pawl.bench(run)."""
    return Pawl(request.node)


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("pawl").addoption("--pawl-base", metavar="REF", default="", help="judge the tests that measure against this commit, with pawl run")


def pytest_configure(config: Any) -> None:
    record.start()
    base = config.getoption("--pawl-base")
    if not base or os.environ.get(record.VARIABLE):  # pawl itself started this pytest
        return
    if getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput"):
        raise pytest.UsageError("--pawl-base: not with pytest-xdist: measurements at the same time disturb each other")
    from pawl_perf.pytest_judge import Judge

    config.pluginmanager.register(Judge(config, base), "pawl-judge")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not _measured:
        return
    kept = record.start()
    terminalreporter.section("pawl")
    for case, times in _measured.items():
        terminalreporter.write_line(f"{case}  {statistics.median(times) * 1e6:.4g} us, median of {len(times)}")
    terminalreporter.write_line(f"samples: {kept.path}" if kept is not None else f"samples are not kept: set {record.VARIABLE}=FILE")
