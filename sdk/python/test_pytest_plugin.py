"""Tests of the pytest plugin, in a pytest of its own."""

import json
import os
import pathlib
import subprocess
import sys

SDK = pathlib.Path(__file__).resolve().parent
PATIENCE = 300  # seconds; only a hang takes that long

TESTS = """
import pytest


@pytest.mark.parametrize("n", [10, 20])
def test_sum(pawl, n):
    times = pawl.bench(lambda: sum(range(n)), samples=5)
    assert len(times) == 5 and min(times) > 0


def test_two(pawl):
    pawl.bench(list, name="list", samples=3)
    pawl.bench(dict, name="dict", samples=3)


def test_a_bad_number(pawl):
    with pytest.raises(ValueError, match="at least 1"):
        pawl.bench(list, samples=0)


def test_without_it():
    pass
"""


def run(folder, **env):
    (folder / "test_them.py").write_text(TESTS)
    plain = {k: v for k, v in os.environ.items() if k not in ("PAWL_SAMPLES", "PYTEST_CURRENT_TEST")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pawl_perf.pytest_plugin", "test_them.py"]
    return subprocess.run(
        command, cwd=folder, env={**plain, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1", **env}, capture_output=True, text=True, timeout=PATIENCE
    )


def test_bench_records_under_the_name_of_the_test(tmp_path):
    done = run(tmp_path, PAWL_SAMPLES="samples.jsonl")
    assert done.returncode == 0, done.stdout
    lines = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert {line["case"]: len(line["samples"]) for line in lines} == {
        "test_them.test_sum/10": 5, "test_them.test_sum/20": 5, "test_them.test_two/list": 3, "test_them.test_two/dict": 3,
    }  # fmt: skip
    assert f"samples: {tmp_path / 'samples.jsonl'}" in done.stdout


def test_bench_measures_without_a_file(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "test_them.test_sum/10  " in done.stdout and "samples are not kept: set PAWL_SAMPLES=FILE" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["test_them.py"]
