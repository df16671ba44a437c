"""What pawl may rely on when it talks to a harness that uses pawl_harness.py."""

import ast
import os
import pathlib
import random
import statistics
import sys
import time

import pytest

import pawl_harness

HERE = pathlib.Path(__file__).resolve().parent
CONFORMANCE = HERE / "conformance_harness.py"


def error(reply):
    return reply["error"]["code"], reply["error"]["message"]


# ---- hello and cases ----
def test_hello_tells_what_the_harness_can_do(start):
    reply = start(CONFORMANCE).hello()
    assert reply["protocol"] == 1
    assert reply["sdk"].startswith("pawl_harness.py ")
    assert reply["timers"] == ["wall", "cpu"]
    assert reply["calibration"] is True
    assert reply["device"]["name"] and reply["device"]["runtime"].startswith("Python 3")


@pytest.mark.parametrize("offered", [[2], [], 1, None, "1", {"1": 1}])
def test_hello_refuses_a_version_it_does_not_speak(start, offered):
    harness = start(CONFORMANCE)
    code, message = error(harness.hello(protocol=offered))
    assert code == "unsupported"
    assert "[1]" in message
    assert harness.hello(protocol=[3, 1])["protocol"] == 1, "the harness stays usable"


def test_cases_lists_benchmarks_with_their_configs_and_work(start):
    reply = start(CONFORMANCE).ask("cases")
    assert reply["benchmarks"] == [
        {
            "name": "spin",
            "implementations": ["candidate", "slow"],
            "flops": "us*1000",
            "bytes": "us",
            "configs": [{"us": 50}, {"us": 200}],
        },
        *({"name": name, "implementations": ["candidate"], "configs": []} for name in ("broken", "double", "count", "report")),
    ]


# ---- prepare ----
@pytest.mark.parametrize("timer", ["wall", "cpu"])
def test_prepare_repeats_the_timer_and_tells_its_step(start, timer):
    reply = start(CONFORMANCE).prepare("spin", {"us": 50}, timer=timer)
    assert (reply["timer"], reply["quantum_ns"]) == (timer, 1)


@pytest.mark.parametrize(
    "benchmark, fields, code, said",
    [
        ("nothing", {}, "no_such_benchmark", "spin"),
        ("spin", {"implementation": "fast"}, "no_such_implementation", "slow"),
        ("spin", {"params": {}}, "bad_params", "us"),
        ("spin", {"params": {"US": 50}}, "bad_params", "us"),
        ("spin", {"params": [50]}, "bad_params", "object"),
        ("spin", {"params": {"us": "50"}}, "bad_params", "us must be of the kind int"),
        ("spin", {"params": {"us": 0.5}}, "bad_params", "us must be of the kind int"),
        ("broken", {"params": {"mode": True}}, "bad_params", "mode must be of the kind str"),
        ("spin", {"timer": "device"}, "unsupported", "device"),
        ("spin", {"timer": "sundial"}, "unsupported", "wall, cpu"),
        ("spin", {"cache": "tepid"}, "unsupported", "tepid"),
        ("spin", {"seed": "many"}, "bad_params", "many"),
        ("broken", {"params": {"mode": "setup"}}, "no_memory", "no memory: asked to fail"),
    ],
)
def test_prepare_says_what_is_wrong(start, benchmark, fields, code, said):
    harness = start(CONFORMANCE)
    params = fields.pop("params", {"us": 50})
    reply = harness.prepare(benchmark, params, **fields)
    assert reply["error"]["code"] == code
    assert said in reply["error"]["message"]
    assert error(harness.measure(samples=1)) == ("failed", "nothing is prepared")
    assert "error" not in harness.prepare("spin", {"us": 50}), "the harness stays usable"


