"""pawl_oracle: tell pawl what is right. One file, standard library and numpy or torch, Python 3.8 or later.

    from pawl_oracle import oracle, serve
    import numpy as np

    def attention(q, k, v):
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

    @oracle("attention")
    def right(inputs, params):                 # inputs are float64 (integers int64, bool bool), whatever the kernel has
        return {"out": attention(**inputs)}

    serve()

An oracle is a process of its own: pawl starts it with the command in `check.oracle` of the suite, sends it inputs and
gets the right outputs back (docs/reference/harness-protocol.md). It knows nothing of the kernel, so it cannot share its
mistakes.

Inputs. A function gets a dict from the names of the arguments to arrays, and a dict of parameters in which the `value`
arguments stand too. With `framework="torch"` the arrays are tensors of torch, with "numpy" they are numpy's; without
either, numpy's where numpy is installed. Floats come as float64 and integers as int64: every type a kernel can have is
exact there. `inout` arguments hold what the kernel reads.

Outputs. A dict from names to arrays, or one array when there is one output. It is written as float64.

Naive. `@oracle("attention", naive=f)` adds the plain computation in the kernel's own type, f(inputs, params), the
yardstick of the flash-attention rule: a kernel may be off by so many times what the naive computation is off. Its
inputs are arrays of the arguments' own types. numpy has no bfloat16 and no FP8: these come as float32 there, and the
result is rounded to the type; with torch, bfloat16 is torch's own.

torch runs deterministically and without TF32. stdout and stderr stay yours.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import struct
import sys
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

__version__ = "1.0.0"
__all__ = ["oracle", "serve"]

Message = Dict[str, Any]
Compute = Callable[[Dict[str, Any], Message], Any]

_LINE_MAX = 64 << 20
_HEADER_MAX = 16 << 20
_DTYPES = {  # as suites write them: as safetensors does, the bytes of an element, and numpy's own type
    "f64": ("F64", 8, "f8"), "f32": ("F32", 4, "f4"), "tf32": ("F32", 4, "f4"), "f16": ("F16", 2, "f2"),
    "bf16": ("BF16", 2, ""), "e4m3": ("F8_E4M3", 1, ""), "e5m2": ("F8_E5M2", 1, ""), "e4m3fnuz": ("F8_E4M3FNUZ", 1, ""),
    "e5m2fnuz": ("F8_E5M2FNUZ", 1, ""), "e8m0": ("F8_E8M0", 1, ""), "e3m2": ("E3M2", 1, ""), "e2m3": ("E2M3", 1, ""),
    "e2m1": ("E2M1", 1, ""), "e2m1x2": ("E2M1X2", 1, ""), "i64": ("I64", 8, "i8"),
    "i32": ("I32", 4, "i4"), "i16": ("I16", 2, "i2"), "i8": ("I8", 1, "i1"), "u8": ("U8", 1, "u1"),
    "bool": ("BOOL", 1, "?"),
}  # fmt: skip


class Refusal(Exception):
    """An error that pawl knows: bad_params, no_such_benchmark, unsupported, failed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


# ---- What the user declares ----
_oracles: Dict[str, Tuple[Compute, Optional[Compute], str]] = {}  # benchmark -> right, naive, framework


def oracle(benchmark: str, naive: Optional[Compute] = None, framework: str = "") -> Callable[[Compute], Compute]:
    """Declares the decorated function as what is right for a benchmark."""
    if framework not in ("", "numpy", "torch"):
        raise ValueError(f"pawl_oracle: framework is numpy or torch, not {framework!r}")

    def declare(right: Compute) -> Compute:
        if benchmark in _oracles:
            raise ValueError(f"pawl_oracle: {benchmark} is declared twice")
        _oracles[benchmark] = (right, naive, framework)
        return right

    return declare


# ---- Types that numpy does not have ----
_FORMATS = {  # of at most a byte: exponent bits, mantissa bits, bias, and which patterns are no numbers
    "e4m3": (4, 3, 7, "last"), "e5m2": (5, 2, 15, "ieee"), "e4m3fnuz": (4, 3, 8, "zero"), "e5m2fnuz": (5, 2, 16, "zero"),
    "e8m0": (8, 0, 127, "last"), "e3m2": (3, 2, 3, ""), "e2m3": (2, 3, 1, ""), "e2m1": (2, 1, 1, ""),
    "e2m1x2": (2, 1, 1, ""),
}  # fmt: skip


