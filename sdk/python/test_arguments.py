"""What a harness reads and writes: arguments of torch, numpy and plain buffers, checked and kept."""

import json
import struct
import sys

import pytest

import pawl_harness
from conftest import Harness


def poison(seed, count):
    """The pattern of docs/reference/harness-protocol.md, written once more."""
    data, mask = b"", (1 << 64) - 1
    for i in range(1, count // 8 + 2):
        z = seed + i * 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        data += struct.pack("<Q", 0x7FF07FF07FF07FF0 | (z ^ z >> 31) & 0x800F800F800F800F)
    return data[:count]


def write(path, **tensors):
    """name=(dtype, shape, bytes)"""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return str(path)


def read(path):
    whole = open(path, "rb").read()
    size = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + size])
    header.pop("__metadata__", None)
    assert size % 8 == 0
    return {
        name: (t["dtype"], t["shape"], whole[8 + size + t["data_offsets"][0] : 8 + size + t["data_offsets"][1]])
        for name, t in header.items()
    }


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


MAKE = {
    "numpy": "import numpy\nmake = lambda n: numpy.random.rand(n).astype('float32')",
    "torch": "import torch\nmake = lambda n: torch.rand(n)",
    "array": "import array, random\nmake = lambda n: array.array('f', [random.random() for _ in range(n)])",
}

HARNESS = """
import pawl_harness as pawl
{make}

@pawl.benchmark("double")
def double(n: int, mode: str = ""):
    x, y = make(n), make(n)
    pawl.input("x", x)
    pawl.output("y", y)
    memory = []
    def run():
        if memory:
            y[:] = memory[0]
            return
        y[:] = type(y)("f", [2 * v for v in x]) if type(y).__name__ == "array" else 2 * x
        if mode == "spoils":
            x[0] = 7
        if mode == "remembers":  # by address, as a cheat would
            memory.append(y[:] if type(y).__name__ == "array" else y * 1)
    return run

@pawl.benchmark("returns")
def returns(n: int, how: str):
    x = make(n)
    pawl.input("x", x)
    pawl.output("y")
    if how in ("tuple", "dict"):
        pawl.output("z")
    y = lambda: type(x)("f", [2 * v for v in x]) if type(x).__name__ == "array" else 2 * x
    results = dict(one=y, tuple=lambda: (y(), y()), dict=lambda: dict(z=y(), y=y()), none=lambda: None)
    return results[how]

pawl.main()
"""


@pytest.fixture(scope="module", params=sorted(MAKE))
def harness(request, tmp_path_factory):
    """One process for all tests: importing torch takes seconds."""
    if request.param != "array":
        pytest.importorskip(request.param)
    folder = tmp_path_factory.mktemp("harness")
    (folder / "harness.py").write_text(HARNESS.format(make=MAKE[request.param]))
    started = Harness([sys.executable, str(folder / "harness.py")], folder)
    started.hello()
    yield started
    started.close()


def test_a_check_fills_runs_and_reads(harness, tmp_path):
    harness.prepare("double", {"n": 3})
    inputs = write(tmp_path / "in", x=("F32", [3], struct.pack("<3f", 1, -2, 0.5)))
    assert harness.ask("check", inputs=inputs, outputs=str(tmp_path / "out"), poison="1")["supported"] is True
    assert read(tmp_path / "out") == {"y": ("F32", [3], struct.pack("<3f", 2, -4, 1))}


def test_an_input_that_changes_is_told(harness, tmp_path):
    harness.prepare("double", {"n": 3, "mode": "spoils"})
    inputs = write(tmp_path / "in", x=("F32", [3], struct.pack("<3f", 1, 2, 3)))
    reply = harness.ask("check", inputs=inputs, outputs=str(tmp_path / "out"), poison="1")
    assert (reply["error"]["code"], "input x" in reply["error"]["message"]) == ("integrity", True)


def test_kept_samples_belong_together(harness, tmp_path):
    seen = set()
    for seed in range(8):
        harness.prepare("double", {"n": 40})
        keep = {"dir": str(tmp_path), "count": 1, "seed": str(seed)}
        reply = harness.ask("measure", samples=4, keep=keep)
        assert reply["count"] == 4 == len(reply["samples"])
        seen.add(reply["kept"][0]["sample"])
        x, y = (floats(read(reply["kept"][0][side])[name][2]) for side, name in (("inputs", "x"), ("outputs", "y")))
        assert y == [2 * value for value in x]
    assert len(seen) > 2, "every sample may be the one"