def test_setup_gets_the_parameters_it_names(start):
    harness = start(
        """
        @pawl.benchmark("some")
        def some(N, scale=2.5, *, name, seed):
            print(repr((N, scale, name, seed)), flush=True)
            return lambda: None

        @pawl.benchmark("all")
        def all(**params):
            print(sorted(params.items()), flush=True)
            return lambda: None
        """
    )
    harness.prepare("some", {"N": 3, "name": "x", "other": 1}, seed="18446744073709551615")
    harness.prepare("all", {"N": 3, "fast": True, "x": 0.5})
    some, every = harness.stdout().splitlines()
    assert some == "(3, 2.5, 'x', 18446744073709551615)"
    assert every == "[('N', 3), ('fast', True), ('x', 0.5)]"


@pytest.mark.parametrize(
    "kind, value, seen",
    [("int", 50.0, "50"), ("float", 2, "2.0"), ("str", "2", "'2'"), ("bool", True, "True"), ("list", 2.0, "2.0")]
    + [("int", True, None), ("int", "2", None), ("int", 1e999, None), ("float", "2", None), ("float", False, None)]
    + [("str", 2, None), ("bool", 1, None), ("bool", "true", None)],
)
@pytest.mark.parametrize("postponed", ["", "from __future__ import annotations\n"], ids=["", "postponed"])
def test_annotations_hold_parameters_to_their_kind(postponed, kind, value, seen):
    scope = {}
    exec("%sdef setup(p: %s): pass" % (postponed, kind), scope)
    if seen is None:
        with pytest.raises(pawl_harness.Failure, match="parameter p must be of the kind " + kind):
            pawl_harness._arguments("case", scope["setup"], {"p": value}, 0)
    else:
        assert repr(pawl_harness._arguments("case", scope["setup"], {"p": value}, 0)["p"]) == seen


def test_the_same_seed_gives_the_same_inputs(start):
    harness = start(
        """
        import random
        @pawl.benchmark("draw")
        def draw():
            print(random.random(), flush=True)
            return lambda: random.random()
        """
    )
    for seed in ("1", "1", "2"):
        harness.prepare("draw", seed=seed)
        harness.measure(samples=3)
    first, second, third = harness.stdout().splitlines()
    assert first == second != third


@pytest.mark.parametrize("returned", ["None", "3", "(print, 3)", "(None, print)"])
def test_setup_must_return_a_run(start, returned):
    harness = start("pawl.benchmark('odd')(lambda: %s)" % returned)
    code, message = error(harness.prepare("odd"))
    assert code == "failed" and "odd/candidate" in message and "must return" in message


def test_teardown_follows_each_prepared_case(start):
    harness = start(
        """
        @pawl.benchmark("held")
        def held(n):
            def teardown():
                print("teardown", n, flush=True)
                raise RuntimeError("teardown is broken too")
            print("setup", n, flush=True)
            return (lambda: None), teardown
        """
    )
    harness.prepare("held", {"n": 1})
    assert "error" not in harness.prepare("held", {"n": 2}), "a broken teardown does not break the next case"
    assert "error" not in harness.ask("bye")
    assert harness.wait() == 0
    assert harness.stdout().splitlines() == ["setup 1", "teardown 1", "setup 2", "teardown 2"]
    assert "teardown is broken too" in harness.stderr()


# ---- measure ----
def test_measure_takes_the_number_of_samples_asked_for(start):
    harness = start(CONFORMANCE)
    harness.prepare("spin", {"us": 200})
    reply = harness.measure(samples=20)
    assert reply["count"] == len(reply["samples"]) == len(reply["cpu"]) == 20
    assert reply["batch"] == 1
    assert "wall" not in reply, "it would repeat the samples"
    assert min(reply["samples"]) >= 200_000


def test_measure_runs_for_the_time_asked_for(start):
    harness = start(CONFORMANCE)
    harness.prepare("spin", {"us": 200}, timer="cpu")
    harness.measure(samples=1)
    began = time.monotonic_ns()
    reply = harness.measure(busy_ns=20_000_000)
    assert time.monotonic_ns() - began >= 20_000_000
    assert sum(reply["wall"][:-1]) < 20_000_000, "and not a sample longer"
    assert reply["count"] == len(reply["samples"]) == len(reply["wall"])