def _table(dtype: str) -> List[float]:
    """The values of the 256 patterns of a byte; of e2m1x2 that of its low bits."""
    exponent_bits, mantissa_bits, bias, special = _FORMATS[dtype]
    above, table = 1 << exponent_bits + mantissa_bits, []  # type: int, List[float]
    for pattern in range(256):
        sign = -1.0 if pattern & above and dtype != "e8m0" else 1.0
        magnitude = pattern % above
        exponent, mantissa = divmod(magnitude, 1 << mantissa_bits)
        if special == "ieee" and exponent == (1 << exponent_bits) - 1:
            value = math.inf if mantissa == 0 else math.nan
        elif special == "last" and magnitude == above - 1 or special == "zero" and sign < 0 and magnitude == 0:
            value = math.nan
        elif exponent == 0 and dtype != "e8m0":
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        table.append(sign * value)
    return table


_BYTES = {dtype: _table(dtype) for dtype in _FORMATS}


def _lanes(dtype: str) -> int:
    """How many values an element holds: the first of two stands in the low bits."""
    return 2 if dtype == "e2m1x2" else 1


def _value_shape(shape: List[int], dtype: str) -> List[int]:
    """The shape of the values: the last dimension has all values of its elements."""
    lanes = _lanes(dtype)
    if lanes == 1:
        return shape
    return [*shape[:-1], shape[-1] * lanes] if shape else [lanes]


def _decode_numpy(numpy: Any, data: bytes, dtype: str) -> Any:
    """The elements of a storage: in their own type, or float32 where numpy does not have it."""
    if dtype == "bf16":
        return (numpy.frombuffer(data, dtype="<u2").astype("<u4") << 16).view("<f4")
    if dtype in _BYTES:
        bits = numpy.frombuffer(data, dtype="u1")
        bits = numpy.stack([bits & 15, bits >> 4], -1).ravel() if _lanes(dtype) == 2 else bits
        return numpy.array(_BYTES[dtype], dtype="<f4")[bits]
    return numpy.frombuffer(data, dtype=numpy.dtype(_DTYPES[dtype][2]).newbyteorder("<"))


def _encode_numpy(numpy: Any, array: Any, dtype: str) -> bytes:
    """The bytes of an array in a type, rounded to the nearest, ties to even."""
    if dtype == "bf16":
        bits = array.astype("<f4").view("<u4")
        rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
        nan = bits >> 16 | 0x40
        return numpy.where(numpy.isnan(array), nan, rounded).astype("<u2").tobytes()
    if dtype in _BYTES:
        return _encode_bytes(numpy, array.astype("f8"), dtype)
    with numpy.errstate(over="ignore", invalid="ignore"):
        return array.astype(numpy.dtype(_DTYPES[dtype][2]).newbyteorder("<")).tobytes()


def _encode_bytes(numpy: Any, array: Any, dtype: str) -> bytes:
    exponent_bits, mantissa_bits, _, special = _FORMATS[dtype]
    above = 1 << exponent_bits + mantissa_bits  # the sign, where there is one
    finite = numpy.array([value for value in _BYTES[dtype][:above] if math.isfinite(value)])
    size = numpy.abs(array)
    over = numpy.clip(numpy.searchsorted(finite, size), 1, len(finite) - 1)
    low, high = finite[over - 1], finite[over]
    ties = size - low == high - size
    nearest = numpy.where(size - low > high - size, over, over - 1)
    up = ties if dtype == "e8m0" else ties & ((over - 1) % 2 == 1)  # to even; of powers of two to the larger
    nearest = numpy.where(up, over, nearest)
    # Half a step above the largest rounds away: to infinity where there is one, else to NaN, as torch casts. Types
    # without NaN keep the largest.
    last = len(finite) - 1
    step = finite[-1] if dtype == "e8m0" else finite[-1] - finite[-2]
    beyond = size > finite[-1] + step / 2 if len(finite) % 2 and dtype != "e8m0" else size >= finite[-1] + step / 2
    infinity, nan = {"ieee": (last + 1, above - 1), "last": (above - 1,) * 2, "zero": (above,) * 2}.get(special, (last,) * 2)
    pattern = numpy.where(beyond, infinity, nearest)
    pattern = numpy.where(numpy.isnan(array), nan, pattern)
    if dtype != "e8m0":
        signed = numpy.signbit(array) & ~((pattern == 0) & (special == "zero"))
        pattern = numpy.where(signed, pattern | above, pattern)
    data = pattern.astype("u1").ravel()
    return (data[::2] | data[1::2] << 4 if _lanes(dtype) == 2 else data).tobytes()  # type: ignore[no-any-return]


