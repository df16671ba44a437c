"""pawl for Python: the command pawl, and what harnesses, oracles, search loops and tests import.

    from pawl_perf import harness as pawl       # a harness: @pawl.benchmark(...), pawl.main()
    from pawl_perf.oracle import oracle, serve  # an oracle
    from pawl_perf import evaluate              # judge a kernel: pawl submit as a function
    def test_softmax(pawl): pawl.bench(run)     # the pytest plugin; pytest --pawl-base main judges it

Importing this package imports nothing else. pawl_perf.harness and pawl_perf.oracle are the files that `pawl sdk` writes.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as type checkers know it: importing typing takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from pawl_perf.submit import SubmitError, evaluate, evaluate_async, metrics, noise, reward

__all__ = ["SubmitError", "binary", "evaluate", "evaluate_async", "metrics", "noise", "reward"]


def binary() -> str:
    """The path of the pawl that came with this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pawl")


def __getattr__(name: str) -> Any:
    if name != "binary" and name in __all__:
        import pawl_perf.submit

        return getattr(pawl_perf.submit, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