def test_measure_takes_the_longer_of_number_and_time(start):
    harness = start(CONFORMANCE)
    harness.prepare("spin", {"us": 50})
    assert harness.measure(samples=100, busy_ns=1)["count"] == 100
    began = time.monotonic_ns()
    assert harness.measure(samples=1, busy_ns=20_000_000)["count"] >= 1
    assert time.monotonic_ns() - began >= 20_000_000


@pytest.mark.parametrize("samples, busy_ns", [(0, 0), (-1, 0), (0, -5), (None, 0)])
def test_measure_needs_a_number_or_a_time(start, samples, busy_ns):
    harness = start(CONFORMANCE)
    harness.prepare("spin", {"us": 50})
    assert "error" in harness.measure(samples=samples, busy_ns=busy_ns)
    assert harness.measure(samples=1)["count"] == 1, "the case stays prepared"


def test_slow_is_slower(start):
    harness, medians = start(CONFORMANCE), {}
    for implementation in ("candidate", "slow"):
        harness.prepare("spin", {"us": 200}, implementation=implementation)
        medians[implementation] = statistics.median(harness.measure(samples=25)["samples"])
    assert medians["slow"] > medians["candidate"] + 100_000


def test_short_runs_are_batched_once_per_case(start):
    harness = start(
        """
        pawl._SHORT_NS = pawl._BATCH_NS = 10_000_000  # a run is short on the busiest machine
        pawl.benchmark('short')(lambda: (lambda: None))
        """
    )
    harness.prepare("short")
    warm = harness.measure(samples=3, warmup=True)
    measured = harness.measure(samples=50)
    assert warm["batch"] == measured["batch"] > 20
    assert statistics.median(measured["samples"]) * measured["batch"] > 500_000


def test_a_request_sets_the_runs_of_a_sample(start):
    harness = start(CONFORMANCE)
    harness.prepare("spin", {"us": 100}, timer="wall")
    assert harness.measure(samples=2)["batch"] == 1
    reply = harness.measure(samples=2, batch=17)
    assert reply["batch"] == 17 and min(reply["samples"]) > 90_000, "the mean of a run, not their sum"
    assert harness.measure(samples=2)["batch"] == 17, "it stays"


def test_reported_values_travel_with_the_samples(start):
    harness = start(
        """
        @pawl.benchmark("k")
        def k():
            pawl.report("bytes", 4096, unit="B", better="lower")
            return lambda: pawl.report("tok/s", 7, unit="tok/s", better="higher")
        """
    )
    harness.prepare("k")
    assert "values" not in harness.measure(samples=5, warmup=True)
    reply = harness.measure(samples=5, batch=1)
    assert [(v["metric"], v["unit"], v["better"]) for v in reply["values"]] == [
        ("bytes", "B", "lower"),
        ("tok/s", "tok/s", "higher"),
    ]
    assert reply["values"][0]["samples"] == [4096]
    assert set(reply["values"][1]["samples"]) == {7} and len(reply["values"][1]["samples"]) >= 5
    again = harness.measure(samples=5, batch=1)
    assert [v["metric"] for v in again["values"]] == ["tok/s"], "what setup reports, it reports once"


@pytest.mark.parametrize("value, better", [("float('nan')", "lower"), ("1", "faster")])
def test_a_value_must_be_finite_and_have_a_direction(start, value, better):
    harness = start(
        f"""
        @pawl.benchmark("k")
        def k():
            pawl.report("m", {value}, unit="B", better="{better}")
            return lambda: None
        """
    )
    code, message = error(harness.prepare("k"))
    assert code == "failed" and "of m" in message


def test_many_samples_travel_in_parts(start):
    harness = start("pawl.benchmark('short')(lambda: (lambda: None))")
    harness.prepare("short")
    reply = harness.measure(samples=9000)
    lengths = [len(message["samples"]) for message in [*harness.parts, reply]]
    assert sum(lengths) == reply["count"] == 9000
    assert len(harness.parts) >= 2 and max(lengths) <= 4096
    for part in harness.parts:
        assert set(part) == {"id", "op", "samples", "cpu"}
        assert len(part["cpu"]) == len(part["samples"])