# ---- Frameworks ----
class _Numpy:
    """Arrays of numpy."""

    def __init__(self) -> None:
        import numpy

        self.numpy: Any = numpy

    def decode(self, data: bytes, dtype: str) -> Any:
        return _decode_numpy(self.numpy, data, dtype)

    def view(self, flat: Any, shape: List[int], strides: List[int], offset: int) -> Any:
        if not strides:
            return flat.reshape(shape)
        size = flat.itemsize
        as_strided = self.numpy.lib.stride_tricks.as_strided
        return as_strided(flat[offset:], shape, [stride * size for stride in strides], writeable=False)

    def wide(self, array: Any) -> Any:
        kind = array.dtype.kind
        return array.astype("f8" if kind == "f" else "?" if kind == "b" else "i8")

    def encode(self, array: Any, dtype: str) -> Tuple[List[int], bytes]:
        array = self.numpy.asarray(array)
        return list(array.shape), _encode_numpy(self.numpy, array, dtype)

    def guard(self) -> Any:
        return self.numpy.errstate(all="ignore")  # overflow is what some inputs are for


class _Torch:
    """Tensors of torch on the host: in float64, without TF32, deterministic."""

    def __init__(self) -> None:
        import torch

        self.torch: Any = torch
        torch.use_deterministic_algorithms(True)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.types = {"f64": "float64", "f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}
        self.types.update(i64="int64", i32="int32", i16="int16", i8="int8", u8="uint8", bool="bool")

    def type_of(self, dtype: str) -> Any:
        return getattr(self.torch, self.types[dtype])

    def decode(self, data: bytes, dtype: str) -> Any:
        raw = self.torch.frombuffer(bytearray(data), dtype=self.torch.uint8)
        if dtype in _BYTES:  # torch has some of them, but computes with them in no version
            raw = self.torch.stack([raw & 15, raw >> 4], -1).reshape(-1) if _lanes(dtype) == 2 else raw
            return self.torch.tensor(_BYTES[dtype], dtype=self.torch.float32)[raw.long()]
        return raw.view(self.type_of(dtype))

    def view(self, flat: Any, shape: List[int], strides: List[int], offset: int) -> Any:
        return self.torch.as_strided(flat, shape, strides, offset) if strides else flat.reshape(shape)

    def wide(self, tensor: Any) -> Any:
        if tensor.dtype.is_floating_point:
            return tensor.to(self.torch.float64)
        return tensor if tensor.dtype == self.torch.bool else tensor.to(self.torch.int64)

    def encode(self, tensor: Any, dtype: str) -> Tuple[List[int], bytes]:
        tensor = self.torch.as_tensor(tensor).detach().cpu()
        if dtype in _BYTES:
            return list(tensor.shape), _Numpy().encode(tensor.to(self.torch.float64).numpy(), dtype)[1]
        import ctypes

        tensor = tensor.to(self.type_of(dtype)).contiguous()
        return list(tensor.shape), ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())

    def guard(self) -> Any:
        return self.torch.no_grad()


_opened: Dict[str, Any] = {}


def _framework(name: str) -> Any:
    if not name:
        name = "numpy" if importlib.util.find_spec("numpy") else "torch"
    if name not in _opened:
        try:
            _opened[name] = _Numpy() if name == "numpy" else _Torch()
        except ImportError as exc:
            raise Refusal("unsupported", f"{sys.executable} cannot import {name}: {exc}") from None
    return _opened[name]


# ---- Safetensors ----
Stored = Tuple[bytes, List[int], List[int], int]  # data, shape, strides (none: row-major), offset


