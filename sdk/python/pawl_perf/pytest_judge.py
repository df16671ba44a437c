"""pytest --pawl-base REF: pawl judges the tests that measure, against another commit.

The tests that use the fixture pawl, or benchmark of pytest-benchmark, run in both trees, in fresh processes and in turns:
`pawl run` does that, and its verdicts become the results of the tests. All other tests run as usual.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Dict, List, Optional

import pytest

import pawl_perf
from pawl_perf import record

_FIXTURES = {"pawl", "benchmark"}
_FAILS = {"regression", "broken", "missing"}
_OUT = "results"
_MAX_COMMAND = 100_000  # bytes: a shell takes one line of 128 KiB


class Judge:
    """The plugin of one session."""

    def __init__(self, config: Any, base: str) -> None:
        self.config, self.base = config, base
        self.code, self.text = 0, ""
        self.result: Dict[str, Any] = {}
        self.cases: Dict[str, str] = {}  # case of each test that is judged, by its id

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> None:
        """Runs pawl before the tests. They run after it, those that measure last."""
        if session.testsfailed or self.config.option.collectonly:
            return
        measured = [item for item in session.items if _FIXTURES & set(getattr(item, "fixturenames", ()))]
        for item in measured:
            case = record.case_of_test(item.nodeid)
            if case in self.cases.values():
                raise pytest.UsageError(f"--pawl-base: two tests are called {case}: rename one, or its file")
            self.cases[item.nodeid] = case
        session.items.sort(key=lambda item: item.nodeid in self.cases)  # nothing is set up for them that others would have to tear down
        if measured:
            self.run(list(self.cases))

    def run(self, ids: List[str]) -> None:
        if sum(map(len, ids)) > _MAX_COMMAND:
            raise pytest.UsageError(f"--pawl-base: the names of {len(ids)} tests are too long for one command: select fewer")
        out = os.path.join(str(self.config.rootpath), _OUT)
        verdict = os.path.join(out, "verdict.json")
        if os.path.lexists(verdict):
            os.remove(verdict)  # of an earlier run
        own = [sys.executable, "-m", "pytest", "-q", "--rootdir=.", "-p", "no:cacheprovider", *ids]
        command = [_pawl(), "run", "--base", self.base, "--format", "python", "--out", _OUT, "--", *own]
        capture = self.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            print()  # pytest has not ended its line
            sys.stdout.flush()
            done = subprocess.run(command, cwd=str(self.config.rootpath), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        self.code, self.text = done.returncode, done.stdout
        if not os.path.exists(verdict):
            pytest.exit(f"pawl run ended with exit code {done.returncode} and without a verdict", returncode=done.returncode or 1)
        with open(verdict, encoding="utf-8") as f:
            self.result = json.load(f)

    def judgments(self, case: str) -> List[Dict[str, Any]]:
        """The verdicts on a test: on its cases, or the one on all of a run that was stopped."""
        found = [j for j in self.result["cases"] if j["name"] == case or j["name"].startswith((case + "/", case + "#"))]
        return found or [j for j in self.result["cases"] if j["name"] == "all cases"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Optional[bool]:
        case = self.cases.get(item.nodeid)
        if case is None or not self.result:
            return None
        found = self.judgments(case)
        text = "\n".join(f"{j['name']}: {j['verdict']}. {j['sentence']}" for j in found) or "not judged: it measured nothing, or was skipped"
        outcome = "passed"
        longrepr: Any = None
        if any(j["gate"] and j["verdict"] in _FAILS for j in found):
            outcome, longrepr = "failed", text
        elif not found or any(j["verdict"] == "inconclusive" for j in found):
            outcome, longrepr = "skipped", (item.location[0], (item.location[1] or 0) + 1, text)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        properties = [("pawl", text), ("pawl_report", os.path.join(_OUT, "report.html"))]
        for when in ("setup", "call", "teardown"):
            report = pytest.TestReport(
                nodeid=item.nodeid,
                location=item.location,
                keywords={name: 1 for name in item.keywords},
                outcome=outcome if when == "call" else "passed",  # type: ignore[arg-type]
                longrepr=longrepr if when == "call" else None,
                when=when,  # type: ignore[arg-type]
                sections=[("pawl", text)] if when == "call" else [],
                user_properties=properties,
            )
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_sessionfinish(self, session: Any) -> None:
        if self.code == 1 and session.exitstatus == 0:  # a verdict that belongs to no test
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.text:
            terminalreporter.section(f"pawl run --base {self.base}")
            terminalreporter.write_line(self.text.rstrip())


def _pawl() -> str:
    path = pawl_perf.binary()
    return path if os.path.exists(path) else "pawl"