def test_pawl_hears_from_a_long_measurement(monkeypatch):
    monkeypatch.setattr(pawl_harness, "_LIFE_NS", 0)
    monkeypatch.setitem(pawl_harness._setups, "nap", {"candidate": lambda: (lambda: None)})
    parts = []
    session = pawl_harness._Session(parts.append)
    session.prepare({"benchmark": "nap", "implementation": "candidate", "timer": "wall"})
    reply = session.measure({"id": 7, "samples": 5})
    assert [(part["id"], part["op"], len(part["samples"])) for part in parts] == [(7, "samples", 1)] * 4
    assert (reply["count"], len(reply["samples"])) == (5, 1)


def test_the_sweep_reads_twice_the_cache(monkeypatch):
    monkeypatch.setattr(pawl_harness, "_sweep", [])
    monkeypatch.setattr(pawl_harness, "_host_cache_bytes", lambda: 3 << 20)
    pawl_harness._sweep_host_cache()
    target, *pieces = pawl_harness._sweep
    assert sum(map(len, pieces)) == 6 << 20
    assert target == pieces[-1] and pieces[0] != pieces[1]


def test_a_cold_batch_uses_no_inputs_twice(start):
    harness = start(
        """
        pawl._SHORT_NS = pawl._BATCH_NS = 100_000_000  # a run is short on the busiest machine
        made, order = [], []
        @pawl.benchmark("short")
        def short():
            number = len(made)
            made.append(number)
            return (lambda: order.append(number)), (lambda: number or print(order[-3 * len(made):], flush=True))
        """
    )
    harness.prepare("short", cache="cold", bytes=1 << 28)
    reply = harness.measure(samples=3)
    assert reply["batch"] == 4, "as many sets as one gibibyte holds"
    harness.prepare("short", cache="cold", bytes=1 << 31)
    assert harness.measure(samples=3)["batch"] == 1
    assert harness.stdout() == "%s\n" % (3 * list(range(4)))


def test_garbage_is_not_collected_while_measuring(start):
    harness = start(
        """
        import gc
        states = set()
        @pawl.benchmark("states")
        def make():
            print(gc.isenabled(), sorted(states), flush=True)
            return lambda: states.add(gc.isenabled())
        """
    )
    for _ in range(2):
        harness.prepare("states")
        harness.measure(samples=5)
    assert harness.stdout().splitlines() == ["True []", "True [False]"]


def test_calibration_is_measured_like_a_case(start):
    harness = start(CONFORMANCE)
    assert "error" not in harness.prepare("pawl.calibration", timer="cpu")
    reply = harness.measure(samples=5)
    assert reply["count"] == 5 and reply["batch"] == 1
    assert 50_000 < min(reply["samples"]) < 50_000_000


# ---- failing ----
def test_a_run_that_raises_breaks_the_case_only(start):
    harness = start(CONFORMANCE)
    harness.prepare("broken", {"mode": "run"})
    code, message = error(harness.measure(samples=1))
    assert code == "failed"
    assert "RuntimeError: asked to fail (conformance_harness.py:" in message
    assert 'raise RuntimeError("asked to fail")' in harness.stderr()
    assert "pawl_harness.py" not in harness.stderr(), "the traceback shows the user's code only"
    harness.prepare("spin", {"us": 50})
    assert harness.measure(samples=1)["count"] == 1


@pytest.mark.parametrize(
    "raised, code, message",
    [
        ("pawl.Failure('unsupported', 'needs D=64')", "unsupported", "needs D=64"),
        ("MemoryError('4 GiB')", "no_memory", "no memory: 4 GiB"),
        ("type('OutOfMemoryError', (RuntimeError,), {})('on the card')", "no_memory", "no memory: on the card"),
        ("RuntimeError('CUDA out of memory. Tried')", "no_memory", "no memory: CUDA out of memory. Tried"),
        ("KeyError('D')", "failed", "KeyError: 'D' (harness.py:6)"),
        ("BrokenPipeError('of mine')", "failed", "BrokenPipeError: of mine (harness.py:6)"),
        ("Exception('\\udc80 \\n \\x00')", "failed", "Exception: \udc80 \n \x00 (harness.py:6)"),
    ],
)
def test_exceptions_become_codes(start, raised, code, message):
    harness = start(
        """
        @pawl.benchmark("raises")
        def raises():
            def run():
                raise %s
            return run
        """
        % raised
    )
    harness.prepare("raises")
    assert error(harness.measure(samples=1)) == (code, message)


