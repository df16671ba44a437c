"""Tests of pawl_perf.record: programs run as processes, unchanged, with stand-ins for the tools that are not installed."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import threading

import pytest

SDK = pathlib.Path(__file__).resolve().parent
STAND_INS = SDK / "testdata" / "standins"
NEW, OLD, EVENTS = STAND_INS, STAND_INS / "oldtriton", STAND_INS / "events"
PATIENCE = 300  # seconds; only a hang takes that long


class Done:
    """A program that ended, with what was recorded of it."""

    def __init__(self, process, path):
        self.code, self.stdout, self.stderr = process.returncode, process.stdout, process.stderr
        self.started = path.exists()
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        assert all({k: line[k] for k in ("metric", "unit", "better")} == {"metric": "time", "unit": "s", "better": "lower"} for line in lines)
        self.cases = {line["case"]: line["samples"] for line in lines}
        self.per_turn = [line.get("samples_per_turn") for line in lines]
        assert len(self.cases) == len(lines), "a case has two lines"
        notes = pathlib.Path(str(path) + ".notes")
        self.notes = notes.read_text() if notes.exists() else ""
        cpu = pathlib.Path(str(path) + ".cpu")
        self.cpu = [json.loads(line) for line in cpu.read_text().splitlines()] if cpu.exists() else []


@pytest.fixture
def play(tmp_path):
    """play(code) runs bench.py with this code under the recorder, put in place as pawl does it."""

    def run(code, *arguments, paths=(), module=None, files=(), flags=()):
        for name, text in {**dict(files), "bench.py": code}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(textwrap.dedent(text))
        first = tmp_path / "recorder"
        first.mkdir()
        shutil.copy(SDK / "pawl_perf" / "record.py", first / "sitecustomize.py")
        what = ["-m", *module] if module else ["bench.py", *arguments]
        search = os.pathsep.join(map(str, [first, *paths]))
        env = {**os.environ, "PYTHONPATH": search, "PAWL_SAMPLES": "samples.jsonl", "PYTHONDONTWRITEBYTECODE": "1"}
        env.pop("PYTEST_CURRENT_TEST", None)
        process = subprocess.run(
            [sys.executable, *flags, *what], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE
        )
        assert not (tmp_path / "samples.jsonl").exists(), "that file is the program's"
        return Done(process, tmp_path / "samples.jsonl.python")

    return run


def test_every_do_bench_is_recorded(play):
    done = play(
        """
        from triton.testing import do_bench, do_bench_cudagraph

        def softmax():
            return [0.5, 0.25]

        def measure(N, dtype="fp16"):
            assert do_bench(softmax) == 0.375
            assert do_bench(lambda: [N], quantiles=[0.5, 0.5]) == [N, N]
            assert do_bench_cudagraph(softmax, return_mode="all") == [0.5, 0.25]

        for N in (64, 128):
            measure(N)
        for rows, _ in ((1, 2), (3, 4)):
            do_bench(lambda: [float(rows)])
        """,
        paths=[NEW],
    )
    assert (done.code, done.notes) == (0, "")
    assert done.cases == {
        "bench.measure.softmax/N64_dtype-fp16": [5e-4, 2.5e-4],
        "bench.measure/N64_dtype-fp16": [64e-3],
        "bench.measure.softmax/N64_dtype-fp16#2": [5e-4, 2.5e-4],
        "bench.measure.softmax/N128_dtype-fp16": [5e-4, 2.5e-4],
        "bench.measure/N128_dtype-fp16": [128e-3],
        "bench.measure.softmax/N128_dtype-fp16#2": [5e-4, 2.5e-4],
        "bench/rows1": [1e-3],
        "bench/rows3": [3e-3],
    }


def test_names_stay_when_lines_are_added(play):
    code = "import triton.testing\ndef f(N):\n    triton.testing.do_bench(lambda: [1.0])\nf(8)\n"
    moved = play("# a comment\n\n" + code, paths=[NEW])
    assert list(moved.cases) == ["bench.f/N8"]


def test_perf_report_names_its_points(play):
    done = play(
        """
        import triton.testing

        @triton.testing.perf_report(triton.testing.Benchmark(
            x_names=["N"], x_vals=[2, 4], line_arg="provider", line_vals=["triton", "torch"], line_names=["a", "b"],
            plot_name="speed", args={"M": 16}))
        def bench_softmax(M, N, provider):
            return helper(N)

        def helper(n):
            return triton.testing.do_bench(lambda: [n, n])

        bench_softmax.run(print_data=True)
        """,
        paths=[NEW],
    )
    assert (done.code, done.notes, done.stdout) == (0, "", "speed 2 2 2\nspeed 4 4 4\n")
    assert done.cases == {
        f"bench.bench_softmax/N{n}_provider-{provider}_M16": [n / 1e3, n / 1e3] for n in (2, 4) for provider in ("triton", "torch")
    }


def test_autotuning_is_not_recorded(play):
    done = play("from triton.runtime import autotuner\nassert autotuner.choose([3, 1, 2]) == 1\n", paths=[NEW])
    assert (done.code, done.cases, done.notes) == (0, {}, "")


def test_an_old_triton_is_recorded_by_its_events(play):
    done = play(
        """
        from triton.testing import do_bench
        from torch.cuda.streams import work

        assert do_bench(lambda: work(25)) == 25
        """,
        paths=[OLD, EVENTS],
    )
    assert (done.code, done.notes) == (0, "")
    assert done.cases == {"bench": [25e-3] * 4}


def test_pairs_of_events_are_recorded(play):
    done = play(
        """
        import torch
        from torch.cuda.streams import work

        def measure(ms, repeat):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            for i in range(repeat):
                start.record()
                work(ms)
                end.record()
                torch.cuda.synchronize()
                assert start.elapsed_time(end) == ms

        for shape in ("small", "large"):
            measure(2.0 if shape == "small" else 4.0, 3)
        """,
        paths=[EVENTS],
    )
    assert (done.code, done.notes) == (0, "")
    assert done.cases == {"bench.measure/ms2_repeat3": [2e-3] * 3, "bench.measure/ms4_repeat3": [4e-3] * 3}


def test_timeit_is_recorded_for_one_run(play):
    done = play(
        """
        import timeit

        clock = iter(range(1000))
        tick = lambda: next(clock)

        def work():
            pass

        assert timeit.timeit("x = 1", timer=tick, number=4) == 1
        assert timeit.repeat(work, timer=tick, number=2, repeat=3) == [1, 1, 1]
        number, taken = timeit.Timer("pass", timer=tick).autorange()
        assert (number, taken) == (1, 1)
        for i in range(3):
            timeit.timeit("again", timer=tick, number=1, globals={"again": 0})
        timeit.timeit("pass", number=0)
        """
    )
    assert (done.code, done.notes) == (0, "")
    assert done.cases == {"bench.x = 1": [0.25], "bench.work": [0.5, 0.5, 0.5], "bench.pass": [1], "bench.again": [1, 1, 1]}


def test_pytest_benchmark_is_recorded(play):
    done = play(
        "",
        files={
            "test_it.py": """
            import pytest

            pytest_plugins = ["pytest_benchmark.plugin"]

            @pytest.mark.parametrize("n", [1, 2])
            def test_plain(benchmark, n):
                assert benchmark(lambda original: original, original=n) == n

            class TestGroup:
                def test_pedantic(self, benchmark):
                    benchmark.pedantic(int, rounds=2, iterations=2)
            """
        }.items(),
        paths=[NEW],
        module=["pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
    )
    assert (done.code, done.notes) == (0, ""), done.stdout
    assert done.cases == {"test_it.test_plain/1": [0.1, 0.2], "test_it.test_plain/2": [0.1, 0.2], "test_it.TestGroup.test_pedantic": [0.5, 1.0]}


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


def test_the_real_pytest_benchmark_is_recorded(play):
    if not has("pytest_benchmark.fixture"):
        pytest.skip("pytest-benchmark is not installed")
    files = {"test_it.py": "def test_sum(benchmark):\n    assert benchmark.pedantic(sum, [[1, 2]], rounds=3) == 3\n"}
    done = play("", files=files.items(), module=["pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_benchmark.plugin", "test_it.py"])
    assert (done.code, done.notes, list(done.cases)) == (0, "", ["test_it.test_sum"])


def test_the_real_torch_timer_is_recorded(play):
    if not has("torch.utils.benchmark"):
        pytest.skip("torch is not installed")
    done = play(
        """
        import torch
        from torch.utils.benchmark import Timer

        for n in (8, 16):
            x = torch.ones(n)
            a = Timer("x + x", globals={"x": x}, label="add", sub_label=f"n{n}").blocked_autorange(min_run_time=0.01)
            b = Timer("x + x", globals={"x": x}).timeit(10)
            print(len(a.times), len(b.times))
        """
    )
    assert (done.code, done.notes) == (0, ""), done.stderr
    counts = [len(done.cases[name]) for name in ("bench.add/n8", "bench.x + x/n8", "bench.add/n16", "bench.x + x/n16")]
    assert counts == [int(word) for word in done.stdout.split()] and len(done.cases) == 4


@pytest.mark.parametrize(
    "code, exit_code, says",
    [("import sys; sys.exit(7)", 7, ""), ("raise KeyError('x')", 1, "KeyError"), ("import missing_module", 1, "ModuleNotFoundError")],
)
def test_the_exit_code_is_the_programs(play, code, exit_code, says):
    done = play("import timeit\ntimeit.timeit('1', number=1)\n" + code + "\n")
    assert done.code == exit_code and says in done.stderr and list(done.cases) == ["bench.1"]


def test_arguments_and_path_are_the_programs(play):
    code = "import sys, beside\nprint(sys.argv, __name__, beside.x)\n"
    done = play(code, "--size", "4", files=[("beside.py", "x = 1\n")])
    assert done.stdout == "['bench.py', '--size', '4'] __main__ 1\n"


def test_errors_in_the_recorder_are_notes(play):
    done = play(
        """
        import triton.testing

        assert triton.testing._summarize_statistics.__name__ == "_summarize_statistics"
        for bad in (["no time"], [float("nan"), -1.0, 2.0]):
            print(triton.testing.do_bench(lambda: bad, return_mode="all"))
        """,
        paths=[NEW],
    )
    assert (done.code, done.stderr, done.cases) == (0, "", {"bench": [2e-3]})
    assert "TypeError" in done.notes and "left out 2 times" in done.notes


def test_a_tool_that_looks_different_is_left_alone(play, tmp_path):
    strange = {"other/triton/__init__.py": "", "other/triton/testing.py": "do_bench = None\n\nclass Mark:\n    pass\n"}
    done = play("import triton.testing\nprint(triton.testing.do_bench)\n", files=strange.items(), paths=[tmp_path / "other"])
    assert (done.code, done.stdout, done.cases) == (0, "None\n", {})


def test_children_write_their_own_samples(play):
    done = play(
        """
        import os, subprocess, sys, timeit

        timeit.timeit("1", number=1)
        if len(sys.argv) == 1:
            pid = os.fork()
            if pid == 0:
                sys.exit(0)  # writes nothing: the samples are the parent's
            os.waitpid(pid, 0)
        """
    )
    assert (done.code, list(done.cases)) == (0, ["bench.1"])


@pytest.mark.parametrize(
    "theirs, says",
    [
        ("import sys; sys.stderr.write('the other one\\n')", "the other one\n"),
        ("raise ValueError('broken')", "Error in sitecustomize; set PYTHONVERBOSE for traceback:\nValueError: broken\n"),
        ("import missing_module", "ModuleNotFoundError: No module named 'missing_module'\n"),
    ],
)
def test_another_sitecustomize_still_runs(play, tmp_path, theirs, says):
    done = play("import timeit\ntimeit.timeit('1', number=1)\n", files=[("theirs/sitecustomize.py", theirs)], paths=[tmp_path / "theirs"])
    assert (done.code, list(done.cases)) == (0, ["bench.1"]) and done.stderr.endswith(says), done.stderr


@pytest.mark.parametrize("flag", ["-I", "-S", "-E"])
def test_a_python_that_ignores_it_leaves_no_trace(play, flag):
    done = play("import timeit\ntimeit.timeit('1', number=1)\n", flags=[flag])
    assert (done.code, done.started) == (0, False)


def test_a_program_without_timers_leaves_an_empty_file(play):
    done = play("print('nothing')\n")
    assert (done.code, done.stdout, done.started, done.cases) == (0, "nothing\n", True, {})


def test_the_plugin_uses_the_recorder_in_place(play):
    test = "def test_list(pawl):\n    pawl.bench(list, samples=2)\n"
    command = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "pawl_perf.pytest_plugin", "test_it.py"]
    done = play("", files=[("test_it.py", test)], paths=[SDK], module=command)
    assert (done.code, list(done.cases)) == (0, ["test_it.test_list"]), done.stdout


FIXTURE = """
from types import SimpleNamespace
from pytest_benchmark.fixture import BenchmarkFixture
benchmark = BenchmarkFixture(SimpleNamespace(name="test", nodeid="bench.py::test"))
"""


@pytest.mark.parametrize(
    "code, seen, turns",
    [
        ("import timeit; timeit.repeat('sum(range(9))', repeat=3, number=5)", True, True),
        ("import timeit; timeit.Timer('pass').autorange()", True, True),
        (FIXTURE + "benchmark(int)", True, True),
        (FIXTURE + "BenchmarkFixture._make_runner = lambda self, f, a, k: lambda loops: 1.0; benchmark(int)", True, False),
        ("from triton.testing import do_bench; do_bench(lambda: [1.0])", False, False),
        ("import timeit; from triton.testing import do_bench; timeit.timeit('1', number=9); do_bench(lambda: [1.0])", False, False),
    ],
)
def test_what_is_known_of_the_cpu(play, code, seen, turns):
    done = play(code, paths=[NEW])
    assert [(not cpu["unseen"], cpu["turns"]) for cpu in done.cpu] == [(seen, turns)], done.stderr


def test_other_threads_are_seen(play):
    done = play(
        """
        import threading, time, timeit

        def spin():
            end = time.thread_time() + 0.05
            while time.thread_time() < end:
                pass

        def work():
            other = threading.Thread(target=spin)
            other.start()
            other.join()

        timeit.timeit(work, number=1)
        """
    )
    (cpu,) = done.cpu
    assert cpu["others"] > 0.04 > cpu["alone"], cpu


@pytest.fixture
def said(request, tmp_path):
    """Makes the pipes for turns and begins each as soon as it is asked for. said() is what the program said until it ended."""
    size = getattr(request, "param", 0)  # of a turn of the other program: 1 more than its exponent
    for name in ("ask", "answer"):
        os.mkfifo(tmp_path / f"samples.jsonl.python.{name}")
    log = []

    def serve():
        with open(tmp_path / "samples.jsonl.python.ask", "rb", buffering=0) as ask:
            with open(tmp_path / "samples.jsonl.python.answer", "wb", buffering=0) as answer:
                while True:
                    byte = ask.read(1)
                    if not byte:
                        return
                    log.append(byte)
                    if byte in b"?!":
                        answer.write(bytes([size]))

    server = threading.Thread(target=serve, daemon=True)
    server.start()

    def all_bytes():
        server.join(PATIENCE)
        return b"".join(log).decode()

    return all_bytes


FORKS = """
import os, sys, timeit

