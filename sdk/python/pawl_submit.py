"""Judge kernels from Python: one function, kernel in, facts out.

    import pawl_submit

    answer = pawl_submit.evaluate({"matmul.c": source}, suite="examples/matmul-c", stage="quick")
    if answer["status"] == "measured":
        print(answer["speedup"], answer["interval"])
    print(pawl_submit.reward(answer), pawl_submit.noise(answer))

It calls `pawl submit --json`, so the answer is that command's: one flat document. A bad
candidate is an answer, not an exception. Copy this file next to your loop; it needs only pawl
in PATH and Python 3.8. In the package pawl-perf it is pawl_perf.submit, and starts the pawl of
that package.
"""

import asyncio
import json
import math
import os
import subprocess
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Union

__all__ = ["FAILED", "SubmitError", "evaluate", "evaluate_async", "metrics", "noise", "reward"]

Candidate = Union[str, "os.PathLike[str]", Mapping[str, str]]
Answer = Dict[str, Any]

_PAWL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pawl") if __name__ == "pawl_perf.submit" else "pawl"


FAILED = -2.0  # the reward of a candidate that does not build, run or compute the right result
_MOST = math.log(10)  # a larger gain waits for a person: mistakes look like that more often than kernels do


class SubmitError(Exception):
    """pawl could not judge the candidate: no suite, no git repository, no device, no time left."""


def reward(answer: Answer) -> float:
    """Returns the natural logarithm of the speed-up: 0 for the base's code, 0.69 for twice as fast, -0.69 for half as fast.

    A candidate that does not build, run or compute the right result gets FAILED, and nothing measured gets less. It is
    relative to the base of all attempts, so rewards of one suite can be compared. It has the noise of the measurement:
    see noise.
    """
    status = answer["status"]
    if status in ("compiled", "passed"):
        raise ValueError(f"stage {answer['stage']} measures nothing: use quick or full")
    if status == "refused" and answer.get("left_s") == 0:
        raise SubmitError(answer.get("reason", ""))
    if status == "identical":
        return 0.0
    return min(max(math.log(answer["speedup"]), FAILED), _MOST) if status == "measured" and answer.get("speedup") else FAILED


def noise(answer: Answer) -> float:
    """Returns half the width of the 95 % confidence interval of the reward. It is 0 if nothing was measured.

    Two rewards that differ by less than the sum of their noise may be the same. Stage full has less noise than quick.
    """
    low, high = answer.get("interval") or (1.0, 1.0)
    return math.log(high / low) / 2 if low > 0 else math.inf


def metrics(answer: Answer) -> Dict[str, float]:
    """Returns numbers for search loops that maximize combined_score: the speed-up, or 0 if it failed."""
    value = reward(answer)
    good = answer["status"] in ("measured", "identical")
    return {
        "combined_score": math.exp(value) if good else 0.0,
        "reward": value,
        "noise": noise(answer),
        "correct": float(good),
        "cost_s": float(answer.get("cost_s", 0)),
    }


def evaluate(
    candidate: Optional[Candidate] = None,
    *,
    diff: Optional[str] = None,
    commit: Optional[str] = None,
    suite: "Union[str, os.PathLike[str]]" = ".",
    stage: str = "full",
    budget: float = 60,
    note: str = "",
    pawl: str = "",
) -> Answer:
    """Judges one candidate and returns the answer.

    candidate is a mapping of file names to their text, a folder with such files, or a file of the
    working tree. Names are relative to the suite's folder. diff is the text of a unified diff, and
    commit the name of a commit. Without any of them the working tree is the candidate. suite is the
    suite's folder or file, budget a number of seconds, and pawl the program to start.
    """
    with _Request(candidate, diff, commit, suite, stage, budget, note, pawl) as r:
        done = subprocess.run(r.command, input=r.input, capture_output=True, check=False)
        return _answer(done.stdout, done.stderr)


async def evaluate_async(
    candidate: Optional[Candidate] = None,
    *,
    diff: Optional[str] = None,
    commit: Optional[str] = None,
    suite: "Union[str, os.PathLike[str]]" = ".",
    stage: str = "full",
    budget: float = 60,
    note: str = "",
    pawl: str = "",
) -> Answer:
    """Is evaluate for asyncio. Several at once wait for the device in turn; cancelling one ends its pawl."""
    with _Request(candidate, diff, commit, suite, stage, budget, note, pawl) as r:
        process = await asyncio.create_subprocess_exec(
            *r.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        try:
            out, err = await process.communicate(r.input)
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
        return _answer(out, err)


class _Request:
    """A command line, with the temporary folder of a candidate that is only text."""

    def __init__(
        self,
        candidate: Optional[Candidate],
        diff: Optional[str],
        commit: Optional[str],
        suite: "Union[str, os.PathLike[str]]",
        stage: str,
        budget: float,
        note: str,
        pawl: str,
    ) -> None:
        self.files = candidate if isinstance(candidate, Mapping) else None
        self.folder: "Optional[tempfile.TemporaryDirectory[str]]" = None
        self.input = (diff or "").encode()
        path = os.fspath(suite)
        where, name = (path, "") if os.path.isdir(path) else os.path.split(path)
        self.command: List[str] = [pawl or _PAWL, "-C", where or ".", "submit", "--json", "--stage", stage, "--budget", f"{budget:g}s", "--note", note]
        if name:
            self.command += ["--suite", name]
        if diff is not None:
            self.command += ["--diff", "-"]
        if commit is not None:
            self.command += ["--commit", commit]
        if candidate is not None and self.files is None:
            self.command += ["--", os.path.abspath(os.fspath(candidate))]  # type: ignore[arg-type]

    def __enter__(self) -> "_Request":
        if self.files is None:
            return self
        self.folder = tempfile.TemporaryDirectory(prefix="pawl-candidate-")
        root = self.folder.name
        for name, text in self.files.items():
            path = os.path.normpath(os.path.join(root, name))
            if os.path.isabs(name) or not path.startswith(root + os.sep):
                self.folder.cleanup()
                raise ValueError(f"{name!r} is not a path below the suite's folder")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)
        self.command += ["--", root]
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()


def _answer(out: bytes, err: bytes) -> Answer:
    """Reads the answer. An exit code other than 0 is part of it."""
    try:
        answer = json.loads(out)
    except ValueError:
        raise SubmitError(err.decode(errors="replace").strip() or "pawl submit printed no answer") from None
    if answer.get("status") == "error":
        raise SubmitError(answer.get("reason", ""))
    return dict(answer)
