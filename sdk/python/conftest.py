"""Lets a test play pawl: it starts a harness as a real process on real pipes and speaks the protocol."""

import json
import os
import pathlib
import select
import subprocess
import sys
import textwrap

import pytest

SDK = pathlib.Path(__file__).resolve().parent
PATIENCE = 120  # seconds until a test gives up on a harness; only a hang takes that long


class Harness:
    """A started harness. ask() returns the reply, and keeps the parts before it in .parts."""

    def __init__(self, command, output, env=None):
        from_pawl, self.requests = os.pipe()
        self.replies, to_pawl = os.pipe()
        self.output = output
        self.parts, self.last_id, self._unread = [], 0, b""
        env = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
        env.update(PAWL_IN=str(from_pawl), PAWL_OUT=str(to_pawl), PAWL_PROTOCOL="1")
        with open(output / "stdout", "wb") as stdout, open(output / "stderr", "wb") as stderr:
            streams = {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": stderr}
            self.process = subprocess.Popen(command, env=env, pass_fds=(from_pawl, to_pawl), **streams)
        os.close(from_pawl)
        os.close(to_pawl)

    def say(self, line):
        while line:
            line = line[os.write(self.requests, line) :]

    def hear(self):
        """The next message, or None at the end."""
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self.replies], [], [], PATIENCE)
            assert ready, "the harness is silent; stderr: " + self.stderr()
            data = os.read(self.replies, 1 << 20)
            if not data:
                return None
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        return json.loads(line, parse_constant=lambda word: pytest.fail("not JSON: " + word))

    def ask(self, op, **fields):
        self.last_id += 1
        self.say(json.dumps({"id": self.last_id, "op": op, **fields}).encode() + b"\n")
        self.parts = []
        while True:
            reply = self.hear()
            assert reply is not None, "the harness ended during %s; stderr: %s" % (op, self.stderr())
            assert reply["id"] == self.last_id
            if reply["op"] == op:
                return reply
            assert reply["op"] == "samples"
            self.parts.append(reply)

    def hello(self, **fields):
        return self.ask("hello", **{"protocol": [1], "pawl": "0.1.0", "device": {"kind": "cpu"}, **fields})

    def prepare(self, benchmark, params=None, **fields):
        defaults = {"implementation": "candidate", "cache": "hot", "timer": "wall", "seed": "42", "bytes": 0}
        return self.ask("prepare", benchmark=benchmark, params=params or {}, **{**defaults, **fields})

    def measure(self, samples=0, busy_ns=0, warmup=False, **fields):
        return self.ask("measure", samples=samples, busy_ns=busy_ns, warmup=warmup, **fields)

    def wait(self):
        return self.process.wait(timeout=PATIENCE)

    def stdout(self):
        return (self.output / "stdout").read_text()

    def stderr(self):
        return (self.output / "stderr").read_text()

    def close(self):
        for fd in (self.requests, self.replies):
            try:
                os.close(fd)
            except OSError:
                pass  # a test closed it on purpose
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def start(tmp_path):
    """start(path) runs a harness file, start(code) the body of one between the import and main()."""
    started = []

    def begin(source, env=None, python=sys.executable):
        output = tmp_path / str(len(started))
        output.mkdir()
        if not isinstance(source, pathlib.Path):
            path = output / "harness.py"
            path.write_text("import pawl_harness as pawl\n" + textwrap.dedent(source) + "\npawl.main()\n")
            source = path
        harness = Harness([python, str(source)], output, env=env)
        started.append(harness)
        return harness

    yield begin
    for harness in started:
        harness.close()


@pytest.fixture
def run_by_hand(tmp_path):
    """Runs a harness file as a person would."""

    def run(path, *arguments):
        env = {**os.environ, "PYTHONPATH": str(SDK), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(path), *arguments]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)

    return run
