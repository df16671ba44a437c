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

Checking. A setup may also say what the run reads and writes, so that pawl can check results, not only time them:

    pawl.input("q", q)          # only read: a tensor of torch, an array of numpy, or anything with the buffer protocol
    pawl.output("out", out)     # only written: every element, whatever was there before
    pawl.output("out")          # or: it is what the run returns (several: a tuple in this order, or a dict by name)
    pawl.inout("x", x)          # read, then written

What a run does must depend on the parameters and these arguments alone: pawl replaces their contents, with new
numbers before every run where the suite says what is right, and compares what every timed run leaves with the base's.
Outputs with memory of their own hold poison before. None of this is in the timed region.

Reporting. A setup, or a run, may report other numbers than the time. pawl judges them like the time; a suite says which
of them can fail a change (docs/how-to/any-metric.md). What a run reports during its warm-up does not count.

    pawl.report("tok/s", tokens / seconds, unit="tok/s", better="higher")

Failing. Any exception breaks the case, not the harness. Raise `pawl.Failure(code, message)` to say which kind
it is: bad_params, no_device, no_memory, unsupported or failed.

Clocks. `device` is CUDA events on torch's current stream: it is there when your module imports torch at its top
and a GPU answers, and it sees kernels of triton too. `wall` is perf_counter, `cpu` the CPU time of the thread;
with a GPU both wait for it. Runs shorter than 20 us are measured in batches. In a cold case the cache is swept
before every sample. Where results are compared, and in a cold case, a batch takes other inputs for every run: setup is
then called several times. The GPU part has so far been tested on a simulated device only.

Started by pawl, main() answers it (docs/reference/harness-protocol.md); stdout and stderr stay yours. Started by
hand, it measures the configs of the decorators and prints a table; see --help.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import hashlib
import inspect
import itertools
import json
import math
import os
import pathlib
import platform
import random
import re
import statistics
import struct
import sys
import time
import traceback
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

__version__ = "1.2.0"
__all__ = ["Failure", "benchmark", "inout", "input", "main", "output", "report"]

Run = Callable[[], Any]
Setup = Callable[..., Any]
Message = Dict[str, Any]

_PROTOCOL = 1
_LINE_MAX = 64 << 20
_PART = 4096  # samples in one message, at most
_LIFE_NS = 2_000_000_000  # while measuring, pawl hears from us about this often
_SHORT_NS = 20_000  # runs below this are batched ...
_BATCH_NS = 40_000  # ... to samples of about this
_STEPS, _PAIRS = 200, 200  # steps of the device's timer in the shortest sample, and times from which the step is found
_LATE = 3  # blocks of launches in a row that may come late and are taken again
_QUEUE = 480  # the most launches of a sample on a device: with its events they fit the launch queue
_SETS, _SETS_BYTES = 64, 1 << 30  # the most inputs of a cold batch
_KEPT = 64  # the most samples of one measurement that are handed out
_LINGER_S = 0.002  # nobody can wait for threads of the host: they get so long to show themselves
_HEADER_MAX = 16 << 20  # of a safetensors file


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


class _Set:
    """What one call of setup made: the run, and its arguments."""

    def __init__(self, label: str, make: Callable[[int], Any], number: int) -> None:
        global _registered
        self.arguments: Dict[str, _Argument] = {}
        _registered = self.arguments
        try:
            made = make(number)
        finally:
            _registered = None
        run, teardown = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
        if not callable(run) or not (teardown is None or callable(teardown)):
            kind = type(made).__name__
            raise Failure("failed", f"the setup of {label} must return one run, or (run, teardown), not {kind}")
        self.run: Run = run
        self._teardown = teardown
        for argument in self.of("inout"):
            argument.before = argument.storage.read()

    def of(self, *roles: str) -> List[_Argument]:
        return [argument for argument in self.arguments.values() if argument.role in roles]

    def poison(self, seed: int) -> None:
        for argument in self.of("out"):
            if not argument.returned:
                argument.storage.poison(seed)

    def restore(self) -> None:
        for argument in self.of("inout"):
            argument.storage.write(argument.before)

    def draw(self, key: bytes, run: int, timed: bool, remember: bool) -> None:
        """Gives all inputs new numbers. One key and one run give the same ones in every process."""
        for place, argument in enumerate(self.arguments.values()):
            if argument.role == "out":
                continue
            what = struct.pack("<QQ?", place, run, timed)
            seed = hashlib.blake2b(what, key=key, digest_size=8).digest()
            drawn = argument.storage.draw(int.from_bytes(seed, "little"), argument.fill_as)
            if not drawn and argument.role == "inout":
                argument.storage.write(argument.before)
        for argument in self.of("in", "inout") if remember else []:  # after all: views of one memory may overlap
            argument.note(argument.storage.read())

    def freshen(self, other: _Set) -> None:
        """Takes the contents of another set. The addresses stay: what a run remembers by address is then wrong."""
        pairs = [(argument, other.arguments.get(argument.name)) for argument in self.of("in", "inout")]
        if all(b is not None and b.storage.describe() == a.storage.describe() for a, b in pairs):
            for a, b in pairs:
                a.fill(b.storage.read())  # type: ignore[union-attr]

    def bind(self, result: Any) -> None:
        """Takes the outputs that a run returned."""
        returned = [argument for argument in self.of("out") if argument.returned]
        if len(returned) == 1 and not isinstance(result, (dict, tuple, list)):
            result = (result,)
        for place, argument in enumerate(returned):
            try:
                value = result[argument.name] if isinstance(result, dict) else result[place]
            except (KeyError, IndexError, TypeError):
                raise Failure("failed", f"the run does not return the output {argument.name}") from None
            argument.bind(value)

    def catch(self, result: Any) -> None:
        """Copies the outputs as they are when a run has returned."""
        self.bind(result)
        for argument in self.of("out", "inout"):
            argument.copy = argument.storage.copy()

    def examine(self, inputs: str, outputs: str) -> None:
        """Looks at what a run left, after everything was waited for, and writes it to files."""
        for argument in self.of("in"):
            if argument.digest and argument.digest != _digest(argument.storage.read()):
                raise Failure("integrity", f"the run changed its input {argument.name}")
        outs = self.of("out", "inout")
        if inputs:
            read = [(a, a.before if a.role == "inout" else a.storage.read()) for a in self.of("in", "inout")]
            _save(inputs, read)
        _save(outputs, [(argument, argument.storage.bytes_of(argument.copy)) for argument in outs])
        time.sleep(_LINGER_S)
        for argument in outs:
            if argument.storage.read() != argument.storage.bytes_of(argument.copy):
                raise Failure("integrity", f"the output {argument.name} changed after the run had returned")
            argument.copy = None

    def release(self) -> None:
        if self._teardown is not None:
            try:
                self._teardown()
            except Exception as exc:  # told on stderr; the next case is not to blame
                _explain(exc)


