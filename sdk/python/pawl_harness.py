"""pawl_harness: let pawl measure Python code. One file, standard library only, Python 3.8 or later.

    import torch
    import torch.nn.functional as F
    import pawl_harness as pawl

    @pawl.benchmark("sdpa", configs=[dict(B=1, H=8, S=128, D=64)], flops="4*B*H*S*S*D")
    def sdpa(B, H, S, D, seed):                         # setup: make the inputs
        q, k, v = (torch.randn(B, H, S, D) for _ in range(3))
        return lambda: F.scaled_dot_product_attention(q, k, v)          # one run

    @pawl.benchmark("sdpa", implementation="math")      # measured beside the candidate
    def sdpa_math(B, H, S, D): ...

    if __name__ == "__main__":
        pawl.main()

Setup. The decorated function is called when a case is prepared and returns the function that is one run, or
`(run, teardown)`. Its arguments name the parameters of the benchmark: one without a default must be in the
config, one annotated int, float, str or bool must be of that kind; parameters it does not name are left out. An
argument called `seed` gets the round's seed. The generators of random, numpy and torch are seeded with it before
every setup, so that both sides of a round see the same inputs. `flops` and `bytes` are the work of one run, as
expressions over the parameters.

Failing. Any exception breaks the case, not the harness. Raise `pawl.Failure(code, message)` to say which kind
it is: bad_params, no_device, no_memory, unsupported or failed.

Clocks. `device` is CUDA events on torch's current stream: it is there when your module imports torch at its top
and a GPU answers, and it sees kernels of triton too. `wall` is perf_counter, `cpu` the CPU time of the thread;
with a GPU both wait for it. Runs shorter than 20 us are measured in batches. In a cold case the cache is swept
before every sample, and a batch takes fresh inputs for every run: setup is then called several times. The GPU
part has so far been tested on a simulated device only.

Started by pawl, main() answers it (docs/reference/harness-protocol.md); stdout and stderr stay yours. Started by
hand, it measures the configs of the decorators and prints a table; see --help.
"""

from __future__ import annotations

import argparse
import functools
import gc
import inspect
import json
import math
import os
import pathlib
import platform
import random
import re
import statistics
import sys
import time
import traceback
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

__version__ = "1.0.0"
__all__ = ["Failure", "benchmark", "main"]

Run = Callable[[], Any]
Setup = Callable[..., Any]
Message = Dict[str, Any]

_PROTOCOL = 1
_LINE_MAX = 64 << 20
_PART = 4096  # samples in one message, at most
_LIFE_NS = 2_000_000_000  # while measuring, pawl hears from us about this often
_SHORT_NS = 20_000  # runs below this are batched ...
_BATCH_NS = 40_000  # ... to samples of about this
_SETS, _SETS_BYTES = 64, 1 << 30  # the most inputs of a cold batch

# CUDA reads this when it starts, which importing torch does not yet do. Kernels are then loaded before they are
# measured, not during the first runs. Set it yourself to have it otherwise.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")