def work():
    child = os.fork()
    if child == 0:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0

timeit.timeit(work, number=1)
"""


@pytest.mark.parametrize(
    "code, says, per_turn",
    [
        ("import timeit; timeit.repeat('timeit.timeit(number=1)', 'import timeit', repeat=2, number=3)", "?.?.", [1]),
        (FORKS, "?.", [1]),
        (FIXTURE + "import timeit; benchmark.pedantic(timeit.timeit, rounds=1)", "!.", [None]),
        (FIXTURE + "benchmark.pedantic(lambda: 1 / 0)", "!.", []),
    ],
    ids=["blocks", "a child has no turn", "a block in a sample", "an error"],
)
def test_blocks_wait_for_their_turn(play, said, code, says, per_turn):
    done = play(code, paths=[NEW])
    assert (said(), done.per_turn) == (says, per_turn), done.stderr


@pytest.mark.parametrize("said, says, per_turn", [(0, "!.?C?C?C", 4), (4, "!D?D?D", 8)], indirect=["said"], ids=["its own", "the other's"])
@pytest.mark.parametrize("paths", [[NEW], []], ids=["stand-in", "real"])
def test_a_turn_holds_several_short_samples(play, said, says, per_turn, paths):
    if not paths and not has("pytest_benchmark.fixture"):
        pytest.skip("pytest-benchmark is not installed")
    test = """
        import itertools, time

        tick = itertools.count()
        time.perf_counter = lambda: next(tick) / 512  # a sample takes 2 ms of the recorder's clock

        def test_int(benchmark):
            benchmark.pedantic(int, rounds=10, warmup_rounds=1)
        """
    command = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_benchmark.plugin", "test_it.py"]
    done = play("", files={"test_it.py": test}.items(), paths=paths, module=command)
    assert (done.code, said()) == (0, says), done.stdout
    assert ([len(samples) for samples in done.cases.values()], done.per_turn) == ([10], [per_turn])


def test_the_fixture_of_pawl_takes_turns(play, said):
    test = """
        import itertools, time

        tick = itertools.count()
        time.perf_counter = lambda: next(tick) / 4096

        def test_int(pawl):
            pawl.bench(int, samples=10)
        """
    command = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "pawl_perf.pytest_plugin", "test_it.py"]
    done = play("", files={"test_it.py": test}.items(), paths=[SDK], module=command)
    assert (done.code, said()) == (0, "!.?.?D?D"), done.stdout
    assert ({case: len(samples) for case, samples in done.cases.items()}, done.per_turn) == ({"test_it.test_int": 10}, [8])
    assert [cpu["turns"] for cpu in done.cpu] == [True]