def read_tensors(path: str, arguments: Dict[str, Message]) -> Dict[str, Stored]:
    """Reads the tensors of a file, which must have the types and shapes of the arguments."""
    with open(path, "rb") as file:
        total = os.fstat(file.fileno()).st_size
        size = int.from_bytes(file.read(8), "little")
        if total < 8 or size > min(_HEADER_MAX, total - 8):
            raise Refusal("bad_params", f"{path} is no safetensors file: its header has {size} bytes")
        try:
            header = json.loads(file.read(size))
        except (ValueError, RecursionError) as exc:
            raise Refusal("bad_params", f"{path} is no safetensors file: {exc}") from None
        if not isinstance(header, dict):
            raise Refusal("bad_params", f"{path} is no safetensors file: its header is no object")
        metadata = header.pop("__metadata__", None)
        metadata = metadata if isinstance(metadata, dict) else {}
        tensors = {}
        for name, argument in arguments.items():
            if name not in header:
                raise Refusal("bad_params", f"{path} has no tensor {name}")
            at, end, placed = _placed(name, argument, header[name], metadata)
            if not 0 <= at <= end <= total - 8 - size:
                raise Refusal("bad_params", f"the tensor {name} of {path} lies outside of the file")
            file.seek(8 + size + at)
            tensors[name] = (file.read(end - at), *placed)
        return tensors


def _placed(name: str, argument: Message, tensor: Any, metadata: Message) -> Tuple[int, int, Any]:
    """Where a tensor stands in its file, and its shape, strides and offset."""
    stored, size, _ = _DTYPES[argument["dtype"]]
    wrong = Refusal("bad_params", f"the tensor {name} is not {stored} {argument.get('shape')}, as declared")
    if not isinstance(tensor, dict) or tensor.get("dtype") != stored:
        raise wrong
    flat, span = tensor.get("shape"), tensor.get("data_offsets")
    for numbers in (flat, span):
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise wrong
    try:
        shape, strides, offset = (
            [int(n) for n in str(metadata[f"{name}.{fact}"]).split(",")] if f"{name}.{fact}" in metadata else []
            for fact in ("shape", "strides", "offset")
        )
    except ValueError:
        raise wrong from None
    length, start = math.prod(flat), (offset or [0])[0]
    if strides:
        last = start + sum((n - 1) * stride for n, stride in zip(shape, strides))
        if len(shape) != len(strides) or min(shape + strides + [start]) < 0 or last >= length:
            raise wrong
    shape = shape or flat
    if shape != argument.get("shape") or len(span) != 2 or span[1] - span[0] != length * size:
        raise wrong
    return span[0], span[1], (shape, strides, start)


