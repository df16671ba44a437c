"""Record what a Python program measures, without changing it. One file, standard library only, Python 3.8 or later.

    pawl run -- python bench.py

pawl puts this file into a folder of PYTHONPATH as sitecustomize.py, for the command alone, and Python imports it before
the program. Each case becomes one line of the file PAWL_SAMPLES + ".python":

    {"case": "bench.softmax/N4096", "metric": "time", "unit": "s", "better": "lower", "samples": [1.2e-05, ...]}

Beside it, PAWL_SAMPLES + ".python.cpu" gets the CPU time of the thread that measured and of all others meanwhile: pawl binds a
program to one core only if one thread did the work. Libraries start others that spin while they are imported. Where pawl made
the pipes PAWL_SAMPLES + ".python.ask" and ".answer", timeit.Timer waits for its turn before each block, and pytest before each
8 ms of samples: the same program of another commit measures in between. Such a case has "samples_per_turn".

Recorded are do_bench and its variants and perf_report of triton.testing, torch.utils.benchmark.Timer, elapsed_time of
torch.cuda.Event, timeit.Timer, and the fixture of pytest-benchmark. A call inside another recorded call is not recorded,
and neither are the measurements of autotuners.

A case is named after the file, the function that measures, what it measures, the arguments of that function and the variables of the
loops around the call. The line is not part of the name: the name stays when lines are added above. Two lines that give the same name
are told apart by #2, #3. One line that gives the same name again adds samples to its case.

The program runs as before: an error in here becomes a line in a file of notes, and another sitecustomize still runs. The
pytest plugin imports this file as pawl_perf.record, and writes to PAWL_SAMPLES where pawl did not put it in place.
"""

from __future__ import annotations

import atexit
import functools
import json
import math
import os
import re
import sys
import threading
import time
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

__all__ = ["Recorder", "case_of_test", "recorder", "start"]

VARIABLE = "PAWL_SAMPLES"  # names the file

_MAX_CASES, _MAX_SAMPLES, _MAX_NOTES = 10_000, 100_000, 100
_MAX_NAME, _MAX_PARAMS, _MAX_SOURCE = 200, 12, 1 << 20
_TURN = 0.008  # seconds, as sides with a harness have
_LIBRARIES = {"timeit", "triton", "torch", "pytest_benchmark", "functools", "contextlib", "runpy"}  # not who measures
_TUNERS = ("triton.runtime", "torch._inductor", "torch._dynamo")  # measure to choose, not to report
_ONE_LINERS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")

Params = Dict[str, Any]


