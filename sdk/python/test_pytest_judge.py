"""Tests of pytest --pawl-base, in a pytest of its own, with a stand-in for pawl that writes the verdicts it is told to."""

import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

SDK = pathlib.Path(__file__).resolve().parent
PATIENCE = 300  # seconds; only a hang takes that long

TESTS = """
import pytest


@pytest.fixture(scope="module")
def costly():
    yield 1
    open("torn-down", "w").close()


@pytest.mark.parametrize("n", [10, 20])
def test_sum(pawl, n):
    raise AssertionError("a test that is judged does not run here")


def test_plain(costly):
    assert costly == 1


def test_two(pawl):
    raise AssertionError


def test_other():
    pass
"""

PAWL = """#!%s
import json, os, sys
with open("arguments.json", "w") as f:
    json.dump(sys.argv[1:], f)
told = json.loads(os.environ["TOLD"])
print("the table")
print("the progress", file=sys.stderr)
if told["cases"] is not None:
    os.makedirs("results", exist_ok=True)
    with open("results/verdict.json", "w") as f:
        json.dump({"cases": told["cases"]}, f)
sys.exit(told["code"])
"""


def judged(name, verdict, gate=True):
    return {"name": name, "verdict": verdict, "gate": gate, "sentence": f"{verdict} of {name}"}


def run(folder, cases, code, *arguments, tests=TESTS, **env):
    (folder / "test_them.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --pawl-base main\n")
    program = folder / "bin" / "pawl"
    program.parent.mkdir()
    program.write_text(PAWL % sys.executable)
    program.chmod(0o755)
    plain = {k: v for k, v in os.environ.items() if k not in ("PAWL_SAMPLES", "PYTEST_CURRENT_TEST")}
    extra = {
        "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_PLUGINS": "pawl_perf.pytest_plugin", "TOLD": json.dumps({"cases": cases, "code": code}),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--junitxml=junit.xml", *arguments]
    return subprocess.run(command, cwd=folder, env={**plain, **extra, **env}, capture_output=True, text=True, timeout=PATIENCE)


def results(folder):
    root = xml.etree.ElementTree.parse(folder / "junit.xml").getroot()
    return {case.get("name"): next((child.tag for child in case if child.tag in ("failure", "skipped", "error")), "passed") for case in root.iter("testcase")}


def test_verdicts_become_results(tmp_path):
    cases = [
        judged("test_them.test_sum/10", "maintained"),
        judged("test_them.test_sum/20", "regression"),
        judged("test_them.test_two/list", "improvement"),
        judged("test_them.test_two/dict", "inconclusive"),
    ]
    done = run(tmp_path, cases, 1)
    assert done.returncode == 1, done.stdout
    assert results(tmp_path) == {"test_sum[10]": "passed", "test_sum[20]": "failure", "test_two": "skipped", "test_plain": "passed", "test_other": "passed"}
    assert "regression of test_them.test_sum/20" in done.stdout and "inconclusive of test_them.test_two/dict" in done.stdout
    assert (tmp_path / "torn-down").exists() and "the table" in done.stdout and "the progress" in done.stderr
    text = (tmp_path / "junit.xml").read_text()
    assert "maintained of test_them.test_sum/10" in text and "results/report.html" in text
    sent = json.loads((tmp_path / "arguments.json").read_text())
    assert sent[:8] == ["run", "--base", "main", "--format", "python", "--out", "results", "--"]
    assert sent[8:11] == [sys.executable, "-m", "pytest"]
    assert sent[-3:] == ["test_them.py::test_sum[10]", "test_them.py::test_sum[20]", "test_them.py::test_two"]


def test_a_run_that_stopped_fails_every_test(tmp_path):
    done = run(tmp_path, [judged("all cases", "broken")], 1)
    assert done.returncode == 1
    assert [results(tmp_path)[name] for name in ("test_sum[10]", "test_sum[20]", "test_two", "test_plain")] == ["failure"] * 3 + ["passed"]


def test_what_does_not_gate_does_not_fail(tmp_path):
    done = run(tmp_path, [judged("test_them.test_sum/10", "regression", gate=False)], 0, "-k", "test_sum")
    assert done.returncode == 0
    assert results(tmp_path) == {"test_sum[10]": "passed", "test_sum[20]": "skipped"}  # the second measured nothing


def test_a_verdict_of_no_test_still_fails(tmp_path):
    assert run(tmp_path, [judged("test_them.test_two", "maintained")], 1, "-k", "test_two").returncode == 1


def test_no_verdict_ends_the_session(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "verdict.json").write_text("{}")  # of an earlier run
    done = run(tmp_path, None, 4)
    assert done.returncode == 4 and "pawl run ended with exit code 4 and without a verdict" in done.stdout


@pytest.mark.parametrize("arguments", [["--collect-only"], ["-k", "test_plain"]])
def test_pawl_is_not_started_without_need(tmp_path, arguments):
    done = run(tmp_path, [], 0, *arguments)
    assert done.returncode == 0 and not (tmp_path / "arguments.json").exists()


def test_the_pytest_that_pawl_starts_measures(tmp_path):
    tests = "def test_list(pawl):\n    pawl.bench(list, samples=2)\n"
    done = run(tmp_path, [], 0, tests=tests, PAWL_SAMPLES="samples.jsonl")
    assert done.returncode == 0 and not (tmp_path / "arguments.json").exists()
    assert json.loads((tmp_path / "samples.jsonl").read_text())["case"] == "test_them.test_list"