def write_tensors(path: str, tensors: List[Tuple[str, str, List[int], bytes]]) -> None:
    """Writes (name, type as safetensors has it, shape, data) under another name first: it is whole or not there."""
    header, at = {}, 0
    for name, stored, shape, data in tensors:
        header[name] = {"dtype": stored, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for *_, data in tensors:
            file.write(data)
    os.replace(path + ".part", path)


# ---- The protocol ----
def _compute(request: Message) -> Message:
    name, arguments = request.get("benchmark"), request.get("arguments")
    if name not in _oracles:
        known = ", ".join(_oracles) or "none"
        raise Refusal("no_such_benchmark", f"there is no oracle for {name!r} here, only {known}")
    right, naive, wanted = _oracles[name]
    if not isinstance(arguments, list) or not all(isinstance(a, dict) for a in arguments):
        raise Refusal("bad_params", "compute needs the arguments of the kernel")
    for argument in arguments:
        if argument.get("dtype") not in _DTYPES:
            raise Refusal("bad_params", f"{argument.get('name')} has the unknown type {argument.get('dtype')!r}")
    framework = _framework(wanted)
    params = {**request.get("params", {}), **{a["name"]: a.get("value", 0) for a in arguments if a["role"] == "value"}}
    inputs = {a["name"]: a for a in arguments if a["role"] in ("in", "inout")}
    outputs = {a["name"]: a for a in arguments if a["role"] in ("out", "inout")}
    own = {}
    for key, (data, shape, strides, offset) in read_tensors(str(request.get("inputs")), inputs).items():
        dtype = inputs[key]["dtype"]
        flat, lanes = framework.decode(data, dtype), _lanes(dtype)
        if strides and lanes > 1:  # the values of an element stand side by side
            flat = framework.view(flat, [*shape, lanes], [*(lanes * stride for stride in strides), 1], lanes * offset)
            strides = []
        own[key] = framework.view(flat, _value_shape(shape, dtype), strides, offset)
    tensors = []
    with framework.guard():
        wide = {key: framework.wide(value) for key, value in own.items()}
        for key, value in _named(right(wide, dict(params)), outputs).items():
            tensors.append((key, "F64", *_checked(framework, key, value, outputs[key], "f64")))
        naively = naive is not None and request.get("naive") is True
        if naive is not None and naively:
            for key, value in _named(naive(own, dict(params)), outputs).items():
                dtype = outputs[key]["dtype"]
                checked = _checked(framework, key, value, outputs[key], dtype)
                tensors.append((key + ".naive", _DTYPES[dtype][0], *checked))
    write_tensors(str(request.get("outputs")), tensors)
    return {"naive": naively}


def _named(result: Any, outputs: Dict[str, Message]) -> Dict[str, Any]:
    """The outputs by name: a dict, or one array for the one output."""
    if not isinstance(result, dict):
        if len(outputs) != 1:
            raise Refusal("failed", f"the oracle must return a dict with {', '.join(outputs)}")
        return {next(iter(outputs)): result}
    if set(result) != set(outputs):
        raise Refusal("failed", f"the oracle returned {', '.join(result) or 'nothing'}, wanted {', '.join(outputs)}")
    return result


def _checked(framework: Any, name: str, value: Any, argument: Message, dtype: str) -> Tuple[List[int], bytes]:
    declared = argument.get("shape") or []
    wanted = _value_shape(declared, argument["dtype"])
    shape, data = framework.encode(value, dtype)
    if shape != wanted and not (shape == [] and wanted == [1]):  # a sum is a number
        raise Refusal("failed", f"the oracle returned {name} of the shape {shape}, wanted {wanted}")
    return (wanted if dtype == "f64" else declared), data


def _answer(request: Message) -> Message:
    op = request["op"]
    if op == "hello":
        offered = request.get("protocol")
        if not isinstance(offered, list) or 1 not in offered:
            raise Refusal("unsupported", f"pawl speaks protocol {offered!r}, this oracle [1]: update it")
        about = {"sdk": f"pawl_oracle.py {__version__}", "timers": ["wall"], "calibration": False}
        return {"protocol": 1, "features": ["compute"], **about}
    if op == "cases":
        return {"benchmarks": []}
    if op == "compute":
        return _compute(request)
    if op == "bye":
        return {}
    raise Refusal("unsupported", f"this oracle does not know the request {op!r}")


def _explain(exc: Exception) -> Message:
    if isinstance(exc, Refusal):
        return {"code": exc.code, "message": str(exc)}
    traceback.print_exception(type(exc), exc, exc.__traceback__, file=sys.stderr)
    short_of_memory = isinstance(exc, MemoryError) or "allocate memory" in str(exc)
    return {"code": "no_memory" if short_of_memory else "failed", "message": f"{type(exc).__name__}: {exc}"}


def _requests(read_fd: int) -> Iterator[Message]:
    with os.fdopen(read_fd, "rb") as lines:
        while True:
            line = lines.readline(_LINE_MAX + 1)
            if not line.endswith(b"\n") and len(line) <= _LINE_MAX:
                os._exit(0)  # pawl is gone
            try:
                request = json.loads(line)
            except (ValueError, RecursionError):
                request = None
            request = request if isinstance(request, dict) else {}
            if type(request.get("id")) is not int or type(request.get("op")) is not str:
                sys.exit(f"pawl_oracle: pawl sent a line that is no request with an id and an op: {line[:80]!r}")
            yield request


# Taken when this module is imported: other code is not to find the pipes.
_pipes = [os.environ.pop(name, "") for name in ("PAWL_IN", "PAWL_OUT", "PAWL_PROTOCOL")][:2]


def serve() -> None:
    """Answers pawl until it says bye. Started by hand it says what it is."""
    if not all(pipe.isdigit() for pipe in _pipes):
        names = ", ".join(_oracles) or "nothing"
        print(f"An oracle for pawl: it knows what is right for {names}. Name it as check.oracle in pawl.yaml.")
        return
    read_fd, write_fd = map(int, _pipes)
    for fd in (read_fd, write_fd):
        os.set_inheritable(fd, False)
    for request in _requests(read_fd):
        reply: Message = {"id": request["id"], "op": request["op"]}
        try:
            reply.update(_answer(request))
        except Exception as exc:
            reply["error"] = _explain(exc)
        data = json.dumps(reply).encode() + b"\n"
        while data:
            data = data[os.write(write_fd, data) :]
        if request["op"] == "bye":
            return