def test_unknown_requests_and_fields(start):
    harness = start(CONFORMANCE)
    assert error(harness.ask("dance"))[0] == "unsupported"
    assert harness.hello(shoes="red")["protocol"] == 1


def test_any_request_gets_exactly_one_answer(start):
    """A seeded storm of wrong requests: none may end the harness or leave it silent."""
    harness, chance = start(CONFORMANCE), random.Random(7)
    odd = [None, True, -1, 0, 1.5, 1e308, "", "x", "\ud800", [], [[]], {}, {"us": None}, {"us": "x"}, 10**30]
    keys = ["benchmark", "implementation", "params", "cache", "timer", "seed", "bytes", "protocol", "device"]
    for _ in range(300):
        op = chance.choice(["hello", "cases", "prepare", "check", "measure", "samples", "__init__", "release"])
        fields = {key: chance.choice(odd) for key in chance.sample(keys, chance.randrange(len(keys)))}
        if op == "prepare" and chance.random() < 0.7:
            fields.update(benchmark="spin", implementation="candidate", timer="cpu")
        if op == "measure":
            fields = {"samples": chance.choice([1, 0, -1, None, "x", [], 1.5])}
        harness.ask(op, **fields)
    harness.prepare("spin", {"us": 50})
    assert harness.measure(samples=2)["count"] == 2


# ---- beginnings and ends ----
def test_bye_ends_with_status_0(start):
    harness = start(CONFORMANCE)
    assert "error" not in harness.ask("bye")
    assert harness.hear() is None
    assert harness.wait() == 0


@pytest.mark.parametrize("last", [b"", b'{"id":1,"op":"hel'], ids=["between lines", "within a line"])
def test_the_end_of_requests_ends_the_harness_at_once(start, last):
    harness = start("import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()")
    harness.hello()
    harness.say(last)
    os.close(harness.requests)
    assert harness.wait() == 0


def test_a_harness_that_nobody_hears_ends(start):
    harness = start(CONFORMANCE)
    harness.hello()
    os.close(harness.replies)
    harness.say(b'{"id":2,"op":"cases"}\n')
    assert harness.wait() == 0


@pytest.mark.parametrize(
    "line",
    [b"hello", b"[]", b"3", b"", b"\xff\xfe", b'{"id":1,"op":"hello"', b"[" * 100_000, b"1" * 10_000]
    + [b'{"op":"cases"}', b'{"id":1}', b'{"id":"1","op":"cases"}', b'{"id":1,"op":["cases"]}'],
    ids=lambda line: repr(line[:12]),
)
def test_garbage_from_pawl_ends_the_harness_with_a_reason(start, line):
    harness = start(CONFORMANCE)
    harness.say(line + b"\n")
    assert harness.hear() is None
    assert harness.wait() == 1
    assert "no request with an id and an op" in harness.stderr()
    assert "Traceback" not in harness.stderr()


def test_prints_go_to_stdout_untouched(start):
    harness = start("print('at the top')\npawl.benchmark('talks')(lambda: (lambda: print('{\"id\":1}')))")
    harness.prepare("talks")
    assert harness.measure(samples=2)["count"] == 2
    harness.ask("bye")
    assert harness.wait() == 0
    lines = harness.stdout().splitlines()
    assert lines[0] == "at the top" and set(lines[1:]) == {'{"id":1}'}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_other_code_finds_no_trace_of_the_pipes(start):
    harness = start(
        """
        import os, subprocess, sys
        program = "import os; print([k for k in os.environ if k not in %r and k.startswith('PAWL')], len(os.listdir('/proc/self/fd')))"
        subprocess.run([sys.executable, "-c", program], close_fds=False)
        @pawl.benchmark("forks")
        def forks():
            child = os.fork()
            if child == 0:
                print("pipes in a fork:", sum("pipe:" in os.readlink("/proc/self/fd/" + fd)
                      for fd in os.listdir("/proc/self/fd") if os.path.lexists("/proc/self/fd/" + fd)), flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            return print
        """
        % list(os.environ)  # whoever runs the tests may set what they like
    )
    assert "error" not in harness.prepare("forks")
    # 4: stdin, stdout, stderr and the folder being listed.
    assert harness.stdout().splitlines() == ["[] 4", "pipes in a fork: 0"]