def test_a_result_remembered_by_address_is_wrong(harness, tmp_path):
    harness.prepare("double", {"n": 40, "mode": "remembers"})
    reply = harness.ask("measure", samples=4, keep={"dir": str(tmp_path), "count": 1, "seed": "1"})
    x, y = (floats(read(reply["kept"][0][side])[name][2]) for side, name in (("inputs", "x"), ("outputs", "y")))
    assert y != [2 * value for value in x]


@pytest.mark.parametrize("how, names", [("one", ["y"]), ("tuple", ["y", "z"]), ("dict", ["y", "z"])])
def test_an_output_may_be_what_the_run_returns(harness, tmp_path, how, names):
    declared = [{"name": n, "role": "out", "dtype": "f32", "shape": [2]} for n in names]
    assert "error" not in harness.prepare("returns", {"n": 2, "how": how}, arguments=declared)
    inputs = write(tmp_path / "in", x=("F32", [2], struct.pack("<2f", 1, 2)))
    assert harness.ask("check", inputs=inputs, outputs=str(tmp_path / "out"), poison="1")["supported"] is True
    assert read(tmp_path / "out") == {name: ("F32", [2], struct.pack("<2f", 2, 4)) for name in names}
    reply = harness.ask("measure", samples=3, keep={"dir": str(tmp_path), "count": 3, "seed": "1"})
    assert [kept["sample"] for kept in reply["kept"]] == [0, 1, 2]


def test_a_run_that_returns_nothing_is_told(harness, tmp_path):
    harness.prepare("returns", {"n": 2, "how": "none"})
    inputs = write(tmp_path / "in", x=("F32", [2], struct.pack("<2f", 1, 2)))
    reply = harness.ask("check", inputs=inputs, outputs=str(tmp_path / "out"), poison="1")
    assert "y" in reply["error"]["message"]


def storages(dtype):
    """The same ten elements as each library stores them."""
    sizes = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u8": 1, "bool": 1}
    words = memoryview(bytearray(10 * sizes[dtype])).cast({8: "q", 4: "i", 2: "h", 1: "b"}[sizes[dtype]])
    yield pawl_harness._Buffer("a", words, dtype, None, None)
    numpy, torch = (pytest.importorskip(name) for name in ("numpy", "torch"))
    names = {"f": "float", "i": "int", "u": "uint"}
    name = {"bf16": "bfloat16", "bool": "bool"}.get(dtype) or names[dtype[0]] + dtype[1:]
    if dtype != "bf16":
        yield pawl_harness._Array("a", numpy.zeros(10, dtype=name), "")
    yield pawl_harness._Tensor("a", torch.zeros(10, dtype=getattr(torch, name)), "")


def test_dtype_names_elements_that_pawl_does_not_know():
    """bf16 in uint16, and types of one byte such as e8m0."""
    words = memoryview(bytearray(20)).cast("H")
    assert pawl_harness._Buffer("a", words, "bf16", None, None).describe() == ("BF16", [10], [])
    for dtype in ("", "f32"):
        with pytest.raises(pawl_harness.Failure, match="a is of the type H"):
            pawl_harness._Buffer("a", words, dtype, None, None)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"])
@pytest.mark.parametrize("seed", [0, 12345, (1 << 64) - 1])
def test_every_storage_is_poisoned_alike(dtype, seed):
    for storage in storages(dtype):
        size = len(storage.read())
        storage.poison(seed)
        assert storage.read() == poison(seed, size)
        storage.write(bytes(range(size)))
        copy = storage.copy()
        storage.poison(1)
        assert storage.bytes_of(copy) == bytes(range(size))


def test_the_poison_of_the_protocol():
    assert poison(12345, 16).hex() == "f07ff1fff8fff17ffdfff3fff5fffe7f"


KEY, OTHER = "0123456789abcdef" * 4, "fedcba9876543210" * 4


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_every_storage_draws_alike(dtype):
    drawn = []
    for storage in storages(dtype):
        assert storage.draw(12345, {}) is True
        drawn.append(storage.read())
        sums = storage.sums([storage.flat], 7)
        assert sum(sums[3::4]) == 10 and sum(sums[2::4]) == 0 and 2.5 < sum(sums[1::4]) < 40
    assert len(set(drawn)) == 1