class Recorder:
    """Collects the samples of one process and writes them when it ends."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.forget()

    def forget(self) -> None:
        """Starts anew in a forked child: the parent writes what it recorded, and its lock may be held forever here."""
        self.lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        self.cases: Dict[str, List[float]] = {}
        self.per_turn: Dict[str, int] = {}  # samples of a turn; 0 if there were none, or of several sizes
        self.names: Dict[Tuple[str, Any], str] = {}  # case and line -> case with its number
        self.lines: Dict[str, int] = {}  # case -> how many lines gave this name
        self.notes: List[str] = []
        self.alone = self.others = 0.0  # CPU seconds during recorded calls: of the thread that measured, and of all others
        self.unseen = False  # some samples are not of such a call
        self.turns = True  # every sample waits for its turn, if there are turns

    def used(self, alone: float, others: float) -> None:
        with self.lock:
            self.alone, self.others = self.alone + alone, self.others + max(others, 0.0)

    def add(self, benchmark: str, params: Params, site: Any, seconds: Iterable[float]) -> None:
        """Adds samples of a case. site is the line that measures."""
        config = _config(params)
        case = _short(_line(benchmark) + ("/" + config if config else ""))
        samples = [float(s) for s in seconds]
        good = [s for s in samples if math.isfinite(s) and s > 0]
        pace = here.pace or Pace()
        with self.lock:
            self.unseen = self.unseen or not pace.seen
            self.turns = self.turns and len(samples) <= pace.blocks
            if len(good) < len(samples):
                self.note(f"{case}: left out {len(samples) - len(good)} times that are not finite numbers above 0")
            if (case, site) not in self.names:
                if len(self.names) >= _MAX_CASES:
                    self.note(f"only the first {_MAX_CASES} cases are recorded")
                    return
                count = self.lines[case] = self.lines.get(case, 0) + 1
                self.names[case, site] = case if count == 1 else f"{case}#{count}"
            kept = self.cases.setdefault(name := self.names[case, site], [])
            self.per_turn[name] = pace.size if self.per_turn.get(name, pace.size) == pace.size else 0
            if len(kept) + len(good) > _MAX_SAMPLES:
                self.note(f"{case}: only the first {_MAX_SAMPLES} samples are recorded")
            kept.extend(good[: _MAX_SAMPLES - len(kept)])

    def note(self, text: str) -> None:
        with self.lock:
            if text not in self.notes and len(self.notes) < _MAX_NOTES:
                self.notes.append(text)

    def write(self) -> None:
        """Appends one line for each case, and the notes to their own file."""
        with self.lock:
            cases = []
            for case, samples in self.cases.items():
                line = {"case": case, "metric": "time", "unit": "s", "better": "lower", "samples": samples}
                turn = {"samples_per_turn": self.per_turn[case]} if self.per_turn[case] else {}
                cases += [json.dumps({**line, **turn}, allow_nan=False)] if samples else []
            notes = [_line(note) for note in self.notes]
            used = [json.dumps({"alone": self.alone, "others": self.others, "unseen": self.unseen, "turns": self.turns})] if cases else []
            self.clear()
        for path, lines in ((self.path, cases), (self.path + ".notes", notes), (self.path + ".cpu", used)):
            if lines:
                fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
                with os.fdopen(fd, "w", encoding="utf-8") as f:
                    f.write("".join(line + "\n" for line in lines))


class Turns:
    """Lets this program and the one it is compared with measure in turns."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.forget()

    def forget(self) -> None:
        """Starts anew in a forked child: the pipes there are its parent's."""
        self.busy = threading.Lock()  # held by the thread whose turn it is; others measure without one
        self.ask, self.answer, self.size = -1, -1, 0  # size: samples of a turn of the other program, a power of 2

    def begin(self, ask: bytes = b"?") -> Any:
        """Waits for the turn and returns it. Without pipes, and inside a turn, there is none. With b"!" it waits for the other programs
        to ask so too: their next calls are measured side by side."""
        if not self.path or not self.busy.acquire(blocking=False):
            return None
        try:
            if self.ask < 0:
                self.ask, self.answer = os.open(self.path + ".ask", os.O_WRONLY), os.open(self.path + ".answer", os.O_RDONLY)
            os.write(self.ask, ask)
            self.size = 1 << int.from_bytes(os.read(self.answer, 1), "big") >> 1
            return self.busy
        except OSError:  # pawl has ended, or did not ask for turns
            self.path = ""
            self.busy.release()
            return None

    def end(self, turn: Any, size: int = 0) -> None:
        if turn is not None and turn is self.busy:  # a forked child has a turn of its parent's
            try:
                os.write(self.ask, bytes([64 + size.bit_length()]) if size else b".")
            except OSError:
                self.path = ""
            turn.release()


