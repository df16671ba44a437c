"""Tests of pawl_submit, with a stand-in for pawl that answers with what it was given."""

import asyncio
import json
import math
import os
import pathlib
import re
import stat
import sys

import pytest

import pawl_evaluator
import pawl_submit

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "how-to" / "agents-loops.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

STAND_IN = """#!{python}
import json, os, sys
args = sys.argv[1:]
if "fail" in args:
    sys.exit("no suite here")
folder = args[-1] if args[-2] == "--" and os.path.isdir(args[-1]) else None
files = {{}}
for top, _, names in os.walk(folder or os.devnull):
    for name in names:
        with open(os.path.join(top, name)) as f:
            files[os.path.relpath(os.path.join(top, name), folder)] = f.read()
print(json.dumps({{"id": "1", "status": "error" if "broken" in args else "wrong", "reason": "why", "args": args, "files": files, "folder": folder, "input": sys.stdin.read()}}))
sys.exit(1)
"""


@pytest.fixture
def pawl(tmp_path):
    path = tmp_path / "pawl"
    path.write_text(STAND_IN.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_files_are_laid_over_the_suite(pawl, tmp_path):
    answer = pawl_submit.evaluate({"k.c": "int x;\n", "sub/h.h": ""}, suite=tmp_path, stage="quick", budget=7.5, note="n", pawl=pawl)
    assert answer["status"] == "wrong"
    assert answer["files"] == {"k.c": "int x;\n", "sub/h.h": ""}
    assert answer["args"][:11] == ["-C", str(tmp_path), "submit", "--json", "--stage", "quick", "--budget", "7.5s", "--note", "n", "--"]
    assert not os.path.exists(answer["folder"])


def test_a_diff_is_the_input(pawl, tmp_path):
    suite = tmp_path / "other.yaml"
    suite.write_text("")
    answer = pawl_submit.evaluate(diff="--- a\n", suite=suite, pawl=pawl)
    assert answer["input"] == "--- a\n"
    assert answer["args"][-4:] == ["--suite", "other.yaml", "--diff", "-"]


def test_async(pawl):
    async def both():
        return await asyncio.gather(*(pawl_submit.evaluate_async({"k.c": text}, pawl=pawl) for text in "ab"))

    assert [a["files"]["k.c"] for a in asyncio.run(both())] == ["a", "b"]


@pytest.mark.parametrize("commit", ["fail", "broken"])
def test_what_is_no_answer_raises(pawl, commit):
    with pytest.raises(pawl_submit.SubmitError, match="no suite here|why"):
        pawl_submit.evaluate(commit=commit, pawl=pawl)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x"])
def test_names_stay_below_the_suite(pawl, name):
    with pytest.raises(ValueError, match="not a path"):
        pawl_submit.evaluate({name: ""}, pawl=pawl)


MEASURED = {"id": "1", "status": "measured", "stage": "quick", "speedup": 1.305, "interval": [1.229, 1.385], "best": "1", "cost_s": 11.29}


@pytest.mark.parametrize(
    "answer,reward,noise",
    [
        (MEASURED, math.log(1.305), 0.0598),
        ({"status": "measured", "speedup": 0.5, "interval": [0.4, 0.625]}, -math.log(2), 0.2231),
        ({"status": "measured", "speedup": 0.01, "interval": [0.01, 0.01]}, pawl_submit.FAILED, 0),
        ({"status": "measured", "speedup": 40, "interval": [30, 50]}, math.log(10), 0.2554),
        ({"status": "identical"}, 0, 0),
        ({"status": "wrong", "speedup": 9}, pawl_submit.FAILED, 0),
        ({"status": "refused"}, pawl_submit.FAILED, 0),
    ],
)
def test_the_reward_is_the_logarithm_of_the_speed_up(answer, reward, noise):
    assert pawl_submit.reward(answer) == pytest.approx(reward)
    assert pawl_submit.noise(answer) == pytest.approx(noise, abs=1e-4)
    score = pawl_submit.metrics(answer)["combined_score"]
    assert score == pytest.approx(math.exp(reward) if answer["status"] in ("measured", "identical") else 0)


def test_what_was_not_measured_has_no_reward():
    with pytest.raises(ValueError, match="measures nothing"):
        pawl_submit.reward({"status": "passed", "stage": "smoke"})
    with pytest.raises(pawl_submit.SubmitError, match="used up"):
        pawl_submit.reward({"status": "refused", "reason": "the budget is used up", "left_s": 0})


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """Puts a stand-in for pawl in PATH that measures everything but text with "wrong"."""
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "pawl"
    text = "import glob, json, sys\nwrong = any('wrong' in open(f).read() for f in glob.glob(sys.argv[-1] + '/**/*.*', recursive=True))\n"
    path.write_text(f"#!{sys.executable}\n{text}print(json.dumps({{'id': '1', 'status': 'wrong', 'best': 'base'}} if wrong else {MEASURED!r}))\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent) + os.pathsep + os.environ["PATH"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_calls_evaluate(judge, capsys):
    exec(BLOCKS[0], {"source": "int x;"})
    assert f"```\n{capsys.readouterr().out}```\n" in PAGE


def test_the_evaluator_returns_numbers(judge):
    for text, score in (("fine", 1.305), ("wrong", 0)):
        (judge / "program.c").write_text(text)
        metrics = pawl_evaluator.evaluate(str(judge / "program.c"))
        assert all(isinstance(v, float) for v in metrics.values())
        assert metrics["combined_score"] == pytest.approx(score)


def test_the_loop_goes_on_where_it_stopped(judge, monkeypatch):
    example = ROOT / "examples" / "matmul-c"
    text = (example / "evolve.py").read_text()
    assert text.count("\n") <= 60
    (judge / "matmul.c").write_text((example / "matmul.c").read_text())
    loop = {"__name__": "evolve"}
    exec(text, loop)
    for old, _ in loop["EDITS"]:
        assert (judge / "matmul.c").read_text().count(old) == 1, old
    loop["evolve"](2)
    loop["evolve"](5)
    lines = [json.loads(line) for line in (judge / "results" / "evolve.jsonl").read_text().splitlines()]
    assert len(lines) == 5
    assert lines[4]["leads"] and lines[4]["genes"] != lines[0]["genes"]
    page = dict(loop)
    exec(BLOCKS[1], page)
    assert page["generation"](loop["BASE"], 0) == lines[0]["genes"]
