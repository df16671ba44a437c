"""The oracle, as pawl meets it: a process that is sent files and writes files."""

import math
import pathlib
import random
import struct
import subprocess
import sys

import pytest

import pawl_harness
import pawl_oracle
from conftest import SDK, Harness
from test_arguments import read, write

numpy = pytest.importorskip("numpy")

ORACLE = """
import numpy as np
from pawl_oracle import oracle, serve

def scaled(inputs, params):
    assert all(v.dtype == np.float64 for v in inputs.values())
    return {"y": inputs["x"] * params["factor"] * params["a"]}

@oracle("scale", naive=lambda inputs, params: inputs["x"] * inputs["x"].dtype.type(params["factor"] * params["a"]))
def scale(inputs, params):
    return scaled(inputs, params)

@oracle("total")
def total(inputs, params):
    return inputs["x"].sum()

@oracle("wrong")
def wrong(inputs, params):
    return {"z": inputs["x"]}

@oracle("crash")
def crash(inputs, params):
    raise ZeroDivisionError("asked to")

print("hello from stdout")
serve()
"""

X = {"name": "x", "role": "in", "dtype": "f16", "shape": [2]}
Y = {"name": "y", "role": "out", "dtype": "f16", "shape": [2]}
A = {"name": "a", "role": "value", "dtype": "i32", "value": 3}


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oracle")
    (folder / "oracle.py").write_text(ORACLE)
    started = Harness([sys.executable, str(folder / "oracle.py")], folder)
    assert started.hello()["features"] == ["compute"]
    yield started
    started.close()


def compute(oracle, folder, benchmark="scale", arguments=(X, Y, A), data=None, **more):
    path = folder / "in"
    if data is None:
        data = ("F16", [2], struct.pack("<2e", 1.5, -2))
    write(path, x=data)
    request = {"params": {"factor": 2}, "naive": False, "inputs": str(path), "outputs": str(folder / "out"), **more}
    return oracle.ask("compute", benchmark=benchmark, arguments=list(arguments), **request)


def test_what_is_right_comes_back_in_float64(oracle, tmp_path):
    assert compute(oracle, tmp_path)["naive"] is False
    assert read(tmp_path / "out") == {"y": ("F64", [2], struct.pack("<2d", 9, -12))}


def test_naive_is_in_the_type_of_the_kernel(oracle, tmp_path):
    data = ("F16", [2], struct.pack("<2e", 1.5, 30000))
    assert compute(oracle, tmp_path, data=data, naive=True)["naive"] is True
    wanted = {"y": ("F64", [2], struct.pack("<2d", 9, 180000))}
    wanted["y.naive"] = ("F16", [2], struct.pack("<e", 9) + b"\x00\x7c")  # FP16 overflows
    assert read(tmp_path / "out") == wanted


def test_an_oracle_without_a_naive_result_says_so(oracle, tmp_path):
    arguments = [X, {**Y, "shape": [1]}]
    assert compute(oracle, tmp_path, "total", arguments, naive=True)["naive"] is False
    assert read(tmp_path / "out") == {"y": ("F64", [1], struct.pack("<d", -0.5))}


@pytest.mark.parametrize(
    "benchmark, change, code, message",
    [
        ("nosuch", {}, "no_such_benchmark", "nosuch"),
        ("wrong", {}, "failed", "z"),
        ("crash", {}, "failed", "ZeroDivisionError: asked to"),
        ("scale", {"arguments": [X, {**Y, "shape": [3]}, A]}, "failed", "[3]"),
        ("scale", {"arguments": [{**X, "dtype": "f8"}, Y, A]}, "bad_params", "f8"),
        ("scale", {"arguments": [{**X, "dtype": "f32"}, Y, A]}, "bad_params", "x"),
        ("scale", {"arguments": [{**X, "shape": [1, 2]}, Y, A]}, "bad_params", "x"),
        ("scale", {"arguments": [{**X, "name": "w"}, Y, A]}, "bad_params", "w"),
        ("scale", {"arguments": "none"}, "bad_params", "arguments"),
        ("scale", {"inputs": "/no/such/file"}, "failed", "/no/such/file"),
    ],
)
def test_refusals(oracle, tmp_path, benchmark, change, code, message):
    error = compute(oracle, tmp_path, benchmark, **change)["error"]
    assert error["code"] == code and message in error["message"]
    assert "error" not in compute(oracle, tmp_path), "it stays usable"