class Pace:
    """The turns of one recorded call."""

    def __init__(self, seen: bool = False) -> None:
        self.seen = seen  # the CPU time of the call is known
        self.blocks = 0  # what waits for its turn, or is part of one
        self.size = 0  # samples of a turn, once known
        self.turn: Any = None  # the one that run began
        self.loops, self.shortest = (), math.inf  # of the last run, and the shortest time of a run with these

    def block(self, timeit: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Measures one block in a turn of its own, unless it is part of one."""
        self.blocks, turn = self.blocks + 1, _turns.begin()
        self.size = 1 if turn else self.size
        try:
            return timeit(*args, **kwargs)
        finally:
            _turns.end(turn)

    def run(self, done: int, runner: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Runs the loop of a tool that has taken done samples. As a sample may be short, a turn holds as many as fit, and goes on until
        the next one begins or the call ends. Runs before the first sample, which calibrate and warm up, are turns of their own."""
        self.blocks, loops = self.blocks + 1, args[:1]
        if done and not self.size and self.turn is not None:
            self.size = 1 << min(max(int(math.log2(_TURN / max(self.shortest, 1e-9))), 0), 20)
        if not done or self.size and done % self.size == 0:
            _turns.end(self.turn, self.size)
            self.turn = _turns.begin(b"?" if self.blocks > 1 else b"!")
            self.size = self.size or (_turns.size if self.turn else 0)  # both sides hand over alike
        began = time.perf_counter()
        try:
            return runner(*args, **kwargs)
        finally:
            taken = time.perf_counter() - began
            self.loops, self.shortest = loops, min(taken, self.shortest) if loops == self.loops else taken


# ---- Names ----
def _line(text: str) -> str:
    """One line of printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _short(text: str) -> str:
    """At most _MAX_NAME characters. A name that is cut ends in a digest, so that names stay distinct."""
    if len(text) <= _MAX_NAME:
        return text
    import hashlib

    return text[: _MAX_NAME - 12] + "..." + hashlib.sha256(text.encode(errors="replace")).hexdigest()[:9]


def _config(params: Params) -> str:
    """The parameters as suites write them: N512_dtype-float16. Values that are not plain are left out."""
    parts = []
    for name, value in params.items():
        text = _plain(value)
        if text and len(parts) < _MAX_PARAMS:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            parts.append(name + ("" if number else "-") + re.sub(r"[^A-Za-z0-9.+-]", "-", text))
    return "_".join(parts)


def _plain(value: Any) -> str:
    """The text of a number, a word, a type of elements or the shape of a tensor; "" for all else."""
    if isinstance(value, (bool, int, str)):
        return str(value) if len(str(value)) <= 40 else ""
    if isinstance(value, float):
        return format(value, "g")
    if type(value).__name__ == "dtype":
        return str(value).rsplit(".", 1)[-1]
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(n, int) for n in shape):  # torch.Size is a tuple
        return "x".join(map(str, shape)) if shape else "scalar"
    return ""


def _stem(filename: str) -> str:
    return os.path.splitext(os.path.basename(filename))[0].strip("<>") or "program"


def case_of_test(nodeid: str) -> str:
    """The case of a test of pytest: a/test_it.py::TestGroup::test_sum[4] is test_it.TestGroup.test_sum/4."""
    path, _, test = nodeid.partition("::")
    name, bracket, params = test.replace("::", ".").partition("[")
    return _short(_line(f"{_stem(path)}.{name}" + ("/" + params.rstrip("]") if bracket else "")))


def _callable_name(fn: Any) -> str:
    while isinstance(fn, functools.partial):
        fn = fn.func
    name = getattr(fn, "__name__", "")
    return "" if name.startswith("<") else name


def _caller() -> Optional[FrameType]:
    """The first frame that is neither in here nor in a library that measures; None if an autotuner is on the way."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_TUNERS):
            return None
        ours = frame.f_globals is globals() or module.split(".")[0] in _LIBRARIES
        if not ours and frame.f_code.co_name not in _ONE_LINERS:
            return frame
        frame = frame.f_back
    return None


def _function(code: CodeType) -> str:
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    return "" if name.startswith("<") else name


def _arguments(frame: FrameType, repeats: bool) -> Params:
    """The arguments of a function, then the variables of the loops around its current line. Where a loop over range()
    repeats a measurement, repeats leaves its variable out."""
    code, values = frame.f_code, frame.f_locals
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    for first, last, targets, counts in _loops(code.co_filename, frame):
        if first <= frame.f_lineno <= last and not (counts and repeats):
            names += targets
    return {name: values[name] for name in dict.fromkeys(names) if name in values and not name.startswith("_")}


_parsed: Dict[str, List[Tuple[int, int, List[str], bool]]] = {}


def _loops(filename: str, frame: FrameType) -> List[Tuple[int, int, List[str], bool]]:
    """The for loops of a file: first line, last line, variables, and whether they count with range()."""
    if filename not in _parsed:
        import ast
        import linecache

        found = []
        try:
            source = "".join(linecache.getlines(filename, frame.f_globals))
            tree = ast.parse(source) if len(source) <= _MAX_SOURCE else ast.Module([], [])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.For):
                counts = isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range"
                targets = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
                found.append((node.lineno, node.end_lineno or node.lineno, targets, counts))
        _parsed[filename] = sorted(found, key=lambda loop: loop[0])
    return _parsed[filename]


# ---- Recording ----
_recorder: Optional[Recorder] = None
_turns = Turns("")


class _Here(threading.local):
    depth = 0  # how many recorded calls this one is inside of
    pace: Optional[Pace] = None  # of the outermost
    report, events = None, None  # type: Any, Any  # the call of perf_report, and torch's events in it


here = _Here()


def _record(what: str, fn: Any, seconds: Sequence[float], repeats: bool = False) -> None:
    """Records one call. what names the measured code if fn has no name."""
    frame = _caller()
    if frame is None or _recorder is None:
        return
    site = (frame.f_code.co_filename, frame.f_lineno)
    report = here.report
    if report is not None:
        marked, params = report
        parts = [_stem(marked.__code__.co_filename), marked.__name__]
    else:
        params = _arguments(frame, repeats)
        parts = [_stem(frame.f_code.co_filename), _function(frame.f_code), (_callable_name(fn) or what).replace("/", "-")]
    _recorder.add(".".join(part for part in parts if part), params, site, seconds)