def test_what_is_drawn_never_changes():
    """Both sides of a comparison may have other versions of the SDK."""
    storage = pawl_harness._Buffer("a", memoryview(bytearray(16)).cast("f"), "", None, None)
    assert storage.draw(12345, {}) and storage.read().hex() == "a011d1bf5882113fedf813bfe5dc6e3f"
    assert storage.draw(12345, {"kind": "uniform", "low": -3, "high": 5}) and storage.read().hex() == "f7b9f7bf8c44aebf51cb02c0c6a7cbbf"


@pytest.mark.parametrize("dtype, low, high", [("f32", -3, 5), ("f16", 0, 1), ("i32", 10, 20), ("u8", 0, 2), ("i64", -4, 4)])
def test_bounds_are_kept_to(dtype, low, high):
    drawn = []
    for storage in storages(dtype):
        assert storage.draw(99, {"kind": "uniform", "low": low, "high": high}) is True
        drawn.append(storage.read())
        code = {"f32": "f", "f16": "e", "i32": "i", "u8": "B", "i64": "q"}[dtype]
        values = [value[0] for value in struct.iter_unpack("<" + code, drawn[-1])]
        assert all(low <= value <= high for value in values) and len(set(values)) > 1
        if dtype[0] != "f":
            assert max(values) < high
    assert len(set(drawn)) == 1


def test_whole_numbers_without_bounds_stay():
    for storage in storages("i32"):
        before = storage.read()
        assert storage.draw(1, {}) is False and storage.read() == before


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i32", "i8", "u8", "bool"])
def test_every_storage_adds_up_alike(dtype):
    """As the protocol says it, written once more; a sample of two runs."""
    found = []
    for storage in storages(dtype):
        storage.draw(5, {"kind": "uniform", "low": 0, "high": 2} if dtype[0] in "iub" and dtype != "bf16" else {})
        if dtype == "f32":
            storage.write(storage.read()[:-4] + struct.pack("<f", float("inf")))
        found.append(storage.sums([storage.flat, storage.copy()], 77))
    code = {"f64": "d", "f32": "f", "f16": "e", "i32": "i", "i8": "b", "u8": "B", "bool": "B"}.get(dtype)
    data = 2 * storage.read()
    if code:
        values = [float(value[0]) for value in struct.iter_unpack("<" + code, data)]
    else:
        values = [struct.unpack("<f", b"\0\0" + data[at : at + 2])[0] for at in range(0, len(data), 2)]
    signs = struct.unpack("<Q", splitmix(77))[0]
    want = [0.0] * 128
    for i, value in enumerate(values):  # 20 elements in 32 blocks: one each
        odd = value in (float("inf"), float("-inf"))
        sign = 1 if signs >> i & 1 else -1
        want[4 * i : 4 * i + 4] = [0, 0, 1, 1] if odd else [sign * value, value * value, 0, 1]
    for sums in found:
        assert sums == pytest.approx(want)


SMALL = sorted(pawl_harness._FORMATS)


def small_storages(dtype):
    """The same 16 bytes as each library stores them, where they are of no type of its own."""
    yield pawl_harness._Buffer("a", bytearray(16), dtype, None, None)
    numpy, torch = (pytest.importorskip(name) for name in ("numpy", "torch"))
    yield pawl_harness._Array("a", numpy.zeros(16, dtype="uint8"), dtype)
    yield pawl_harness._Tensor("a", torch.zeros(16, dtype=torch.uint8), dtype)


@pytest.mark.parametrize("dtype", SMALL)
def test_small_types_are_drawn_and_add_up_alike(dtype):
    table = pawl_harness._values_of_bytes(dtype)
    found, drawn = [], set()
    for storage in small_storages(dtype):
        assert storage.draw(5, {}) is True
        drawn.add(storage.read())
        found.append(storage.sums([storage.flat], 77))
        if dtype not in ("e4m3", "e5m2"):
            assert storage.draw(5, {"kind": "uniform", "low": 1, "high": 2}) is False
    data = drawn.pop()
    assert not drawn, "every library draws the same"
    bits = [half for byte in data for half in (byte & 15, byte >> 4)] if dtype == "e2m1x2" else data
    values = [table[one] for one in bits]
    assert all(abs(value) < 2 for value in values) and len(set(values)) > 1
    signs = struct.unpack("<Q", splitmix(77))[0]
    want = [0.0] * 128
    for i, value in enumerate(values):  # at most 32 values in 32 blocks: one each
        want[4 * i : 4 * i + 4] = [value if signs >> i & 1 else -value, value * value, 0, 1]
    for sums in found:
        assert sums == pytest.approx(want)