def test_hostile_files_are_refused(oracle, tmp_path):
    chance = random.Random(1)
    compute(oracle, tmp_path)
    whole = (tmp_path / "in").read_bytes()
    request = {"params": {"factor": 2}, "inputs": str(tmp_path / "in"), "outputs": str(tmp_path / "out")}
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = bytes(chance.choice(b'{}[]":,0123456789\xff') for _ in range(2))
        (tmp_path / "in").write_bytes(data)
        reply = oracle.ask("compute", benchmark="scale", arguments=[X, Y, A], **request)
        refused += reply.get("error", {}).get("code") == "bad_params"
    assert 100 < refused < 300


def test_strides(oracle, tmp_path):
    import json

    x, y = {**X, "dtype": "f32", "shape": [2, 2], "strides": [3, 1]}, {**Y, "dtype": "f32", "shape": [2, 2]}
    header = {"x": {"dtype": "F32", "shape": [5], "data_offsets": [0, 20]}}
    header["__metadata__"] = {"x.shape": "2,2", "x.strides": "3,1", "x.offset": "0"}
    text = json.dumps(header).encode()
    path = tmp_path / "strided"
    path.write_bytes(struct.pack("<Q", len(text)) + text + struct.pack("<5f", 1, 2, 99, 3, 4))
    assert "error" not in compute(oracle, tmp_path, arguments=[x, y, A], inputs=str(path))
    assert read(tmp_path / "out")["y"] == ("F64", [2, 2], struct.pack("<4d", 6, 12, 18, 24))
    # Strides that lead out of the storage.
    path.write_bytes(path.read_bytes().replace(b'"3,1"', b'"4,1"'))
    assert compute(oracle, tmp_path, arguments=[x, y, A], inputs=str(path))["error"]["code"] == "bad_params"


BITS = {
    "bf16": 16, "f16": 16, "e4m3": 8, "e5m2": 8, "e4m3fnuz": 8, "e5m2fnuz": 8, "e8m0": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4,
}  # fmt: skip


@pytest.mark.parametrize("dtype, bits", BITS.items())
def test_every_pattern_survives(dtype, bits):
    patterns = numpy.arange(1 << bits, dtype="<u2" if bits == 16 else "u1")
    values = pawl_oracle._decode_numpy(numpy, patterns.tobytes(), dtype)
    back = numpy.frombuffer(pawl_oracle._encode_numpy(numpy, values, dtype), dtype=patterns.dtype)
    numbers = ~numpy.isnan(values)
    assert (back[numbers] == patterns[numbers]).all()
    again = pawl_oracle._decode_numpy(numpy, back.tobytes(), dtype)
    assert numpy.isnan(again[~numbers]).all()


