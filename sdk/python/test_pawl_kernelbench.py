"""A problem in the form of KernelBench becomes a suite and a harness, and answers become its results. Needs torch."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import pawl_kernelbench

pytest.importorskip("torch")

SDK = pathlib.Path(__file__).resolve().parent
PAGE = (SDK.parent.parent / "docs" / "how-to" / "agents-loops.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = nn.Linear(features, 3)
    def forward(self, x, scale):
        return self.layer(x) * scale, x.sum(dim=1)

def get_inputs():
    return [torch.rand(4, 8), 2.0]

def get_init_inputs():
    return [8]
"""

NEW = PROBLEM.replace("class Model(", "class ModelNew(").replace("* scale", "* %s")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("pawl_kernelbench.py", "pawl_harness.py"):
        shutil.copy(SDK / name, tmp_path)
    (tmp_path / "7_Linear.py").write_text(PROBLEM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_problem_becomes_a_suite(folder):
    done = subprocess.run([sys.executable, "pawl_kernelbench.py", "suite", "7_Linear.py"], capture_output=True, text=True, check=True)
    assert done.stdout == "7_Linear.yaml\n"
    lines = dict(line.split(": ", 1) for line in (folder / "7_Linear.yaml").read_text().splitlines())
    case = json.loads(lines["benchmarks"])["7_Linear"]
    assert case["matrix"] == {"problem": [7]}
    assert case["arguments"] == {"x0": {"in": "f32", "shape": [4, 8]}, "y0": {"out": "f32", "shape": [4, 3]}, "y1": {"out": "f32", "shape": [4]}}
    assert case["check"] == {"implementation": "reference", "tolerance": {"atol": 1e-4, "rtol": 1e-4}}
    assert "7_Linear.py" in json.loads(lines["definition"])


def test_without_a_candidate_the_model_is_measured(folder):
    for candidate in (None, NEW % "scale"):
        if candidate:
            (folder / "candidates").mkdir()
            (folder / "candidates" / "7_Linear.py").write_text(candidate)
        done = subprocess.run([sys.executable, "pawl_kernelbench.py", "harness", "7_Linear.py"], capture_output=True, text=True, check=True)
        assert "7_Linear/problem7/candidate" in done.stdout
        assert "7_Linear/problem7/reference" in done.stdout


def attempt(folder, answer):
    """Writes the record of an attempt as pawl does, and returns the answer."""
    run = folder / ".pawl" / "attempts" / "7_Linear" / answer["id"] / "run"
    run.mkdir(parents=True)
    rounds = [{"round": 1, "samples": [1e6, 3e6]}, {"round": 2, "samples": [9e9]}]
    cases = [{"implementation": side, "rounds": rounds} for side in ("base", "candidate")]
    record = {"device": {"name": "a CPU"}, "rounds": [{"round": 1}, {"round": 2, "dropped": "hot"}], "cases": cases}
    (run / "current.json").write_text(json.dumps(record))
    return answer


def test_answers_become_results(folder):
    measured = attempt(folder, {"id": "3", "status": "measured", "verdict": "ahead", "speedup": 1.5, "interval": [1.2, 1.8]})
    for problem, sample, answer in (
        (10, 0, {"id": "1", "status": "compile_error", "errors": [{"message": "no"}]}),
        (7, 1, {"id": "2", "status": "wrong", "reason": "off"}),
        (7, 0, {"id": "2", "status": "wrong", "reason": "off"}),
        (7, 0, measured),
    ):
        pawl_kernelbench.add_result("eval_results.json", "7_Linear.yaml", problem, sample, answer)
    results = json.loads((folder / "eval_results.json").read_text())
    assert list(results) == ["7", "10"]
    assert [r["sample_id"] for r in results["7"]] == [0, 1]
    first, second = results["7"]
    assert set(first) == {"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}
    assert (first["compiled"], first["correctness"], first["runtime"]) == (True, True, 2.0)
    assert first["runtime_stats"] == {"mean": 2.0, "std": 1.0, "min": 1.0, "max": 3.0, "num_trials": 2, "hardware": "a CPU"}
    assert first["metadata"]["speedup"] == 1.5
    assert (second["compiled"], second["correctness"], second["runtime"], second["runtime_stats"]) == (True, False, -1.0, {})
    assert (results["10"][0]["compiled"], results["10"][0]["metadata"]["errors"]) == (False, [{"message": "no"}])


def test_the_page_exports_a_result(folder, monkeypatch):
    answer = {"id": "1", "status": "wrong", "reason": "off"}
    (folder / "pawl").write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps(answer))})\n")
    (folder / "pawl").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder) + os.pathsep + os.environ["PATH"])
    exec(BLOCKS[2], {"source": NEW % "scale"})
    assert json.loads((folder / "eval_results.json").read_text())["1"][0]["metadata"]["reason"] == "off"