class Failure(Exception):
    """Breaks a case with a code that pawl knows: bad_params, no_device, no_memory, unsupported or failed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


# ---- What the user declares ----
_facts: Dict[str, Message] = {}  # benchmark -> flops, bytes, configs
_setups: Dict[str, Dict[str, Setup]] = {}  # benchmark -> implementation -> setup


def benchmark(
    name: str, implementation: str = "candidate", configs: Sequence[Message] = (), flops: str = "", bytes: str = ""
) -> Callable[[Setup], Setup]:
    """Declares the decorated setup function as one implementation of a benchmark. configs, flops and bytes belong
    to the benchmark: give them at any one of its implementations."""
    for word in (name, implementation):
        if not re.fullmatch(r"(?!pawl\.)[^\s/]+", word):
            raise ValueError(f"pawl.benchmark: {word!r} has a space, a slash, or pawl's own 'pawl.' in front")
    facts = {"flops": str(flops), "bytes": str(bytes), "configs": [dict(config) for config in configs]}

    def declare(setup: Setup) -> Setup:
        setups, known = _setups.setdefault(name, {}), _facts.setdefault(name, {})
        if setups.setdefault(implementation, setup) is not setup:
            raise ValueError(f"pawl.benchmark: {name}/{implementation} is declared twice")
        for fact, value in facts.items():
            if value and known.setdefault(fact, value) != value:
                raise ValueError(f"pawl.benchmark: {fact} of {name} are declared twice, and differ")
        return setup

    return declare


def _arguments(label: str, setup: Setup, params: Any, seed: int) -> Dict[str, Any]:
    """Picks what the signature of setup asks for."""
    if not isinstance(params, dict):
        raise Failure("bad_params", f"params must be an object, not {params!r}")
    given, picked = {"seed": seed, **params}, {}
    for name, parameter in inspect.signature(setup).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            return {**params, **picked}
        if name in given:
            picked[name] = _of_kind(name, given[name], parameter.annotation)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            raise Failure("bad_params", f"{label} needs the parameter {name}")
    return picked


def _of_kind(name: str, value: Any, annotation: Any) -> Any:
    """Holds a value to the annotation int, float, str or bool. Numbers convert: JSON does not tell 50 from 50.0."""
    kind = getattr(annotation, "__name__", annotation)  # a class, or its name where annotations are postponed
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "int" and number and value % 1 == 0:
        return int(value)
    if kind == "float" and number:
        return float(value)
    if kind in ("int", "float", "str", "bool") and type(value).__name__ != kind:
        raise Failure("bad_params", f"parameter {name} must be of the kind {kind}, not {value!r}")
    return value


class _Case:
    """One prepared case: its sets of inputs, and the runs that make one sample."""

    def __init__(self, label: str, make: Callable[[], Any], cold: bool, traffic: float) -> None:
        self.label, self.cold = label, cold
        self.sample: List[Run] = []
        self.sample_ns = 0.0  # about how long a sample takes; 0 until the batch is chosen
        self.enqueue_ns = 0.0  # about how long the host needs to launch one
        self._make, self._traffic = make, traffic
        self._sets: List[Run] = []
        self._teardowns: List[Run] = []
        self.run = self._add_set()

    def _add_set(self) -> Run:
        made = self._make()
        run, teardown = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
        if not callable(run) or not (teardown is None or callable(teardown)):
            kind = type(made).__name__
            raise Failure("failed", f"the setup of {self.label} must return one run, or (run, teardown), not {kind}")
        self._sets.append(run)
        if teardown is not None:
            self._teardowns.append(teardown)
        return run

    def choose_batch(self, run_ns: float) -> None:
        """Decides from the time of one run how many make a sample. A cold sample uses no set twice."""
        run_ns = max(run_ns, 1.0)
        batch = 1 if run_ns >= _SHORT_NS else math.ceil(_BATCH_NS / run_ns)
        if self.cold:
            most = _SETS_BYTES // self._traffic if self._traffic else _SETS // 8
            batch = int(max(1, min(batch, most, _SETS)))
            while len(self._sets) < batch:
                self._add_set()
            self.sample = self._sets
        else:
            self.sample = [self.run] * batch
        self.sample_ns = run_ns * batch

    def release(self) -> None:
        for teardown in self._teardowns:
            try:
                teardown()
            except Exception as exc:  # told on stderr; the next case is not to blame
                _explain(exc)


# ---- Clocks ----
class _HostMeter:
    """Reads the wall clock and the CPU clock around each sample; the one that gates is read innermost."""

    def __init__(self, timer: str, device: Any) -> None:
        wall, cpu = time.perf_counter_ns, time.thread_time_ns
        self.clocks: Tuple[Run, Run] = (wall, cpu) if timer == "wall" else (cpu, wall)
        self.other = "cpu" if timer == "wall" else "wall"
        self.sync: List[Run] = [device.synchronize] if device else []
        self.flush: Run = device.flush if device else _sweep_host_cache
        self.now, self.quantum_ns, self.note = wall, 1.0, ""

    def estimate(self, case: _Case) -> None:
        """Takes more and more runs at a time until they last long enough to tell how long one is."""
        case.run()  # the first run compiles, allocates and fills caches
        case.sample = [case.run]
        while True:
            readings = self.read(case, 3, 0, True)  # the best of three: something else may run meanwhile
            took = min(map(max, *readings.values())) * len(case.sample)
            if took >= _SHORT_NS or len(case.sample) >= 1 << 14:
                return case.choose_batch(took / len(case.sample))
            case.sample = case.sample * 4

    def read(self, case: _Case, want: int, due_ns: float, warmup: bool) -> Message:
        """Takes samples until there are want of them and it is due_ns, or until pawl should hear from us."""
        (inner, outer), now, batch = self.clocks, self.now, len(case.sample)
        before = ([self.flush] if case.cold else []) + self.sync
        timed = case.sample + self.sync
        inside, outside = [], []  # type: List[float], List[float]
        until = now() + _LIFE_NS
        while True:
            for step in before:
                step()
            outer_start = outer()
            inner_start = inner()
            for run in timed:
                run()
            inner_end = inner()
            outer_end = outer()
            if inner_end <= inner_start and now() < until:
                continue  # a virtual machine that stalls can leave the CPU clock standing for a while
            inside.append(round((inner_end - inner_start) / batch, 3))
            outside.append(round((outer_end - outer_start) / batch, 3))
            time_ns, count = now(), len(inside)
            if (count >= want and time_ns >= due_ns) or count >= _PART or time_ns >= until:
                return {"samples": inside, self.other: outside}


class _DeviceMeter:
    """Reads events on the device. Samples are queued in blocks behind a wait on the device, so that the time the
    host needs to launch them is not measured. The wait ends by itself: a run may synchronise."""

    quantum_ns = 500.0  # of cudaEventElapsedTime

    def __init__(self, device: Any, now: Run = time.perf_counter_ns) -> None:
        self.device, self.now = device, now
        self.cycles_per_ns = 2.0  # corrected by every wait
        self.late, self.note = 0, ""  # late: the blocks that came late, less those that did not
        self.gate = (device.event(), device.event())
        self.events: List[Tuple[Any, Any]] = []

    def estimate(self, case: _Case) -> None:
        case.run()  # the first run compiles, allocates and fills caches
        self.device.synchronize()
        for runs in (1, 8):  # events add some microseconds of their own to one short run
            case.sample, case.enqueue_ns = [case.run] * runs, 0.0
            self._block(case, 1, hold=False)
            run_ns = min(self._block(case, 3, hold=True)) / runs
            if run_ns >= _SHORT_NS:
                break
        if run_ns <= 0:
            raise Failure("failed", f"{case.label} took no time on the device: does it run there, on torch's stream?")
        case.choose_batch(run_ns)
        case.enqueue_ns = 0.0
        self._block(case, 1, hold=False)

    def read(self, case: _Case, want: int, due_ns: float, warmup: bool) -> Message:
        """As that of _HostMeter."""
        samples: List[float] = []
        batch, until = len(case.sample), self.now() + _LIFE_NS
        # A block must fit the launch queue of about 1000, and last neither a second nor wait for 30 ms.
        room = min(32, 1000 // (2 * batch + 4), 1e9 // case.sample_ns, 2e7 // case.enqueue_ns)
        while True:
            need = max(want - len(samples), (due_ns - self.now()) // case.sample_ns)
            block = self._block(case, int(max(1, min(need, room))), hold=not warmup)
            samples.extend(round(took / batch, 3) for took in block)
            time_ns, count = self.now(), len(samples)
            if (count >= want and time_ns >= due_ns) or count >= _PART or time_ns >= until:
                return {"samples": samples}

    def _block(self, case: _Case, count: int, hold: bool) -> List[float]:
        """Queues count samples, waits for the device once, and returns how long each took there."""
        device, flush = self.device, self.device.flush if case.cold else None
        while len(self.events) < count:
            self.events.append((device.event(), device.event()))
        cycles = int((1.5 * case.enqueue_ns * count + 50_000) * self.cycles_per_ns)
        if hold:
            self.gate[0].record()
            device.sleep(cycles)
            self.gate[1].record()
        began = self.now()
        for start, end in self.events[:count]:
            if flush is not None:
                flush()
            start.record()
            for run in case.sample:
                run()
            end.record()
        launch_ns = max(1.0, self.now() - began)
        case.enqueue_ns = min(case.enqueue_ns or launch_ns / count, launch_ns / count)
        device.synchronize()
        took = [device.elapsed_ns(start, end) for start, end in self.events[:count]]
        if hold:
            held_ns = max(1.0, device.elapsed_ns(*self.gate))
            self.cycles_per_ns = cycles / held_ns
            self.late += 1 if launch_ns > held_ns + 0.9 * sum(took) else -1
            self.note = "the device waited for launches: does the run synchronise?" if self.late > 0 else ""
        return took


_sweep: List[memoryview] = []


def _sweep_host_cache() -> None:
    """Reads twice the last-level cache. Of random data: the pages of an untouched buffer are all the same page."""
    if not _sweep:
        data = memoryview(os.urandom(1 << 20) * min(2 * _host_cache_bytes() >> 20, 512))
        _sweep.append(memoryview(bytearray(1 << 16)))
        _sweep.extend(data[at : at + (1 << 16)] for at in range(0, len(data), 1 << 16))
    for piece in _sweep:
        _sweep[0][:] = piece


def _host_cache_bytes() -> int:
    files = pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    return max((int(file.read_text().strip().rstrip("K")) << 10 for file in files), default=32 << 20)


# ---- Devices ----
class _Torch:
    """A CUDA or ROCm device as torch drives it. Kernels of triton run on torch's stream too."""

    def __init__(self, torch: Any, uuid: str) -> None:
        properties = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
        hip = torch.version.hip
        uuids = [f"GPU-{p.uuid}" for p in properties if hasattr(p, "uuid") and not hip]  # since torch 2.4
        if uuid in uuids:
            torch.cuda.set_device(uuids.index(uuid))
        elif uuid.startswith("GPU-") and uuids:
            raise Failure("no_device", f"pawl asked for {uuid}, torch sees {', '.join(uuids)}")
        chosen = properties[torch.cuda.current_device()]
        self.about = {"name": chosen.name, "runtime": f"ROCm {hip}" if hip else f"CUDA {torch.version.cuda}"}
        # ROCm tells the cache of one die only.
        self.cache_bytes = (not hip and getattr(chosen, "L2_cache_size", 0)) or 128 << 20
        self.synchronize: Run = torch.cuda.synchronize
        self.sleep: Callable[[int], Any] = torch.cuda._sleep
        self.event: Run = functools.partial(torch.cuda.Event, enable_timing=True)
        self.torch, self.swept = torch, None

    def elapsed_ns(self, start: Any, end: Any) -> float:
        return start.elapsed_time(end) * 1e6

    def flush(self) -> None:
        """Reads twice the cache. Writing would leave dirty lines behind, and the run would pay for them."""
        if self.swept is None:
            self.swept = self.torch.rand(2 * self.cache_bytes // 4, device="cuda")
            self.total = self.torch.empty((), device="cuda")
        self.torch.sum(self.swept, 0, out=self.total)

    def calibration(self) -> Run:
        a, b = (self.torch.rand(4096, 4096, device="cuda").sub_(0.5).half() for _ in range(2))
        out = self.torch.empty_like(a)
        return lambda: self.torch.mm(a, b, out=out)


def _open_device(wanted: Any) -> Any:
    """Opens the GPU that the user's module can use. None when there is none, or when pawl measures the host."""
    wanted = wanted if isinstance(wanted, dict) else {}
    torch: Any = sys.modules.get("torch")
    if torch is None or wanted.get("kind") == "cpu" or not torch.cuda.is_available():
        return None
    return _Torch(torch, str(wanted.get("uuid", "")))


def _calibration_on_host() -> Run:
    # About 1 ms, and never to change: it tells one machine from another.
    return lambda: functools.reduce(lambda x, _: (x * 1103515245 + 12345) & 0x7FFFFFFF, range(4000), 1)


# ---- The protocol ----
class _Session:
    """Answers requests, one after the other."""

    def __init__(self, send: Callable[[Message], Any]) -> None:
        self.send = send
        self.device: Any = None
        self.case: Optional[_Case] = None
        self.meter: Any = None  # a _HostMeter or a _DeviceMeter

    def answer(self, request: Message) -> None:
        op = request["op"]
        reply: Message = {"id": request["id"], "op": op}
        try:
            if op not in ("hello", "cases", "prepare", "measure", "check", "bye"):
                raise Failure("unsupported", f"this harness does not know the request {op!r}")
            reply.update(getattr(self, op)(request))
        except Exception as exc:
            reply["error"] = _explain(exc)
        self.send(reply)

    def hello(self, request: Message) -> Message:
        offered = request.get("protocol")
        if not isinstance(offered, list) or _PROTOCOL not in offered:
            raise Failure("unsupported", f"pawl speaks protocol {offered!r}, this harness [{_PROTOCOL}]: update it")
        self.device = _open_device(request.get("device"))
        host = {"name": platform.processor() or platform.machine(), "runtime": f"Python {platform.python_version()}"}
        about = {"sdk": f"pawl_harness.py {__version__}", "device": self.device.about if self.device else host}
        return {"protocol": _PROTOCOL, "timers": self.timers(), "calibration": True, **about}

    def timers(self) -> List[str]:
        return ["device", "wall", "cpu"] if self.device else ["wall", "cpu"]

    def cases(self, request: Message) -> Message:
        known = {name: {"name": name, "implementations": list(setups)} for name, setups in _setups.items()}
        return {"benchmarks": [{**known[name], "configs": [], **_facts[name]} for name in known]}

    def prepare(self, request: Message) -> Message:
        self.release()
        name, implementation, timer = request.get("benchmark"), request.get("implementation"), request.get("timer")
        if name == "pawl.calibration":
            setup = self.device.calibration if self.device else _calibration_on_host
        else:
            setups = _setups[_one_of(_setups, name, "benchmark", "no_such_benchmark")]
            setup = setups[_one_of(setups, implementation, "implementation", "no_such_implementation")]
        _one_of(self.timers(), timer, "timer", "unsupported")
        cold = _one_of(("hot", "cold"), request.get("cache", "hot"), "cache mode", "unsupported") == "cold"
        seed = int(request.get("seed", "0"))
        label = f"{name}/{implementation}"
        arguments = _arguments(label, setup, request.get("params", {}), seed)

        def make() -> Any:
            random.seed(seed)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(seed % (1 << 32))
            if "torch" in sys.modules:
                sys.modules["torch"].manual_seed(seed)
            return setup(**arguments)

        self.case = _Case(label, make, cold, float(request.get("bytes", 0)))
        torch: Any = sys.modules.get("torch")
        if self.device is None and torch is not None and torch.cuda.is_initialized():
            raise Failure("unsupported", f"{label} uses CUDA, but pawl measures the CPU: see device.kind")
        self.meter = _DeviceMeter(self.device) if timer == "device" else _HostMeter(timer, self.device)
        return {"timer": timer, "quantum_ns": self.meter.quantum_ns}

    def measure(self, request: Message) -> Message:
        case, meter = self.case, self.meter
        if case is None or meter is None:
            raise Failure("failed", "nothing is prepared")
        want, busy_ns = int(request.get("samples", 0)), int(request.get("busy_ns", 0))
        if min(want, busy_ns) < 0 or want + busy_ns == 0:
            raise Failure("bad_params", "measure needs a number of samples, a busy time, or both")
        restore = gc.enable if gc.isenabled() else gc.disable
        gc.collect()
        gc.disable()
        due_ns, count = meter.now() + busy_ns, 0
        try:
            if not case.sample_ns:
                meter.estimate(case)
            while True:
                readings = meter.read(case, want - count, due_ns, bool(request.get("warmup")))
                count += len(readings["samples"])
                if count >= want and meter.now() >= due_ns:
                    note = {"note": meter.note} if meter.note else {}
                    return {"count": count, "batch": len(case.sample), **readings, **note}
                self.send({"id": request.get("id"), "op": "samples", **readings})
        finally:
            restore()

    def check(self, request: Message) -> Message:
        return {"supported": False}

    def bye(self, request: Message) -> Message:
        self.release()
        return {}

    def release(self) -> None:
        case, self.case, self.meter = self.case, None, None
        if case is not None:
            case.release()


def _one_of(known: Iterable[str], name: Any, what: str, code: str) -> str:
    if name not in list(known):
        raise Failure(code, f"there is no {what} {name!r} here, only {', '.join(known) or 'none at all'}")
    return str(name)


def _explain(exc: Exception) -> Message:
    """Turns an exception into the error of a reply; the user's part of the traceback goes to stderr."""
    text = str(exc)
    if isinstance(exc, Failure):
        return {"code": exc.code, "message": text}
    frames = [frame for frame in traceback.extract_tb(exc.__traceback__) if frame.filename != __file__][-8:]
    print(*traceback.format_list(frames), f"{type(exc).__name__}: {text}", sep="", file=sys.stderr, flush=True)
    # torch tells a lack of memory by a class of its own or, on the host, by the text of a RuntimeError.
    short_of_memory = isinstance(exc, MemoryError) or type(exc).__name__ == "OutOfMemoryError"
    if short_of_memory or "out of memory" in text or "allocate memory" in text:
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            torch.cuda.empty_cache()
        return {"code": "no_memory", "message": "no memory: " + text}
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return {"code": "failed", "message": f"{type(exc).__name__}: {text}{where}"}


class _PawlIsGone(BaseException):
    """No Exception: no handler, the user's or ours, may swallow it."""


class _Channel:
    """The two pipes to pawl."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        for fd in (read_fd, write_fd):
            os.set_inheritable(fd, False)
            os.set_blocking(fd, True)
        self._input, self._output = os.fdopen(read_fd, "rb", closefd=False), write_fd
        # A forked child, a data loader say, must not hold the pipes open when the harness dies.
        os.register_at_fork(after_in_child=lambda: [os.close(fd) for fd in (read_fd, write_fd)])

    def requests(self) -> Iterator[Message]:
        while True:
            line = self._input.readline(_LINE_MAX + 1)
            if not line.endswith(b"\n") and len(line) <= _LINE_MAX:
                raise _PawlIsGone  # the end, or a line that breaks off
            try:
                request = json.loads(line)
            except (ValueError, RecursionError):
                request = None
            request = request if isinstance(request, dict) else {}
            if type(request.get("id")) is not int or type(request.get("op")) is not str:
                sys.exit(f"pawl_harness: pawl sent a line that is no request with an id and an op: {line[:80]!r}")
            yield request

    def send(self, message: Message) -> None:
        data = memoryview(json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._output, data) :]
        except OSError:
            raise _PawlIsGone from None


def _take_channel() -> Optional[_Channel]:
    """Takes the pipes out of the environment when this module is imported: other code is not to find them."""
    requests, replies, _ = (os.environ.pop(name, "") for name in ("PAWL_IN", "PAWL_OUT", "PAWL_PROTOCOL"))
    if not requests and not replies:
        return None
    try:
        return _Channel(int(requests), int(replies))
    except (ValueError, OSError) as exc:
        sys.exit(f"pawl_harness: PAWL_IN={requests} and PAWL_OUT={replies} must be two open descriptors: {exc}")


_channel = _take_channel()


def _serve(channel: _Channel) -> None:
    session = _Session(channel.send)
    try:
        for request in channel.requests():
            session.answer(request)
            if request["op"] == "bye":
                return
    except _PawlIsGone:
        try:
            sys.stdout.flush()
        finally:
            os._exit(0)  # at once: threads of the user's may still be running


# ---- By hand ----
def main(argv: Optional[List[str]] = None) -> None:
    """Answers pawl until it says bye. Without pawl: measures the declared configs and prints a table."""
    if _channel is not None:
        return _serve(_channel)
    parser = argparse.ArgumentParser(description="Measures this harness once, briefly. To judge a change: pawl bench")
    parser.add_argument("--list", action="store_true", help="print the cases, measure nothing")
    options = parser.parse_args(argv)
    cases = [(b, c, i) for b, setups in _setups.items() for c in _facts[b].get("configs", [{}]) for i in setups]
    names = ["/".join(filter(None, (b, "_".join(f"{k}{v}" for k, v in c.items()), i))) for b, c, i in cases]
    if options.list or not cases:
        print("\n".join(names) or "There is nothing to measure: declare benchmarks with @pawl.benchmark(...).")
        return
    parts, width = [], max(map(len, names))  # type: List[Message], int
    session = _Session(parts.append)
    about = session.hello({"protocol": [_PROTOCOL]})
    timer, device = about["timers"][0], about["device"]
    print(f"{device['name']}, {device['runtime']}, {timer} clock")
    print(f"{'case':<{width}} {'median us':>11} {'10 %':>11} {'90 %':>11} {'samples':>8}")
    for name, (known, config, implementation) in zip(names, cases):
        try:
            session.prepare({"benchmark": known, "implementation": implementation, "params": config, "timer": timer})
            session.measure({"busy_ns": 50_000_000, "warmup": True})
            parts.clear()
            parts.append(session.measure({"samples": 10, "busy_ns": 100_000_000}))
        except Exception as exc:
            print(f"{name:<{width}} {_explain(exc)['message']}")
            continue
        samples = [sample / 1e3 for part in parts for sample in part["samples"]]
        low, high = statistics.quantiles(samples, n=10)[::8]
        print(f"{name:<{width}} {statistics.median(samples):11.2f} {low:11.2f} {high:11.2f} {len(samples):8}")
    session.release()
    print("One process, nothing compared. To judge a change: pawl bench")