@pytest.mark.parametrize("numbers", [("98", "99"), ("", "1"), ("in", "out"), ("-1", "1")])
def test_descriptors_that_are_not_open_are_an_error(run_by_hand, monkeypatch, numbers):
    monkeypatch.setenv("PAWL_IN", numbers[0])
    monkeypatch.setenv("PAWL_OUT", numbers[1])
    done = run_by_hand(CONFORMANCE)
    assert done.returncode == 1
    assert "PAWL_IN=%s and PAWL_OUT=%s" % numbers in done.stderr
    assert "Traceback" not in done.stderr


# ---- by hand ----
def test_by_hand_it_prints_a_table(run_by_hand):
    done = run_by_hand(CONFORMANCE)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["case", "median", "us", "10", "%", "90", "%", "samples"]
    spins = ["spin/us50/candidate", "spin/us50/slow", "spin/us200/candidate", "spin/us200/slow"]
    assert [line.split()[0] for line in lines[2:6]] == spins
    assert float(lines[4].split()[1]) >= 200
    assert lines[6].split(None, 1) == ["broken/candidate", "broken/candidate needs the parameter mode"]
    assert "pawl bench" in lines[-1]


def test_by_hand_it_lists_and_helps(run_by_hand):
    listed = run_by_hand(CONFORMANCE, "--list")
    names = ["spin/us50/candidate", "spin/us50/slow", "spin/us200/candidate", "spin/us200/slow", "broken/candidate"]
    assert listed.stdout.split() == [*names, "double/candidate", "count/candidate", "report/candidate"]
    assert "--list" in run_by_hand(CONFORMANCE, "--help").stdout
    assert run_by_hand(CONFORMANCE, "--no-such-thing").returncode == 2


def test_by_hand_a_broken_case_does_not_hide_the_others(run_by_hand, tmp_path):
    harness = tmp_path / "harness.py"
    harness.write_text(
        "import pawl_harness as pawl\n"
        "pawl.benchmark('bad')(lambda: 1 / 0)\n"
        "pawl.benchmark('good')(lambda: (lambda: None))\n"
        "pawl.main()\n"
    )
    lines = run_by_hand(harness).stdout.splitlines()
    assert "ZeroDivisionError" in lines[2]
    assert lines[3].startswith("good/candidate ")


# ---- declaring ----
@pytest.mark.parametrize(
    "declarations, said",
    [
        ("pawl.benchmark('a/b')", "'a/b'"),
        ("pawl.benchmark('a b')", "'a b'"),
        ("pawl.benchmark('')", "''"),
        ("pawl.benchmark('pawl.mine')", "pawl's own"),
        ("pawl.benchmark('a')(print); pawl.benchmark('a')(repr)", "a/candidate is declared twice"),
        ("pawl.benchmark('a', flops=1)(id); pawl.benchmark('a', 'x', flops=2)(repr)", "flops of a are declared twice"),
    ],
)
def test_wrong_declarations_end_the_harness_with_a_reason(start, declarations, said):
    harness = start(declarations)
    assert harness.hear() is None
    assert harness.wait() == 1
    assert said in harness.stderr().splitlines()[-1]


@pytest.mark.parametrize("name", ["pawl_harness.py", "conformance_harness.py"])
def test_the_syntax_is_that_of_python_3_8(name):
    ast.parse((HERE / name).read_text(), feature_version=(3, 8))