@pytest.mark.parametrize(
    "dtype, value, wanted",
    [
        ("e4m3", 448.0, 0x7E), ("e4m3", 464.0, 0x7E), ("e4m3", 464.1, 0x7F), ("e4m3", math.inf, 0x7F),
        ("e4m3", 2.0**-9, 1), ("e4m3", 2.0**-10, 0), ("e4m3", 1.5 * 2.0**-9, 2), ("e4m3", -0.0, 0x80),
        ("e4m3", 1.0, 0x38), ("e4m3", 1.0625, 0x38), ("e4m3", 1.1875, 0x3A), ("e4m3", math.nan, 0x7F),
        ("e5m2", 57344.0, 0x7B), ("e5m2", 61439.0, 0x7B), ("e5m2", 61440.0, 0x7C), ("e5m2", -math.inf, 0xFC),
        ("e5m2", 1.0, 0x3C), ("e5m2", 1.125, 0x3C), ("e5m2", 1.375, 0x3E),
        ("e4m3fnuz", 240.0, 0x7F), ("e4m3fnuz", 247.9, 0x7F), ("e4m3fnuz", 248.0, 0x80), ("e4m3fnuz", -0.0, 0),
        ("e4m3fnuz", -1e-9, 0), ("e4m3fnuz", 1.0, 0x40), ("e4m3fnuz", -math.inf, 0x80), ("e4m3fnuz", math.nan, 0x80),
        ("e5m2fnuz", 57344.0, 0x7F), ("e5m2fnuz", 61440.0, 0x80), ("e5m2fnuz", -1.0, 0xC0),
        ("e8m0", 1.0, 127), ("e8m0", 1.49, 127), ("e8m0", 1.5, 128), ("e8m0", 3.0, 129), ("e8m0", -4.0, 129),
        ("e8m0", 0.0, 0), ("e8m0", 2.0**127, 254), ("e8m0", 1.5 * 2.0**127, 255), ("e8m0", math.nan, 255),
        ("e3m2", 1.0, 0x0C), ("e3m2", 100.0, 0x1F), ("e3m2", -math.inf, 0x3F), ("e3m2", math.nan, 0x1F),
        ("e2m3", 7.5, 0x1F), ("e2m3", 9.0, 0x1F), ("e2m3", 0.0625, 0), ("e2m3", 0.1875, 2),
        ("e2m1", 5.0, 6), ("e2m1", 7.0, 7), ("e2m1", -0.25, 8), ("e2m1", -0.75, 10), ("e2m1", 0.26, 1),
        ("bf16", 1.0, 0x3F80), ("bf16", 1 + 2.0**-8, 0x3F80), ("bf16", 1 + 3 * 2.0**-8, 0x3F82),
        ("bf16", 3.4e38, 0x7F80),
    ],
)  # fmt: skip
def test_rounding(dtype, value, wanted):
    data = pawl_oracle._encode_numpy(numpy, numpy.array([value]), dtype)
    assert int.from_bytes(data, "little") == wanted