class _Case:
    """One prepared case: its sets of inputs, and the runs that make one sample."""

    def __init__(self, label: str, make: Callable[[int], Any], cold: bool, traffic: float, key: bytes = b"") -> None:
        self.label, self.cold = label, cold
        self.key = key  # of the inputs, which are then drawn before every run
        self.untimed = 0  # runs that were drawn for, and not compared
        self.sample: List[Run] = []
        self.sample_ns = 0.0  # about how long a sample takes; 0 until the batch is chosen
        self.enqueue_ns = 0.0  # about how long the host needs to launch one
        self._make, self._traffic, self._made = make, traffic, 0
        self.sets: List[_Set] = []
        self.run = self._add_set().run
        if not self.sets[0].of("in", "inout"):
            self.key = b""

    def new_set(self) -> _Set:
        self._made += 1
        return _Set(self.label, self._make, self._made - 1)

    def _add_set(self) -> _Set:
        self.sets.append(self.new_set())
        return self.sets[-1]

    def choose_batch(self, run_ns: float, quantum_ns: float = 0.0) -> None:
        """Decides from the time of one run how many make a sample: so many that a step of the timer hardly counts.
        A cold sample uses no set twice."""
        run_ns, shortest = max(run_ns, 1.0), max(_SHORT_NS, _STEPS * quantum_ns)
        wanted = 1 if run_ns >= shortest else math.ceil(_BATCH_NS / _SHORT_NS * shortest / run_ns)
        self.set_batch(min(wanted, _QUEUE) if quantum_ns else wanted)
        self.sample_ns = run_ns * len(self.sample)

    def set_batch(self, batch: int) -> None:
        if self.cold or self.key:
            most = _SETS_BYTES // self._traffic if self._traffic else _SETS // 8 if self.cold else _SETS
            batch = int(max(1, min(batch, most, _SETS)))
            while len(self.sets) < batch:
                self._add_set()
            self.sample = [one.run for one in self.sets[:batch]]
        else:
            self.sample = [self.run] * batch

    def exceed(self, cache_bytes: int, runs: int) -> None:
        """Makes so many sets that one is out of the cache when its turn comes again."""
        enough = 2 * cache_bytes // self._traffic + 1 if self._traffic else 1
        while len(self.sets) < min(enough, runs, _SETS, max(1, _SETS_BYTES // max(1, self._traffic))):
            self._add_set()

    def draw(self) -> None:
        """Gives all sets inputs that are of no timed run."""
        for one in self.sets if self.key else []:
            one.draw(self.key, self.untimed, False, False)
            self.untimed += 1

    def runs(self, count: int) -> Iterator[Run]:
        """So many runs, which take the sets in turn."""
        return itertools.islice(itertools.cycle([one.run for one in self.sets]), count)

    def release(self) -> None:
        for one in self.sets:
            one.release()


# ---- Arguments ----
_DTYPES = {  # as suites write them: as safetensors does, and the bytes of an element
    "f64": ("F64", 8), "f32": ("F32", 4), "tf32": ("F32", 4), "f16": ("F16", 2), "bf16": ("BF16", 2),
    "e4m3": ("F8_E4M3", 1), "e5m2": ("F8_E5M2", 1), "e4m3fnuz": ("F8_E4M3FNUZ", 1), "e5m2fnuz": ("F8_E5M2FNUZ", 1),
    "e8m0": ("F8_E8M0", 1), "e3m2": ("E3M2", 1), "e2m3": ("E2M3", 1), "e2m1": ("E2M1", 1), "e2m1x2": ("E2M1X2", 1),
    "i64": ("I64", 8), "i32": ("I32", 4), "i16": ("I16", 2), "i8": ("I8", 1), "u8": ("U8", 1), "bool": ("BOOL", 1),
}  # fmt: skip
_KNOWN_AS = {  # by torch, numpy and ml_dtypes, and in the formats of the buffer protocol
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float8_e8m0fnu": "e8m0",
    "float6_e3m2fn": "e3m2", "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1", "float4_e2m1fn_x2": "e2m1x2", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool",
    "d": "f64", "f": "f32", "e": "f16", "q": "i64", "l": "i64", "i": "i32", "h": "i16", "b": "i8", "B": "u8",
    "?": "bool",
}  # fmt: skip
_registered: Optional[Dict[str, _Argument]] = None  # while a setup runs


Sizes = Optional[Sequence[int]]


def input(name: str, value: Any, dtype: str = "", shape: Sizes = None, strides: Sizes = None) -> None:
    """Registers what the run only reads. dtype is for elements that are stored as another type, e.g. bf16 in an array
    of uint16; shape and strides (in elements) are for buffers, which do not know them."""
    _register("in", name, value, dtype, shape, strides)


def output(name: str, value: Any = None, dtype: str = "", shape: Sizes = None, strides: Sizes = None) -> None:
    """Registers what the run only writes; without a value, what it returns."""
    _register("out", name, value, dtype, shape, strides)


def inout(name: str, value: Any, dtype: str = "", shape: Sizes = None, strides: Sizes = None) -> None:
    """Registers what the run reads and then writes."""
    _register("inout", name, value, dtype, shape, strides)


_values: Dict[str, Message] = {}  # reported since the last reply
_warming = False  # while a warm-up runs


def report(metric: str, value: float, unit: str, better: str) -> None:
    """Reports a number of the prepared case in addition to its time. better is lower or higher."""
    number = float(value)
    if not math.isfinite(number):
        raise Failure("failed", f"the value of {metric} is {number}: it must be finite")
    if better not in ("lower", "higher"):
        raise Failure("failed", f"better of {metric} must be lower or higher, not {better}")
    if not _warming:
        series = {"metric": metric, "unit": unit, "better": better, "samples": []}
        _values.setdefault(metric, series)["samples"].append(number)


def _reported() -> List[Message]:
    """What was reported since the last call."""
    values = list(_values.values())
    _values.clear()
    return values


def _register(role: str, name: str, value: Any, dtype: str, shape: Sizes, strides: Sizes) -> None:
    if _registered is None:
        raise Failure("failed", f"the argument {name} must be registered in setup")
    if name in _registered:
        raise Failure("failed", f"the argument {name} is registered twice")
    if dtype and dtype not in _DTYPES:
        raise Failure("failed", f"the argument {name} has the unknown type {dtype}")
    _registered[name] = argument = _Argument(role, name, dtype, value is None)
    if value is not None:
        argument.bind(value, shape, strides)


class _Argument:
    """One thing that a run reads or writes."""

    def __init__(self, role: str, name: str, dtype: str, returned: bool) -> None:
        self.role, self.name, self.dtype, self.returned = role, name, dtype, returned
        self.before = b""  # of an inout: what it is to hold before a run
        self.digest = b""  # of an in: of what it holds
        self.copy: Any = None  # of an output: as it was when a run had returned
        self.storage: Any = None
        self.fill_as: Message = {}  # as the suite declares it

    def bind(self, value: Any, shape: Sizes = None, strides: Sizes = None) -> None:
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None and isinstance(value, torch.Tensor):
            self.storage = _Tensor(self.name, value, self.dtype)
        elif numpy is not None and isinstance(value, numpy.ndarray):
            self.storage = _Array(self.name, value, self.dtype)
        else:
            self.storage = _Buffer(self.name, value, self.dtype, shape, strides)

    def fill(self, data: bytes) -> None:
        self.storage.write(data)
        self.note(data)

    def note(self, data: bytes) -> None:
        """Remembers what a run begins with."""
        if self.role == "inout":
            self.before = data
        else:
            self.digest = _digest(data)

    def match(self, declared: Message) -> None:
        """Holds the argument to what the suite declares."""
        differs = "role" if declared.get("role") != self.role else ""
        if not self.returned:
            stored, shape, strides = self.storage.describe()
            if _DTYPES.get(str(declared.get("dtype")), ("",))[0] != stored:
                differs = "type"
            elif declared.get("shape") != shape:
                differs = "shape"
            elif (declared.get("strides") or _row_major(shape)) != (strides or _row_major(shape)):
                differs = "strides"
        if differs:
            raise Failure("bad_params", f"the argument {self.name} differs in {differs} between suite and harness")


def _row_major(shape: List[int]) -> List[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


class _Storage:
    """Memory with elements in it, gaps included: its bytes can be read, written, copied and poisoned."""

    def __init__(
        self, name: str, found: str, size: int, dtype: str, shape: Sequence[int], strides: Sequence[int]
    ) -> None:
        self.dtype, self.shape, self.strides = dtype or _KNOWN_AS.get(found, ""), list(shape), list(strides)
        if not self.dtype or _DTYPES[self.dtype][1] != size:
            raise Failure("failed", f"the argument {name} is of the type {found}; dtype= says which of pawl's it is")
        if min(self.shape, default=1) < 1 or min(self.strides, default=0) < 0:
            raise Failure("failed", f"the argument {name} has the shape {self.shape} and strides {self.strides}")
        self.length = 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        self.flat: Any = None  # all of it, as bytes

    def describe(self) -> Tuple[str, List[int], List[int]]:
        """The type as safetensors has it, the shape, and the strides where they are not row-major."""
        used = [(a, b) for size, a, b in zip(self.shape, self.strides, _row_major(self.shape)) if size > 1]
        return _DTYPES[self.dtype][0], self.shape, self.strides if any(a != b for a, b in used) else []

    def read(self) -> bytes:
        return self.bytes_of(self.flat)

    def bytes_of(self, flat: Any) -> bytes:
        return flat.tobytes()  # type: ignore[no-any-return]

    def copy(self) -> Any:
        return self.flat.copy()

    def poison(self, seed: int) -> None:
        self.words(seed, 0x800F800F800F800F, 0x7FF07FF07FF07FF0)

    def draw(self, seed: int, fill: Message) -> bool:
        """Fills it with new numbers, if it is known which ones it may hold. Never to change: both sides of a comparison
        must draw alike, also when one of them has another version of this file."""
        low, high = fill.get("low", 0), fill.get("high", 0)
        if fill.get("kind") == "uniform" and low != high or low < high:
            return self.between(seed, low, high)
        if self.dtype in _NUMBERS:
            bits, base = _NUMBERS[self.dtype]
            copies = sum(1 << at for at in range(0, 64, 8 * _DTYPES[self.dtype][1]))
            self.words(seed, bits * copies, base * copies)
            return True
        return False

    def words(self, seed: int, mask: int, base: int) -> None:
        """Fills it with 64 bits of splitmix64 at a time, of which some are given."""
        raise NotImplementedError

    def between(self, seed: int, low: float, high: float) -> bool:
        """Fills it with numbers from low to below high, each from one word of splitmix64, if it can."""
        raise NotImplementedError

    def sums(self, parts: List[Any], key: int) -> List[float]:
        """Adds up the elements of parts, one after the other, in 32 blocks: for each block the sum, each element with a
        sign that the key decides; the sum of squares; how many are not finite, and are in neither; and how many."""
        raise NotImplementedError


_MASK = (1 << 64) - 1
_BLOCKS = 32
_NUMBERS = {  # bits that are drawn, and those that are set: a size from 0.5 to 2, and any sign
    "f64": (0x801FFFFFFFFFFFFF, 0x3FE0000000000000), "f32": (0x80FFFFFF, 0x3F000000), "tf32": (0x80FFFFFF, 0x3F000000),
    "f16": (0x87FF, 0x3800), "bf16": (0x80FF, 0x3F00), "e4m3": (0x8F, 0x30), "e5m2": (0x87, 0x38),
    # The same bits are half as large; powers of two are 0.5 or 1; below 1, e2m3 and e2m1 have denormals only.
    "e4m3fnuz": (0x8F, 0x30), "e5m2fnuz": (0x87, 0x38), "e8m0": (0x01, 0x7E), "e3m2": (0x27, 0x08), "e2m3": (0x2F, 0),
    "e2m1": (0x0B, 0), "e2m1x2": (0xBB, 0),
}  # fmt: skip
_FORMATS = {  # of at most a byte: exponent bits, mantissa bits, bias, and which patterns are no numbers
    "e4m3": (4, 3, 7, "last"), "e5m2": (5, 2, 15, "ieee"), "e4m3fnuz": (4, 3, 8, "zero"), "e5m2fnuz": (5, 2, 16, "zero"),
    "e8m0": (8, 0, 127, "last"), "e3m2": (3, 2, 3, ""), "e2m3": (2, 3, 1, ""), "e2m1": (2, 1, 1, ""),
    "e2m1x2": (2, 1, 1, ""),
}  # fmt: skip
_CODES = {  # of struct and numpy
    "f64": "d", "f32": "f", "tf32": "f", "f16": "e", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B", "bool": "B",
}  # fmt: skip


def _word(seed: int, number: int) -> int:
    """One word of splitmix64."""
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def _values_of_bytes(dtype: str) -> List[float]:
    """The values of the 256 patterns of a byte; of e2m1x2 that of its low bits. NaN stands for infinity too."""
    exponent_bits, fraction_bits, bias, odd = _FORMATS[dtype]
    above, values = 1 << exponent_bits + fraction_bits, []  # type: int, List[float]
    for bits in range(256):
        size, negative = bits % above, bits & above and dtype != "e8m0"
        exponent, fraction = size >> fraction_bits, size & (1 << fraction_bits) - 1
        normal = exponent > 0 or dtype == "e8m0"
        value = math.ldexp(fraction + (normal << fraction_bits), max(exponent, int(not normal)) - bias - fraction_bits)
        top = exponent == (1 << exponent_bits) - 1
        if odd == "ieee" and top or odd == "last" and size == above - 1 or odd == "zero" and negative and not size:
            value = math.nan
        values.append(-value if negative else value)
    return values


class _Buffer(_Storage):
    """Anything with the buffer protocol: array.array, bytearray, ctypes."""

    def __init__(self, name: str, value: Any, dtype: str, shape: Sizes, strides: Sizes) -> None:
        try:
            view = memoryview(value)
            flat = view.cast("B")
        except TypeError as exc:
            raise Failure("failed", f"the argument {name} is no tensor, array or flat buffer: {exc}") from None
        sizes = list(shape or view.shape or (1,))
        super().__init__(name, view.format[-1], view.itemsize, dtype, sizes, strides or _row_major(sizes))
        size = self.length * _DTYPES[self.dtype][1]
        if size > len(flat):
            raise Failure("failed", f"the argument {name} has {size} bytes, its memory {len(flat)}")
        self.flat = flat[:size]

    def copy(self) -> Any:
        return bytearray(self.flat)

    def bytes_of(self, flat: Any) -> bytes:
        return bytes(flat)

    def write(self, data: bytes) -> None:
        self.flat[:] = data

    def words(self, seed: int, mask: int, base: int) -> None:
        count = len(self.flat) // 8 + 1
        data = b"".join((_word(seed, i) & mask | base).to_bytes(8, "little") for i in range(count))
        self.flat[:] = data[: len(self.flat)]

    def between(self, seed: int, low: float, high: float) -> bool:
        code = _CODES.get(self.dtype)
        if code is None:
            return False
        values = [low + (high - low) * ((_word(seed, i) >> 11) * 2.0**-53) for i in range(self.length)]
        whole = [math.floor(value) for value in values] if code not in "dfe" else values
        self.flat[:] = struct.pack(f"<{self.length}{code}", *whole)
        return True

    def sums(self, parts: List[Any], key: int) -> List[float]:
        code, data = _CODES.get(self.dtype), b"".join(map(bytes, parts))
        if code is not None:
            values = [float(value[0]) for value in struct.iter_unpack("<" + code, data)]
        elif self.dtype == "bf16":
            values = [struct.unpack("<f", b"\0\0" + data[at : at + 2])[0] for at in range(0, len(data), 2)]
        else:
            table = _values_of_bytes(self.dtype)
            halves = [half for byte in data for half in (byte & 15, byte >> 4)] if self.dtype == "e2m1x2" else data
            values = [table[bits] for bits in halves]
        blocks, each = [0.0] * 4 * _BLOCKS, -(-len(values) // _BLOCKS)
        for i, value in enumerate(values):
            at = i // each * 4
            if i % 64 == 0:
                signs = _word(key, i // 64)
            blocks[at + 3] += 1
            if math.isfinite(value):
                blocks[at] += value if signs >> i % 64 & 1 else -value
                blocks[at + 1] += value * value
            else:
                blocks[at + 2] += 1
        return blocks


class _Array(_Storage):
    """An array of numpy."""

    def __init__(self, name: str, value: Any, dtype: str) -> None:
        self.numpy: Any = sys.modules["numpy"]
        size = value.itemsize
        super().__init__(name, value.dtype.name, size, dtype, value.shape, [stride // size for stride in value.strides])
        as_strided = self.numpy.lib.stride_tricks.as_strided
        self.flat = as_strided(value, (self.length,), (size,)).view("uint8")

    def write(self, data: bytes) -> None:
        self.flat[:] = self.numpy.frombuffer(data, dtype="uint8")

    def splitmix(self, seed: int, count: int) -> Any:
        u64 = self.numpy.uint64
        z = self.numpy.arange(1, count + 1, dtype=u64) * u64(0x9E3779B97F4A7C15) + u64(seed)
        z = (z ^ z >> u64(30)) * u64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> u64(27)) * u64(0x94D049BB133111EB)
        return z ^ z >> u64(31)

    def words(self, seed: int, mask: int, base: int) -> None:
        u64 = self.numpy.uint64
        z = self.splitmix(seed, len(self.flat) // 8 + 1) & u64(mask) | u64(base)
        self.flat[:] = z.astype("<u8").view("uint8")[: len(self.flat)]

    def between(self, seed: int, low: float, high: float) -> bool:
        code = _CODES.get(self.dtype)
        if code is None:
            return False
        values = low + (high - low) * ((self.splitmix(seed, self.length) >> self.numpy.uint64(11)) * 2.0**-53)
        self.flat[:] = (values if code in "dfe" else self.numpy.floor(values)).astype("<" + code).view("uint8")
        return True

    def values(self, flat: Any) -> Any:
        if self.dtype == "bf16":
            return (flat.view("<u2").astype("<u4") << self.numpy.uint32(16)).view("<f4").astype("f8")
        if self.dtype in _FORMATS:
            table = self.numpy.array(_values_of_bytes(self.dtype))
            return table[self.numpy.stack([flat & 15, flat >> 4], -1).ravel() if self.dtype == "e2m1x2" else flat]
        return flat.view("<" + _CODES[self.dtype]).astype("f8")

    def sums(self, parts: List[Any], key: int) -> List[float]:
        numpy, x = self.numpy, self.numpy.concatenate([self.values(part) for part in parts])
        count, each = len(x), -(-len(x) // _BLOCKS)
        words = self.splitmix(key, count // 64 + 1).astype("<u8").view("uint8")
        signs = numpy.unpackbits(words, bitorder="little")[:count] * 2.0 - 1
        odd = ~numpy.isfinite(x)
        x[odd] = 0
        rows = numpy.zeros((4, _BLOCKS * each))
        for row, values in zip(rows, (x * signs, x * x, odd, 1)):
            row[:count] = values
        return rows.reshape(4, _BLOCKS, each).sum(2).T.ravel().tolist()  # type: ignore[no-any-return]


class _Tensor(_Storage):
    """A tensor of torch, on any device. What happens to it stands in the order of torch's current stream."""

    def __init__(self, name: str, value: Any, dtype: str) -> None:
        self.torch: Any = sys.modules["torch"]
        value = value.detach()
        kind = str(value.dtype).replace("torch.", "")
        super().__init__(name, kind, value.element_size(), dtype, value.shape or (1,), value.stride() or (1,))
        flat = self.torch.as_strided(value, (self.length,), (1,), value.storage_offset())
        self.flat = flat.view(self.torch.uint8)

    def copy(self) -> Any:
        return self.flat.clone()

    def bytes_of(self, flat: Any) -> bytes:
        host = flat.cpu()
        return ctypes.string_at(host.data_ptr(), host.numel())

    def write(self, data: bytes) -> None:
        self.flat.copy_(self.torch.frombuffer(bytearray(data), dtype=self.torch.uint8))

    def splitmix(self, seed: int, count: int) -> Any:
        z = self.torch.arange(1, count + 1, dtype=self.torch.int64, device=self.flat.device)
        z = z * _signed(0x9E3779B97F4A7C15) + _signed(seed)
        z = self.shifted(self.shifted(z, 30) * _signed(0xBF58476D1CE4E5B9), 27) * _signed(0x94D049BB133111EB)
        return self.shifted(z, 31)

    def shifted(self, z: Any, bits: int) -> Any:  # as if it had no sign
        return z ^ (z >> bits & (1 << 64 - bits) - 1)

    def words(self, seed: int, mask: int, base: int) -> None:
        z = self.splitmix(seed, self.flat.numel() // 8 + 1) & _signed(mask) | _signed(base)
        self.flat.copy_(z.view(self.torch.uint8)[: self.flat.numel()])

    def between(self, seed: int, low: float, high: float) -> bool:
        if self.dtype in _FORMATS and self.dtype not in ("e4m3", "e5m2"):
            return False
        unit = (self.splitmix(seed, self.length) >> 11 & (1 << 53) - 1).double() * 2.0**-53
        values = low + (high - low) * unit
        self.typed(self.flat).copy_(values if self.dtype in _NUMBERS else values.floor())
        return True

    def typed(self, flat: Any) -> Any:
        names = [name for name, known in _KNOWN_AS.items() if known == self.dtype.replace("tf32", "f32") and len(name) > 1]
        return flat.view(getattr(self.torch, names[0]))

    def values(self, flat: Any) -> Any:
        if self.dtype not in _FORMATS:
            return self.typed(flat).double()
        table = self.torch.tensor(_values_of_bytes(self.dtype), dtype=self.torch.float64, device=flat.device)
        bits = self.torch.stack([flat & 15, flat >> 4], -1).reshape(-1) if self.dtype == "e2m1x2" else flat
        return table[bits.long()]

    def sums(self, parts: List[Any], key: int) -> List[float]:
        torch, x = self.torch, self.torch.cat([self.values(part) for part in parts])
        count, each = x.numel(), -(-x.numel() // _BLOCKS)
        bits = self.splitmix(key, count // 64 + 1)[:, None] >> torch.arange(64, device=x.device) & 1
        signs = bits.reshape(-1)[:count].double() * 2 - 1
        odd = ~torch.isfinite(x)
        x = torch.where(odd, torch.zeros_like(x), x)
        rows = torch.zeros((4, _BLOCKS * each), dtype=torch.float64, device=x.device)
        for row, values in zip(rows, (x * signs, x * x, odd.double(), torch.ones_like(x))):
            row[:count] = values
        return rows.view(4, _BLOCKS, each).sum(2).t().reshape(-1).tolist()  # type: ignore[no-any-return]


def _signed(word: int) -> int:
    """The same 64 bits with a sign, as torch wants them."""
    return (word + (1 << 63)) % (1 << 64) - (1 << 63)


# ---- Safetensors ----
def _save(path: str, tensors: List[Tuple[_Argument, bytes]]) -> None:
    """Writes a file under another name first, so that it is whole or not there."""
    header: Message = {}
    metadata, at = {}, 0
    for argument, data in tensors:
        stored, shape, strides = argument.storage.describe()
        if strides:
            for fact, values in (("shape", shape), ("strides", strides), ("offset", [0])):
                metadata[f"{argument.name}.{fact}"] = ",".join(map(str, values))
            shape = [argument.storage.length]
        header[argument.name] = {"dtype": stored, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps({"__metadata__": metadata, **header} if metadata else header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, data in tensors:
            file.write(data)
    os.replace(path + ".part", path)


def _load(path: str, arguments: List[_Argument]) -> None:
    """Reads a file into arguments, which it must fit one for one."""
    with open(path, "rb") as file:
        total = os.fstat(file.fileno()).st_size
        size = int.from_bytes(file.read(8), "little")
        if total < 8 or size > min(_HEADER_MAX, total - 8):
            raise Failure("bad_params", f"{path} is no safetensors file: its header has {size} bytes")
        try:
            header = json.loads(file.read(size))
        except (ValueError, RecursionError) as exc:
            raise Failure("bad_params", f"{path} is no safetensors file: {exc}") from None
        if not isinstance(header, dict):
            raise Failure("bad_params", f"{path} is no safetensors file: its header is no object")
        metadata = header.pop("__metadata__", None)
        wanted = {argument.name: argument for argument in arguments}
        for name in {*header, *wanted}:
            if name not in header or name not in wanted:
                raise Failure("bad_params", f"{name} is not both a tensor of {path} and an input here")
            span = _fit(wanted[name], header[name], metadata if isinstance(metadata, dict) else {})
            if not 0 <= span[0] <= span[1] <= total - 8 - size:
                raise Failure("bad_params", f"the tensor {name} of {path} lies outside of the file")
            file.seek(8 + size + span[0])
            wanted[name].fill(file.read(span[1] - span[0]))


def _fit(argument: _Argument, tensor: Any, metadata: Message) -> List[int]:
    """Where the data of a tensor stands in its file, when it has the type, shape, strides and size of the argument."""
    stored, shape, strides = argument.storage.describe()
    length = argument.storage.length
    facts = {"shape": shape, "strides": strides or _row_major(shape), "offset": [0]}
    fits = isinstance(tensor, dict) and tensor.get("dtype") == stored
    fits = fits and tensor.get("shape") == ([length] if strides else shape)
    for fact, values in facts.items():
        said = metadata.get(f"{argument.name}.{fact}")
        missing_is_fine = not strides or fact == "offset"
        fits = fits and (missing_is_fine if said is None else said == ",".join(map(str, values)))
    span = tensor.get("data_offsets") if isinstance(tensor, dict) else None
    if isinstance(span, list) and len(span) == 2 and all(type(at) is int for at in span):
        if fits and span[1] - span[0] == length * _DTYPES[argument.storage.dtype][1]:
            return span
    raise Failure("bad_params", f"the tensor {argument.name} has another type, shape or strides than the argument")


class _Watch:
    """Takes samples one by one: gives their runs new inputs, hands out what some of them worked on, and adds up what
    all of them left."""

    def __init__(self, request: Message, samples: int, case: _Case) -> None:
        self.case, self.total = case, samples
        self.key, self.first, self.compared = 0, 0, False
        verify = request.get("verify")
        if isinstance(verify, dict) and case.key and case.sets[0].of("out", "inout"):
            self.key, self.first, self.compared = _seed(verify.get("key"), "key"), int(verify.get("first", 0)), True
        keep = request.get("keep")
        if keep and (not isinstance(keep, dict) or type(keep.get("dir")) is not str or samples == 0):
            raise Failure("bad_params", "keep needs a folder and a number of samples")
        keep = keep or {}
        self.dir, self.seed = keep.get("dir", ""), _seed(keep.get("seed"), "seed")
        chance = random.Random(self.seed)
        count = max(0, min(int(keep.get("count", 0)), samples, _KEPT))
        self.samples = sorted(chance.sample(range(samples), count))
        # Without a key, the inputs change some time before each of them.
        self.fresh = [chance.randint(a + 1, b) for a, b in zip([-1, *self.samples], self.samples)]
        self.kept: List[Message] = []
        self.note = ""
        again = [argument.name for argument in case.sets[0].of("inout") if len(case.sample) > len(case.sets)]
        if again and keep:  # nobody knows what the last run of a batch began with
            self.note = f"{again[0]} is read and written, and a sample is a batch: none can be checked"
            self.samples = []
        self.needed = bool(case.key or self.samples and case.sets[0].arguments)

    def readings(self, meter: Any, wait: Run, due_ns: float) -> Iterator[Message]:
        """All samples, in parts."""
        used = self.case.sets[: len(self.case.sample)]
        for argument in (argument for one in used for argument in one.of("in") if not self.case.key):
            argument.digest = argument.digest or _digest(argument.storage.read())
        part: Message = {}
        until, sample, last = meter.now() + _LIFE_NS, 0, False
        while not last:
            kept = sample in self.samples
            self.make_ready(used, sample, kept)
            wait()  # it must not be measured
            reading = meter.read_one(self.case, functools.partial(self.take, used, kept))
            if self.compared:
                wait()
                reading["sums"] = self.sums(used)
            if kept:
                wait()
                self.hand_out(used[-1], sample)
            for fact, values in reading.items():
                part.setdefault(fact, []).extend(values)
            sample += 1
            last = sample >= self.total and (not self.case.key or meter.now() >= due_ns)
            if len(part["samples"]) >= _PART or meter.now() >= until or last:
                if self.compared:
                    part["sums"] = struct.pack(f"<{len(part['sums'])}d", *part["sums"]).hex()
                yield part
                part, until = {}, meter.now() + _LIFE_NS

    def make_ready(self, used: List[_Set], sample: int, kept: bool) -> None:
        """Gives the runs of a sample their inputs, and takes away what the last ones left."""
        for place, one in enumerate(used):
            one.poison((self.seed + sample) % (1 << 64))
            if self.compared:
                one.draw(self.case.key, (self.first + sample) * len(used) + place, True, kept)
            elif self.case.key:
                one.draw(self.case.key, self.case.untimed, False, kept)
                self.case.untimed += 1
            else:
                one.restore()
        if not self.case.key and sample in self.fresh:
            other = self.case.new_set()
            used[-1].freshen(other)
            other.release()

    def take(self, used: List[_Set], kept: bool, results: List[Any]) -> None:
        """Holds on to what the runs of a sample left."""
        if self.compared:
            for one, result in zip(used[:-1], results):
                one.bind(result)
        if kept:
            used[-1].catch(results[-1])
        elif self.compared:
            used[-1].bind(results[-1])

    def sums(self, used: List[_Set]) -> List[float]:
        sums: List[float] = []
        for place, argument in enumerate(used[0].arguments.values(), 1):
            if argument.role != "in":
                parts = [one.arguments[argument.name].storage.flat for one in used]
                sums += argument.storage.sums(parts, (self.key + place) % (1 << 64))
        return sums

    def hand_out(self, used: _Set, sample: int) -> None:
        stem = os.path.join(self.dir, str(len(self.kept)))
        inputs, outputs = stem + "-in.safetensors", stem + "-out.safetensors"
        used.examine(inputs, outputs)
        self.kept.append({"sample": sample, "inputs": inputs, "outputs": outputs})


def _seed(text: Any, name: str) -> int:
    if text is None:
        return 0
    if type(text) is not str or not re.fullmatch("[0-9]{1,20}", text) or int(text) >= 1 << 64:
        raise Failure("bad_params", f"{name} {text!r} is not a decimal string of 64 bits")
    return int(text)


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


    def read_one(self, case: _Case, catch: Callable[[Any], None]) -> Message:
        """Takes one sample as read does; catch gets what its runs returned, outside of the timed region."""
        (inner, outer), until = self.clocks, self.now() + _LIFE_NS
        before = ([self.flush] if case.cold else []) + self.sync
        sample, sync, batch = case.sample, self.sync, len(case.sample)
        while True:
            for step in before:
                step()
            outer_start = outer()
            inner_start = inner()
            results = [run() for run in sample]
            for step in sync:
                step()
            inner_end = inner()
            outer_end = outer()
            if inner_end > inner_start or self.now() >= until:
                catch(results)
                outside = round((outer_end - outer_start) / batch, 3)
                return {"samples": [round((inner_end - inner_start) / batch, 3)], self.other: [outside]}


class _DeviceMeter:
    """Reads events on the device. Samples are queued in blocks behind a wait on the device, so that the time the
    host needs to launch them is not measured. The wait ends by itself: a run may synchronise."""

    def __init__(self, device: Any, now: Run = time.perf_counter_ns) -> None:
        self.device, self.now, self.quantum_ns = device, now, device.step_ns()
        self.cycles_per_ns = 2.0  # corrected by every wait
        self.late, self.note = 0, ""  # late: the blocks that came late, less those that did not
        self.was_late = False  # the last block
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
        case.choose_batch(run_ns, self.quantum_ns)
        case.enqueue_ns = 0.0
        self._block(case, 1, hold=False)

    def read(self, case: _Case, want: int, due_ns: float, warmup: bool) -> Message:
        """As that of _HostMeter."""
        samples: List[float] = []
        batch, until = len(case.sample), self.now() + _LIFE_NS
        # A block must fit the launch queue of about 1000, and last neither a second nor wait for 30 ms.
        room = min(32, 1000 // (2 * batch + 4), 1e9 // case.sample_ns, 2e7 // case.enqueue_ns)
        if case.cold and self.device.driver is not None:
            room = 1  # the driver forgets persisting lines at once, not in the order of a stream
        while True:
            need = max(want - len(samples), (due_ns - self.now()) // case.sample_ns)
            block = self._block(case, int(max(1, min(need, room))), hold=not warmup)
            if self.was_late and self.late <= _LATE:
                continue  # its samples contain launches
            samples.extend(round(took / batch, 3) for took in block)
            time_ns, count = self.now(), len(samples)
            if (count >= want and time_ns >= due_ns) or count >= _PART or time_ns >= until:
                return {"samples": samples}

    def read_one(self, case: _Case, catch: Callable[[Any], None]) -> Message:
        """As that of _HostMeter. What catch does stands behind the run on torch's stream, before all waiting."""
        results: List[Any] = []
        runs = case.sample
        case.sample = [lambda: results.extend(run() for run in runs)]
        try:
            took = self._block(case, 1, hold=True, then=lambda: catch(results))
        finally:
            case.sample = runs
        return {"samples": [round(took[0] / len(case.sample), 3)]}

    def _block(self, case: _Case, count: int, hold: bool, then: Optional[Run] = None) -> List[float]:
        """Queues count samples, waits for the device once, and returns how long each took there."""
        device, flush = self.device, self.device.flush if case.cold else None
        while len(self.events) < count:
            self.events.append((device.event(), device.event()))
        cycles = int((1.5 * case.enqueue_ns * count + 50_000) * self.cycles_per_ns)
        self.was_late = False
        if case.cold:
            device.forget()
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
        if then is not None:
            then()
        launch_ns = max(1.0, self.now() - began)
        case.enqueue_ns = min(case.enqueue_ns or launch_ns / count, launch_ns / count)
        device.synchronize()
        took = [device.elapsed_ns(start, end) for start, end in self.events[:count]]
        if hold:
            held_ns = max(1.0, device.elapsed_ns(*self.gate))
            self.cycles_per_ns = cycles / held_ns
            self.was_late = launch_ns > held_ns + 0.9 * sum(took)
            self.late = max(0, self.late) + 1 if self.was_late else self.late - 1
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
        # ROCm tells the L2 cache of one die only, and nothing of the Infinity Cache of 256 MB behind it.
        self.cache_bytes = 256 << 20 if hip else getattr(chosen, "L2_cache_size", 0) or 128 << 20
        self.synchronize: Run = torch.cuda.synchronize
        self.sleep: Callable[[int], Any] = torch.cuda._sleep
        self.event: Run = functools.partial(torch.cuda.Event, enable_timing=True)
        self.torch, self.swept, self.step = torch, None, 0.0
        self.driver = _cuda_driver()

    def step_ns(self) -> float:
        """The step of event times. It is documented as about half a microsecond, and is a whole one on some cards, so
        it is measured: the greatest common divisor of the times of waits of many lengths."""
        if not self.step:
            pairs = [(self.event(), self.event()) for _ in range(_PAIRS)]
            for i, (start, end) in enumerate(pairs):
                start.record()
                self.sleep(1 + 257 * i)
                end.record()
            self.synchronize()
            times = (round(self.elapsed_ns(start, end)) for start, end in pairs)
            self.step = float(functools.reduce(math.gcd, times, 0) or 500)
        return self.step

    def elapsed_ns(self, start: Any, end: Any) -> float:
        return start.elapsed_time(end) * 1e6

    def watch(self, on: bool) -> None:
        """Tells ncu and nsys when to look, and names the place; without a tool it does nothing."""
        nvtx = getattr(self.torch.cuda, "nvtx", None)
        if on and not self.torch.version.hip:
            self.torch.cuda.profiler.start()
        if nvtx is not None:
            nvtx.range_push("pawl") if on else nvtx.range_pop()
        if not on and not self.torch.version.hip:
            self.torch.cuda.profiler.stop()

    def forget(self) -> None:
        """Lines that a run asked to stay in the cache would survive the sweep."""
        if self.driver is not None:
            stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
            self.driver.cuStreamSetAttribute(stream, _ACCESS_WINDOW, ctypes.create_string_buffer(64))
            self.driver.cuCtxSetLimit(_PERSISTING_LIMIT, ctypes.c_size_t(0))
            self.driver.cuCtxResetPersistingL2Cache()

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


_ACCESS_WINDOW, _PERSISTING_LIMIT = 1, 6  # of the driver's stream attributes and limits


def _cuda_driver() -> Any:
    """The CUDA driver, if this process uses it and it knows of lines that persist in the cache."""
    driver: Any = ctypes.CDLL("libcuda.so.1") if _maps_cuda() else None
    return driver if hasattr(driver, "cuCtxResetPersistingL2Cache") else None


def _maps_cuda() -> bool:
    """Whether this process uses the CUDA driver."""
    try:
        return "libcuda.so" in pathlib.Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return False


def _calibration_on_host() -> Run:
    # About 1 ms, and never to change: it tells one machine from another.
    return lambda: functools.reduce(lambda x, _: (x * 1103515245 + 12345) & 0x7FFFFFFF, range(4000), 1)


# ---- The protocol ----
class _Session:
    """Answers requests, one after the other."""

    def __init__(self, send: Callable[[Message], Any]) -> None:
        self.send = send
        self.device: Any = None
        self.kind: Any = None  # of device that pawl measures
        self.case: Optional[_Case] = None
        self.meter: Any = None  # a _HostMeter or a _DeviceMeter

    def answer(self, request: Message) -> None:
        op = request["op"]
        reply: Message = {"id": request["id"], "op": op}
        try:
            if op not in ("hello", "cases", "prepare", "measure", "check", "run", "profile", "bye"):
                raise Failure("unsupported", f"this harness does not know the request {op!r}")
            reply.update(getattr(self, op)(request))
        except Exception as exc:
            reply["error"] = _explain(exc)
            if not isinstance(exc, Failure) and self.lost():
                reply["error"]["code"] = "lost_device"
        self.send(reply)

    def lost(self) -> bool:
        """Whether every further call on the device fails, as after an illegal address."""
        try:
            self.wait()
        except Exception:
            return True
        return False

    def hello(self, request: Message) -> Message:
        offered = request.get("protocol")
        if not isinstance(offered, list) or _PROTOCOL not in offered:
            raise Failure("unsupported", f"pawl speaks protocol {offered!r}, this harness [{_PROTOCOL}]: update it")
        wanted = request.get("device")
        self.device, self.kind = _open_device(wanted), wanted.get("kind") if isinstance(wanted, dict) else None
        host = {"name": platform.processor() or platform.machine(), "runtime": f"Python {platform.python_version()}"}
        features = {"features": ["check", "run", "keep", "verify", "profile"], "calibration": True}
        about = {"sdk": f"pawl_harness.py {__version__}", "device": self.device.about if self.device else host}
        return {"protocol": _PROTOCOL, "timers": self.timers(), **features, **about}

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
        first_seed = _seed(request.get("seed"), "seed")
        label = f"{name}/{implementation}"

        def make(number: int) -> Any:
            seed = (first_seed + number) % (1 << 64)  # sets differ, sides do not
            random.seed(seed)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(seed % (1 << 32))
            if "torch" in sys.modules:
                sys.modules["torch"].manual_seed(seed)
            return setup(**_arguments(label, setup, request.get("params", {}), seed))

        key = request.get("key", "")
        if type(key) is not str or not re.fullmatch("([0-9a-f]{64})?", key):
            raise Failure("bad_params", "key is not 64 hexadecimal digits")
        _reported()  # of the case before
        self.case = case = _Case(label, make, cold, float(request.get("bytes", 0)), bytes.fromhex(key))
        try:
            self.match(case, request.get("arguments"))
        except Failure:
            self.release()
            raise
        torch: Any = sys.modules.get("torch")
        if self.device is None and torch is not None and torch.cuda.is_initialized():
            raise Failure("unsupported", f"{label} uses CUDA, but pawl measures the CPU: see device.kind")
        if self.device is None and self.kind == "nvidia" and _maps_cuda():
            why = "so nothing here can wait for its kernels: import torch"
            raise Failure("unsupported", f"{label} uses CUDA without torch, {why}")
        self.meter = _DeviceMeter(self.device) if timer == "device" else _HostMeter(timer, self.device)
        return {"timer": timer, "quantum_ns": self.meter.quantum_ns}

    def match(self, case: _Case, declared: Any) -> None:
        """Holds what setup registered, if anything, to what the suite declares, if anything."""
        registered = case.sets[0].arguments
        for one in declared if isinstance(declared, list) and registered else []:
            if one.get("role") == "value":
                continue
            if one.get("name") not in registered:
                raise Failure("bad_params", f"the suite declares the argument {one.get('name')}, which setup does not")
            registered[one["name"]].match(one)
            registered[one["name"]].fill_as = one.get("fill") or {}

    def prepared(self) -> Tuple[_Case, Any]:
        if self.case is None or self.meter is None:
            raise Failure("failed", "nothing is prepared")
        return self.case, self.meter

    def measure(self, request: Message) -> Message:
        case, meter = self.prepared()
        want, busy_ns = int(request.get("samples", 0)), int(request.get("busy_ns", 0))
        if min(want, busy_ns) < 0 or want + busy_ns == 0:
            raise Failure("bad_params", "measure needs a number of samples, a busy time, or both")
        restore = gc.enable if gc.isenabled() else gc.disable
        gc.collect()
        gc.disable()
        due_ns, count = meter.now() + busy_ns, 0
        global _warming
        _warming = bool(request.get("warmup"))
        try:
            if not case.sample_ns:
                meter.estimate(case)
            batch = request.get("batch", 0)
            if type(batch) is int and batch > 0 and batch != len(case.sample):
                run_ns = case.sample_ns / len(case.sample)
                case.set_batch(batch)
                case.sample_ns = run_ns * len(case.sample)
            watch = _Watch(request, want, case)
            for readings in self.readings(request, watch, want, due_ns):
                count += len(readings["samples"])
                if count >= want and meter.now() >= due_ns:
                    note = watch.note or meter.note
                    more = {"note": note} if note else {}
                    if watch.kept:
                        more["kept"] = watch.kept
                    if _values and not _warming:
                        more["values"] = _reported()
                    return {"count": count, "batch": len(case.sample), **readings, **more}
                self.send({"id": request.get("id"), "op": "samples", **readings})
            raise AssertionError("readings go on until they are enough")
        finally:
            _warming = False
            restore()

    def readings(self, request: Message, watch: _Watch, want: int, due_ns: float) -> Iterator[Message]:
        case, meter = self.prepared()
        if watch.needed:
            yield from watch.readings(meter, self.wait, due_ns)
            want = 0
        while True:
            readings = meter.read(case, want, due_ns, bool(request.get("warmup")))
            want -= len(readings["samples"])
            yield readings

    def wait(self) -> None:
        if self.device is not None:
            self.device.synchronize()

    def check(self, request: Message) -> Message:
        case, _ = self.prepared()
        if not case.sets[0].arguments:
            return {"supported": False}
        poison = _seed(request.get("poison"), "poison")
        self.check_once(case.sets[0], request.get("inputs"), request.get("outputs"), poison)
        return {"supported": True}

    def check_once(self, one: _Set, inputs: Any, outputs: Any, poison: int) -> None:
        if type(inputs) is not str or type(outputs) is not str:
            raise Failure("bad_params", "a check needs the paths of inputs and outputs")
        _load(inputs, one.of("in", "inout"))
        one.poison(poison)
        one.restore()
        self.wait()
        one.catch(one.run())
        self.wait()
        one.examine("", outputs)

    def run(self, request: Message) -> Message:
        case, meter = self.prepared()
        count, inputs, outputs = _iterations(request), request.get("inputs"), request.get("outputs")
        if inputs or outputs:
            return self.run_checks(case, request, count)
        if not case.sample_ns:
            meter.estimate(case)
        case.draw()
        self.chill(case, count)
        for run in case.runs(count):
            run()
        self.wait()
        return {"iterations": count}

    def chill(self, case: _Case, count: int) -> None:
        """Makes ready for so many runs of a cold case."""
        if case.cold:
            case.exceed(self.device.cache_bytes if self.device else _host_cache_bytes(), count)
            (self.device.flush if self.device else _sweep_host_cache)()

    def profile(self, request: Message) -> Message:
        case, _ = self.prepared()
        count, warmup = _iterations(request), request.get("warmup", 0)
        if type(warmup) is not int or not 0 <= warmup <= 1_000_000_000:
            raise Failure("bad_params", "warmup is a whole number of runs")
        for run in case.runs(warmup):
            run()
        self.chill(case, count)
        self.wait()
        runs = list(case.runs(count))
        watch = self.device.watch if self.device else lambda on: None
        watch(True)
        try:
            pawl_profiled(runs, self.wait)
        finally:
            watch(False)
        return {"iterations": count}

    def run_checks(self, case: _Case, request: Message, count: int) -> Message:
        inputs, outputs, poison = request.get("inputs"), request.get("outputs"), _seed(request.get("poison"), "poison")
        if not case.sets[0].arguments:
            raise Failure("unsupported", f"{case.label} registers no arguments")
        if not isinstance(inputs, list) or not isinstance(outputs, list) or {len(inputs), len(outputs)} != {count}:
            raise Failure("bad_params", "run needs one path of inputs and one of outputs for each iteration")
        for i in range(count):
            self.check_once(case.sets[0], inputs[i], outputs[i], (poison + i) % (1 << 64))
        return {"iterations": count}

    def bye(self, request: Message) -> Message:
        self.release()
        return {}

    def release(self) -> None:
        case, self.case, self.meter = self.case, None, None
        if case is not None:
            case.release()


def pawl_profiled(runs: List[Run], wait: Run) -> None:
    """What a profiler is to look at, and nothing else: py-spy and others find it by this name."""
    for run in runs:
        run()
    wait()


def _iterations(request: Message) -> int:
    count = request.get("iterations")
    if type(count) is not int or not 1 <= count <= 1_000_000_000:
        raise Failure("bad_params", f"{request['op']} needs a whole number of iterations, from 1 to a billion")
    return count


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