def _safely(task: Callable[..., None], *args: Any) -> None:
    """Runs what is not the program's. Its errors become notes."""
    try:
        task(*args)
    except Exception as exc:
        if _recorder is not None:
            _recorder.note(f"{getattr(task, '__name__', 'record')}: {type(exc).__name__}: {exc}")


def _replace(owner: Any, name: str, instead: Callable[..., Any]) -> None:
    """Makes owner.name call instead(original, *args, **kwargs), once."""
    original = getattr(owner, name, None)
    if not callable(original) or hasattr(original, "pawl_original"):
        return

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return instead(original, *args, **kwargs)

    wrapper.pawl_original = original  # type: ignore[attr-defined]
    setattr(owner, name, wrapper)


def wrap(owner: Any, name: str, after: Callable[..., None], measures: bool = True, block: bool = False) -> None:
    """Makes owner.name call after(result, *args, **kwargs) once it returned, unless it is part of a recorded call. measures says
    that the call is what is measured, block that it is a turn."""

    def wrapper(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        depth = here.depth
        if depth == 0:
            here.pace = Pace(measures)
        here.depth = depth + 1
        pace, alone, everyone = here.pace, time.thread_time(), time.process_time()
        try:
            result = pace.block(original, *args, **kwargs) if block else original(*args, **kwargs)
        finally:
            alone, everyone = time.thread_time() - alone, time.process_time() - everyone
            here.depth, here.pace = depth, pace if depth else None
            if depth == 0:
                _turns.end(pace.turn, pace.size)
        if depth == 0:
            here.pace = pace
            _safely(functools.partial(after, result, *args, **kwargs))
            here.pace = None
            if measures and _recorder is not None:
                _recorder.used(alone, everyone - alone)
        return result

    _replace(owner, name, wrapper)


# ---- What is recorded ----
def _hook_timeit(module: ModuleType) -> None:
    def remember(_: Any, self: Any, stmt: Any = "pass", *args: Any, **kwargs: Any) -> None:
        self.pawl_stmt = stmt

    def timed(result: float, self: Any, number: int = 1_000_000) -> None:
        stmt = getattr(self, "pawl_stmt", "")
        if number > 0:
            _record(stmt.strip() if isinstance(stmt, str) else "", stmt, [result / number], repeats=True)

    def ranged(result: Tuple[int, float], self: Any, *args: Any, **kwargs: Any) -> None:
        timed(result[1], self, result[0])

    wrap(module.Timer, "__init__", remember, measures=False)
    wrap(module.Timer, "timeit", timed, block=True)
    wrap(module.Timer, "autorange", ranged)


def _hook_torch_timer(module: ModuleType) -> None:
    def measured(result: Any, *args: Any, **kwargs: Any) -> None:
        task, frame = result.task_spec, _caller()
        if frame is None or _recorder is None:
            return
        site = (frame.f_code.co_filename, frame.f_lineno)
        config = [part for part in (task.sub_label, task.description, task.env) if part]
        params = {} if config else _arguments(frame, repeats=True)
        if task.num_threads > 1:
            params["threads"] = task.num_threads
        benchmark = _stem(frame.f_code.co_filename) + "." + (task.label or task.stmt).replace("/", "-")
        _recorder.add("/".join([benchmark, *config]), params, site, result.times)

    for name in ("timeit", "blocked_autorange", "adaptive_autorange"):
        wrap(module.Timer, name, measured)


def _hook_torch_events(module: ModuleType) -> None:
    def elapsed(milliseconds: float) -> None:
        module = str(sys._getframe(4).f_globals.get("__name__", ""))
        inside = here.events
        if inside is not None:
            inside.append(milliseconds)
        elif here.depth == 0 and module.split(".")[0] not in _LIBRARIES:
            _record("", None, [milliseconds / 1e3], repeats=True)

    def elapsed_time(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        milliseconds = original(*args, **kwargs)
        _safely(elapsed, milliseconds)
        return milliseconds

    _replace(module.Event, "elapsed_time", elapsed_time)


def _hook_triton(module: ModuleType) -> None:
    if hasattr(module, "_summarize_statistics"):  # every do_bench ends in it, in whatever module it was imported
        wrap(module, "_summarize_statistics", _summarized, measures=False)
    else:
        _replace(module, "do_bench", _with_events)
    _replace(getattr(module, "Mark", None), "_run", _name_reports)


def _summarized(_: Any, times: Any, *args: Any, **kwargs: Any) -> None:
    fn, frame = None, sys._getframe(1)
    while frame is not None and fn is None:
        if str(frame.f_globals.get("__name__", "")).startswith("triton.testing"):
            fn = frame.f_locals.get("fn")
        frame = frame.f_back
    samples = times.tolist() if hasattr(times, "tolist") else times
    _record("", fn, [ms / 1e3 for ms in samples])


def _with_events(do_bench: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Triton before 2.1 has no function that sees all times: they are those of its events, after one that estimates."""
    outer, here.events = here.events, []
    try:
        result = do_bench(*args, **kwargs)
        seen = here.events[1:]
    finally:
        here.events = outer
    fn = args[0] if args else kwargs.get("fn")
    if outer is None and here.depth == 0:
        _safely(_record, "", fn, [ms / 1e3 for ms in seen])
    return result


def _name_reports(run: Callable[..., Any], mark: Any, /, *args: Any, **kwargs: Any) -> Any:
    fn = mark.fn

    @functools.wraps(fn)
    def named(*fargs: Any, **fkwargs: Any) -> Any:
        outer, here.report = here.report, (fn, fkwargs)
        try:
            return fn(*fargs, **fkwargs)
        finally:
            here.report = outer

    mark.fn = named
    try:
        return run(mark, *args, **kwargs)
    finally:
        mark.fn = fn


def _hook_pytest_benchmark(module: ModuleType) -> None:
    def taken(fixture: Any) -> List[float]:
        stats = getattr(fixture, "stats", None)
        return getattr(getattr(stats, "stats", stats), "data", None) or []  # already for one iteration

    def tested(_: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        if taken(self) and _recorder is not None:
            _recorder.add(case_of_test(self.fullname), {}, self.fullname, taken(self))

    def make_runner(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
        runner, pace = original(self, *args, **kwargs), here.pace
        return runner if pace is None else lambda *a, **k: pace.run(len(taken(self)), runner, *a, **k)

    _replace(module.BenchmarkFixture, "_make_runner", make_runner)
    wrap(module.BenchmarkFixture, "__call__", tested)
    wrap(module.BenchmarkFixture, "pedantic", tested)


def _hook_pytest(module: ModuleType) -> None:
    """pytest puts a finder of its own before all others."""
    wrap(module, "install_importhook", lambda *args, **kwargs: _finder.install(), measures=False)


_HOOKS: Dict[str, Callable[[ModuleType], None]] = {
    "timeit": _hook_timeit,
    "triton.testing": _hook_triton,
    "torch.utils.benchmark.utils.timer": _hook_torch_timer,
    "torch.cuda.streams": _hook_torch_events,
    "pytest_benchmark.fixture": _hook_pytest_benchmark,
    "_pytest.assertion": _hook_pytest,
}


class _Finder:
    """Runs the hook of a module right after the module was imported."""

    def install(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _HOOKS:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                _safely(self.hook_loader, spec.loader)
                return spec
        return None

    def hook_loader(self, loader: Any) -> None:
        def exec_module(original: Callable[..., Any], module: ModuleType) -> None:
            original(module)
            hook = _HOOKS.get(module.__name__)
            if hook is not None:
                _safely(hook, module)

        _replace(loader, "exec_module", exec_module)


_finder = _Finder()


def start(suffix: str = "") -> Optional[Recorder]:
    """Starts to record if PAWL_SAMPLES names a file, once, and returns the recorder; suffix is added to its name."""
    global _recorder
    path = os.environ.get(VARIABLE)
    if path and _recorder is None:
        _recorder = Recorder(path + suffix)
        _turns.path = _recorder.path
        _finder.install()
        for name, hook in _HOOKS.items():
            if name in sys.modules:
                _safely(hook, sys.modules[name])
        for forget in (_recorder.forget, _turns.forget):
            os.register_at_fork(after_in_child=forget)
        atexit.register(_safely, _recorder.write)
    return _recorder


def _in_place() -> None:
    """Starts to record in a program that knows nothing of it."""
    kept = start(".python")
    if kept is not None:
        os.close(os.open(kept.path, os.O_WRONLY | os.O_CREAT, 0o666))  # tells pawl that this Python records
        sys.modules["pawl_perf.record"] = sys.modules["sitecustomize"]  # the plugin adds to the same samples


if __name__ == "sitecustomize":
    _safely(_in_place)
    # The folder of this file is of no use to anything else, and may hide a sitecustomize of the user's. Without its path,
    # this module is not taken for one that the program loaded.
    _folder = os.path.dirname(os.path.abspath(__file__))
    del __file__
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _folder]
    _this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as exc:
        if exc.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = _this