def splitmix(seed):
    mask = (1 << 64) - 1
    z = seed + 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return struct.pack("<Q", z ^ z >> 31)


def verified(harness, benchmark, params, samples=4, key=KEY, **more):
    reply = harness.ask("prepare", **prepared(benchmark, params, key))
    assert "error" not in reply, reply
    reply = harness.ask("measure", samples=samples, verify={"key": "99", "first": 3}, batch=2, **more)
    assert "error" not in reply, reply
    assert reply["count"] == samples and reply["batch"] == 2
    return reply


def prepared(benchmark, params, key):
    return dict(benchmark=benchmark, implementation="candidate", params=params, cache="hot", timer="wall", seed="1", bytes=0, key=key)


@pytest.mark.parametrize("benchmark, params", [("double", {"n": 40}), ("returns", {"n": 40, "how": "one"}), ("returns", {"n": 40, "how": "dict"})])
def test_every_timed_run_is_added_up(harness, benchmark, params):
    sums = verified(harness, benchmark, params)["sums"]
    outputs = 2 if params.get("how") == "dict" else 1
    assert len(sums) == 2 * 8 * 4 * 32 * 4 * outputs
    assert verified(harness, benchmark, params)["sums"] == sums, "the same inputs for the same key"
    assert verified(harness, benchmark, params, key=OTHER)["sums"] != sums
    counts = struct.unpack(f"<{len(sums) // 16}d", bytes.fromhex(sums))[3::4]
    assert sum(counts) == 4 * 2 * 40 * outputs


def test_a_result_that_is_remembered_adds_up_otherwise(harness):
    right = verified(harness, "double", {"n": 40})["sums"]
    assert verified(harness, "double", {"n": 40, "mode": "remembers"})["sums"] != right


def test_kept_samples_are_of_the_drawn_inputs(harness, tmp_path):
    reply = verified(harness, "double", {"n": 40}, keep={"dir": str(tmp_path), "count": 2, "seed": "1"})
    assert len(reply["kept"]) == 2
    for kept in reply["kept"]:
        x, y = (floats(read(kept[side])[name][2]) for side, name in (("inputs", "x"), ("outputs", "y")))
        assert y == [2 * value for value in x] and all(0.5 <= abs(value) < 2 for value in x)


def test_strides_and_gaps():
    numpy, torch = (pytest.importorskip(name) for name in ("numpy", "torch"))
    whole = numpy.arange(20, dtype="float32").reshape(4, 5)
    for storage in (
        pawl_harness._Array("a", whole[1:3, 1:4], ""),
        pawl_harness._Tensor("a", torch.from_numpy(whole)[1:3, 1:4], ""),
        pawl_harness._Buffer("a", memoryview(whole).cast("B").cast("f")[6:], "", (2, 3), (5, 1)),
    ):
        assert storage.describe() == ("F32", [2, 3], [5, 1])
        assert floats(storage.read()) == [6, 7, 8, 9, 10, 11, 12, 13]
    plain = pawl_harness._Tensor("a", torch.zeros(1, 4)[:, :2], "")  # the stride of a dimension of one is never used
    assert plain.describe() == ("F32", [1, 2], [])
    with pytest.raises(pawl_harness.Failure, match="strides"):
        pawl_harness._Array("a", whole[::-1], "")


def test_types_may_be_told():
    storage = pawl_harness._Buffer("a", memoryview(bytearray(8)).cast("h"), "bf16", None, None)
    assert storage.describe()[0] == "BF16"
    with pytest.raises(pawl_harness.Failure, match="dtype="):
        pawl_harness._Buffer("a", memoryview(bytearray(8)).cast("h"), "f32", None, None)
    with pytest.raises(pawl_harness.Failure, match="bytes"):
        pawl_harness._Buffer("a", bytearray(8), "", (9,), None)


def test_arguments_belong_to_setup():
    with pytest.raises(pawl_harness.Failure, match="in setup"):
        pawl_harness.input("x", bytearray(4))
    assert sys.modules["builtins"].input is not pawl_harness.input