def test_patterns_rise_by_steps_that_double():
    """Without a look at an exponent: the step doubles when the mantissa is full, but for that of the denormals."""
    largest = {"e4m3": 480, "e5m2": 114688, "e4m3fnuz": 240, "e5m2fnuz": 57344, "e3m2": 28, "e2m3": 7.5, "e2m1": 6}
    for dtype, (mantissa, step) in {
        "e4m3": (3, 2.0**-9), "e5m2": (2, 2.0**-16), "e4m3fnuz": (3, 2.0**-10), "e5m2fnuz": (2, 2.0**-17),
        "e3m2": (2, 0.0625), "e2m3": (3, 0.125), "e2m1": (1, 0.5),
    }.items():  # fmt: skip
        values, sign = [0.0], 1 << BITS[dtype] - 1
        for pattern in range(1, sign):
            values.append(values[-1] + step)
            step *= 2 if pattern % (1 << mantissa) == 0 and pattern >= 2 << mantissa else 1
        assert values[-1] == largest[dtype]
        values += [-value for value in values]
        nan = {"e4m3": [0x7F, 0xFF], "e5m2": [0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]}.get(dtype, [0x80])
        for pattern in nan if BITS[dtype] == 8 else []:
            values[pattern] = math.nan
        if dtype == "e5m2":
            values[0x7C], values[0xFC] = math.inf, -math.inf
        assert numpy.array_equal(pawl_oracle._BYTES[dtype], values * (256 // len(values)), equal_nan=True), dtype
    assert pawl_oracle._BYTES["e8m0"][:255] == [2.0 ** (pattern - 127) for pattern in range(255)]
    assert math.isnan(pawl_oracle._BYTES["e8m0"][255])


def test_a_harness_reads_bytes_as_an_oracle_does():
    assert pawl_harness._FORMATS == pawl_oracle._FORMATS
    for dtype, values in pawl_oracle._BYTES.items():
        wanted = [math.nan if math.isinf(value) else value for value in values]
        assert numpy.array_equal(pawl_harness._values_of_bytes(dtype), wanted, equal_nan=True), dtype


def test_two_values_in_a_byte(oracle, tmp_path):
    x, y = {**X, "dtype": "e2m1x2", "shape": [1, 2]}, {**Y, "dtype": "e2m1x2", "shape": [1, 2]}
    data = ("E2M1X2", [1, 2], b"\xa1\x43")  # 0.5, -1, 1.5, 2
    reply = compute(oracle, tmp_path, arguments=[x, y, {**A, "value": 1}], data=data, naive=True)
    assert reply["naive"] is True
    wanted = {"y": ("F64", [1, 4], struct.pack("<4d", 1, -2, 3, 4))}
    wanted["y.naive"] = ("E2M1X2", [1, 2], b"\xc2\x65")
    assert read(tmp_path / "out") == wanted


def test_two_values_in_a_byte_with_strides():
    flat = pawl_oracle._decode_numpy(numpy, bytes([0x21, 0xFF, 0x43, 0xFF, 0x65]), "e2m1x2")
    framework = pawl_oracle._Numpy()
    pairs = framework.view(flat, [3, 1, 2], [4, 2, 1], 0)
    assert framework.view(pairs, [3, 2], [], 0).tolist() == [[0.5, 1], [1.5, 2], [3, 4]]


def test_torch_agrees_with_numpy():
    pytest.importorskip("torch")
    ours, theirs = pawl_oracle._Numpy(), pawl_oracle._Torch()
    chance = numpy.random.default_rng(1)
    for dtype in ("f64", "f32", "f16", "bf16", *pawl_oracle._FORMATS, "i64", "i32", "i16", "i8", "u8", "bool"):
        size = pawl_oracle._DTYPES[dtype][1]
        data = chance.integers(0, 2 if dtype == "bool" else 256, 64 * size, dtype="u1").tobytes()
        wide = [f.wide(f.view(f.decode(data, dtype), [4, 4], [9, 1], 2)) for f in (ours, theirs)]
        assert numpy.array_equal(wide[0], wide[1].numpy(), equal_nan=wide[0].dtype.kind == "f"), dtype
        if wide[0].dtype.kind == "f":
            number = numpy.nan_to_num(wide[0], nan=0, posinf=1, neginf=-1)
            assert ours.encode(number, dtype) == theirs.encode(theirs.torch.from_numpy(number), dtype), dtype


def test_torch_computes(tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "oracle.py"
    path.write_text(
        "import torch\nfrom pawl_oracle import oracle, serve\n"
        "@oracle('scale', naive=lambda i, p: i['x'] * 2, framework='torch')\n"
        "def f(i, p):\n    assert i['x'].dtype == torch.float64\n    return i['x'] * 2\n"
        "serve()\n"
    )
    started = Harness([sys.executable, str(path)], tmp_path)
    x, y = {**X, "dtype": "bf16"}, {**Y, "dtype": "bf16"}
    data = ("BF16", [2], b"\x80\x3f\x00\xc0")  # 1, -2
    assert compute(started, tmp_path, arguments=[x, y], data=data, naive=True)["naive"] is True
    wanted = {"y": ("F64", [2], struct.pack("<2d", 2, -4)), "y.naive": ("BF16", [2], b"\x00\x40\x80\xc0")}
    assert read(tmp_path / "out") == wanted
    started.ask("bye")
    assert started.wait() == 0
    started.close()


def test_by_hand_it_says_what_it_is(tmp_path):
    (tmp_path / "oracle.py").write_text(ORACLE)
    env = {"PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1", "PATH": str(pathlib.Path(sys.executable).parent)}
    done = subprocess.run([sys.executable, str(tmp_path / "oracle.py")], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "scale, total, wrong, crash" in done.stdout
