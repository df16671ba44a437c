"""Tests of pawl_submit, with a stand-in for pawl that answers with what it was given."""

import asyncio
import os
import stat
import sys

import pytest

import pawl_submit

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
