"""The harnesses that people copy from the how-to page and from examples/ do run."""

import importlib.util
import pathlib
import re
import struct

import pytest
from test_arguments import read, write

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "how-to" / "write-a-harness-python.md"
SDPA = ROOT / "examples" / "sdpa-pytorch" / "harness.py"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def need_imports(code):
    for name in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(name)


def measure_all(harness):
    """Measures every implementation of every config that the harness lists."""
    assert harness.hello()["protocol"] == 1
    measured = []
    for known in harness.ask("cases")["benchmarks"]:
        for config in known["configs"]:
            for implementation in known["implementations"]:
                prepared = harness.prepare(known["name"], config, implementation=implementation)
                assert "error" not in prepared
                assert harness.measure(samples=3)["count"] == 3
                measured.append((known["name"], implementation))
    assert "error" not in harness.ask("bye")
    assert harness.wait() == 0
    return measured


def test_the_page_has_the_harnesses_tested_here():
    assert len(BLOCKS) == 4


@pytest.mark.parametrize("code", BLOCKS[:3], ids=["smallest", "implementations", "checked"])
def test_the_harnesses_of_the_page_run(start, run_by_hand, tmp_path, code):
    need_imports(code)
    path = tmp_path / "page.py"
    path.write_text(code)
    assert measure_all(start(path))
    by_hand = run_by_hand(path)
    assert (by_hand.returncode, by_hand.stderr) == (0, "")


def test_the_oracle_of_the_page_agrees_with_its_harness(start, tmp_path):
    need_imports(BLOCKS[2])
    need_imports(BLOCKS[3])
    for name, code in (("harness.py", BLOCKS[2]), ("oracle.py", BLOCKS[3])):
        (tmp_path / name).write_text(code)
    arguments = [dict(name=name, role=role, dtype="f32", shape=[2]) for name, role in (("x", "in"), ("y", "out"))]
    inputs = write(tmp_path / "in", x=("F32", [2], struct.pack("<2f", 1.5, -3)))
    harness, oracle = start(tmp_path / "harness.py"), start(tmp_path / "oracle.py")
    for implementation in ("candidate", "out"):
        harness.prepare("scale", {"N": 2}, implementation=implementation, arguments=arguments)
        assert harness.ask("check", inputs=inputs, outputs=str(tmp_path / "got"), poison="1")["supported"]
        assert read(tmp_path / "got") == {"y": ("F32", [2], struct.pack("<2f", 3, -6))}
    asked = dict(benchmark="scale", params={"N": 2}, arguments=arguments, inputs=inputs, naive=True)
    assert oracle.ask("compute", outputs=str(tmp_path / "want"), **asked)["naive"] is True
    want = read(tmp_path / "want")
    assert want["y"] == ("F64", [2], struct.pack("<2d", 3, -6)) and want["y.naive"] == read(tmp_path / "got")["y"]


def test_the_page_tells_the_truth_about_failure(start, tmp_path):
    need_imports(BLOCKS[1])
    path = tmp_path / "page.py"
    path.write_text(BLOCKS[1])
    reply = start(path).prepare("row_sum", {"M": 2, "N": 2, "dtype": "float64"}, implementation="torch")
    assert reply["error"]["code"] == "unsupported"


def test_sdpa_runs(start):
    pytest.importorskip("torch")
    harness = start(SDPA, env={"PYTHONPATH": ""})  # it finds the SDK by itself
    assert measure_all(harness) == 2 * [("sdpa", "candidate"), ("sdpa", "math")]


def test_both_implementations_of_sdpa_compute_attention():
    torch = pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("sdpa_harness", str(SDPA))
    sdpa = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sdpa)
    torch.manual_seed(1)
    q, k, v = (3 * x for x in sdpa.make_inputs(2, 3, 33, 16))
    exact = torch.empty(2, 3, 33, 16, dtype=torch.float64)
    for b, h, s in ((b, h, s) for b in range(2) for h in range(3) for s in range(33)):
        weights = (k[b, h].double() @ q[b, h, s].double() / 4).exp()
        exact[b, h, s] = (weights[:, None] * v[b, h].double()).sum(0).cpu() / weights.sum().cpu()
    tolerance = 1e-5 if sdpa.DTYPE is torch.float32 else 1e-2
    for attention in (sdpa.fused, sdpa.written_out):
        assert (attention(q, k, v).double().cpu() - exact).abs().max().item() < tolerance
