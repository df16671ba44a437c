"""How a GPU is measured, on a simulated one: what is launched in which order, and what the events then say."""

import importlib.util
import pathlib

import pytest

import pawl_harness

HERE = pathlib.Path(__file__).resolve().parent
SIMULATED = HERE / "testdata" / "simulated"


@pytest.fixture
def gpu():
    """A fresh simulated torch; not under its name, so that a real one stays what it is."""
    spec = importlib.util.spec_from_file_location("simulated_torch", str(SIMULATED / "torch.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Bench:
    """A case of one kernel and the meter that reads it."""

    def __init__(self, gpu, kernel_ns, cold=False, traffic=0, run=None):
        self.gpu = gpu
        self.meter = pawl_harness._DeviceMeter(pawl_harness._Torch(gpu, ""), now=gpu.host_ns)
        self.sets = 0
        self.case = pawl_harness._Case("bench/candidate", lambda number: self.setup(kernel_ns, run), cold, traffic)
        self.meter.estimate(self.case)
        gpu.log.clear()

    def setup(self, kernel_ns, run):
        number, self.sets = self.sets, self.sets + 1
        return run or (lambda: self.gpu.launch("kernel %d" % number, kernel_ns))

    def read(self, want=0, busy_ns=0, warmup=False):
        readings = self.meter.read(self.case, want, self.gpu.host_ns() + busy_ns, warmup)
        assert list(readings) == ["samples"]
        return readings["samples"]


@pytest.mark.parametrize("kernel_ns, batch", [(2_000_000, 1), (21_000, 1), (19_000, 3), (6_000, 7), (1_100, 37)])
def test_a_sample_is_the_time_of_the_kernel_alone(gpu, kernel_ns, batch):
    """A launch costs the host 10 us. Whether the kernel is longer or shorter, none of that is in a sample."""
    bench = Bench(gpu, kernel_ns)
    samples = bench.read(want=100)
    assert len(bench.case.sample) == batch
    assert samples == [pytest.approx(kernel_ns)] * 100
    assert bench.meter.note == ""


def test_the_cost_of_events_does_not_shrink_the_batch(gpu):
    gpu.EVENT_WORK_NS = 3_000
    assert len(Bench(gpu, 5_000).case.sample) == 8, "5 us and an eighth of 3 us, not 8 us"


@pytest.mark.parametrize("step_ns", [1024, 500, 32])
def test_the_step_of_event_times_is_measured(gpu, step_ns):
    gpu.EVENT_STEP_NS = step_ns
    assert pawl_harness._Torch(gpu, "").step_ns() == step_ns


@pytest.mark.parametrize("kernel_ns, batch", [(300_000, {1}), (20_000, {20, 21}), (500, {480})])
def test_a_sample_is_at_least_200_steps_long_if_the_queue_holds_it(gpu, kernel_ns, batch):
    gpu.EVENT_STEP_NS = 1024
    bench = Bench(gpu, kernel_ns)
    samples = bench.read(want=10)
    assert len(bench.case.sample) in batch
    assert samples == [pytest.approx(kernel_ns, rel=0.005)] * 10


def test_rocm_tells_the_cache_of_one_die_only(gpu):
    """The sweep must exceed the Infinity Cache of 256 MB."""
    gpu.version.hip = "6.4"
    assert pawl_harness._Torch(gpu, "").cache_bytes == 256 << 20


def test_warm_up_is_not_held_back(gpu):
    bench = Bench(gpu, 5_000)
    samples = bench.read(want=50, warmup=True)
    assert "sleep" not in gpu.log
    assert min(samples) > 5_000, "a warm-up sample does see the launches"
    bench.read(want=50)
    assert "sleep" in gpu.log


def test_a_kept_sample_is_caught_behind_its_run_and_before_all_waiting(gpu):
    """What goes on elsewhere must not have the time to finish; and catching must not be measured."""
    bench = Bench(gpu, 19_000, run=lambda: gpu.launch("kernel", 19_000) or "result")
    caught = []
    reading = bench.meter.read_one(bench.case, lambda results: caught.extend(results) or gpu.launch("copy", 5_000))
    assert reading == {"samples": [pytest.approx(19_000)]} and caught == 3 * ["result"]
    assert gpu.log == ["event", "sleep", "event", "event", *3 * ["kernel"], "event", "copy", "synchronize"]
    assert len(bench.case.sample) == 3 and bench.case.sample[-1] is bench.case.run, "the sample is as it was"


def test_one_synchronise_a_block(gpu):
    bench = Bench(gpu, 100_000)
    bench.read(want=32)
    assert gpu.log.count("synchronize") == 1 == gpu.log.count("sleep")
    assert gpu.log[-1] == "synchronize"
    assert gpu.log.index("sleep") < gpu.log.index("kernel 0")


@pytest.mark.parametrize("kernel_ns", [100, 1_000, 20_000, 1_000_000, 3_000_000_000])
def test_a_block_fits_the_launch_queue_and_does_not_last(gpu, kernel_ns):
    bench = Bench(gpu, kernel_ns)
    bench.read(want=64)
    blocks = " ".join(gpu.log).split("synchronize")[:-1]
    for block in blocks:
        assert len(block.split("event")) + block.count("kernel") <= 1024
        assert block.count("kernel") * kernel_ns <= max(1e9, kernel_ns)


def test_a_cold_sample_follows_a_sweep_of_the_cache(gpu):
    bench = Bench(gpu, 100_000, cold=True)
    bench.read(want=3)
    block = ["flush", "event", "kernel 0", "event"]
    assert gpu.log == ["event", "sleep", "event"] + 3 * block + ["synchronize"]


def test_a_cold_sample_forgets_lines_that_persist(gpu):
    class Driver:
        def __getattr__(self, name):
            return lambda *arguments: gpu.log.append(name)

    bench = Bench(gpu, 100_000, cold=True)
    bench.meter.device.driver = Driver()
    bench.read(want=2)
    forget = ["cuStreamSetAttribute", "cuCtxSetLimit", "cuCtxResetPersistingL2Cache"]
    sample = ["event", "sleep", "event", "flush", "event", "kernel 0", "event", "synchronize"]
    assert gpu.log == 2 * (forget + sample)


def test_a_cold_batch_runs_on_other_inputs_each_time(gpu):
    bench = Bench(gpu, 11_000, cold=True, traffic=1 << 20)
    samples = bench.read(want=2)
    kernels = ["kernel 0", "kernel 1", "kernel 2", "kernel 3"]
    assert gpu.log == ["event", "sleep", "event"] + 2 * ["flush", "event", *kernels, "event"] + ["synchronize"]
    assert samples == [pytest.approx(11_000)] * 2


def test_a_busy_time_is_reached_and_not_much_exceeded(gpu):
    bench = Bench(gpu, 100_000)
    began = gpu.host_ns()
    samples = bench.read(busy_ns=10_000_000)
    assert 10_000_000 <= gpu.host_ns() - began < 11_000_000
    assert len(samples) > 50, "most of the time goes into samples, not into waiting"


def test_pawl_hears_from_a_long_measurement(gpu):
    bench = Bench(gpu, 300_000_000)
    samples = bench.read(want=1000)
    assert 1 <= len(samples) <= 10, "about two seconds at a time"


def test_a_part_holds_no_more_than_fits(gpu):
    bench = Bench(gpu, 20_000)
    samples = bench.read(want=10_000)
    assert 4096 <= len(samples) <= 4096 + 32


def test_a_run_may_synchronise(gpu):
    def run():
        gpu.launch("kernel", 50_000)
        gpu.synchronize()

    bench = Bench(gpu, 0, run=run)
    session = pawl_harness._Session(pytest.fail)
    session.case, session.meter = bench.case, bench.meter
    reply = session.measure({"samples": 40})
    assert reply["count"] == 40 and min(reply["samples"]) >= 50_000
    assert "does the run synchronise?" in reply["note"], "its samples contain launches, and that is told"


def test_samples_of_a_block_that_came_late_are_taken_again(gpu):
    """The host stalls once while it launches: the device waits between the events of a sample."""
    launches = []

    def run():
        launches.append(1)
        if len(launches) == stall:
            gpu._Time.host += 50_000_000
        gpu.launch("kernel", 300_000)

    stall = 0
    bench = Bench(gpu, 0, run=run)
    stall = len(launches) + 4
    samples = bench.read(want=20)
    assert samples == [pytest.approx(300_000)] * 20
    assert len(launches) > stall + 20 - 4, "some were taken again"


def test_the_wait_learns_the_clock_of_the_device(gpu):
    bench = Bench(gpu, 100_000)
    # A little low, because the launch of the wait is in the reading; the wait is half as long again as needed.
    assert gpu.CYCLES_PER_NS / 1.2 < bench.meter.cycles_per_ns <= gpu.CYCLES_PER_NS


def test_a_run_that_does_nothing_on_the_device_is_told(gpu):
    gpu.EVENT_NS = 0
    with pytest.raises(pawl_harness.Failure, match="bench/candidate took no time on the device"):
        Bench(gpu, 0, run=lambda: None)


@pytest.mark.parametrize("timer", ["wall", "cpu"])
def test_host_clocks_wait_for_the_gpu(gpu, timer):
    meter = pawl_harness._HostMeter(timer, pawl_harness._Torch(gpu, ""))
    case = pawl_harness._Case("bench/candidate", lambda number: (lambda: gpu.launch("kernel", 5)), True, 0)
    case.sample = [case.run]
    readings = meter.read(case, 2, 0, False)
    assert len(readings["samples"]) == 2
    assert gpu.log == 2 * ["flush", "synchronize", "kernel", "synchronize"]


# ---- through the protocol, with the simulated torch in place of the real one ----
HARNESS = """
import torch
@pawl.benchmark("kernel")
def kernel(us=100, where="cuda"):
    if where == "cuda":
        torch.rand(1, device="cuda")
    if us < 0:
        raise torch.OutOfMemoryError("tried to allocate")
    return lambda: torch.launch("kernel", us * 1000)
"""


@pytest.fixture
def harness(start):
    return start(HARNESS, env={"PYTHONPATH": "%s:%s" % (HERE, SIMULATED)})


def test_hello_names_the_gpu_and_offers_its_clock(harness):
    reply = harness.hello(device={"kind": "nvidia"})
    assert reply["timers"] == ["device", "wall", "cpu"]
    assert reply["device"] == {"name": "Simulated 0", "runtime": "CUDA 12.4"}


def test_the_gpu_is_chosen_by_its_uuid(harness):
    reply = harness.hello(device={"kind": "nvidia", "uuid": "GPU-22222222-0000-0000-0000-000000000000"})
    assert reply["device"]["name"] == "Simulated 1"


def test_a_profiler_sees_the_runs_and_nothing_else(gpu):
    session = pawl_harness._Session(lambda message: None)
    session.device, session.meter = pawl_harness._Torch(gpu, ""), object()
    session.case = pawl_harness._Case("kernel", lambda number: lambda: gpu.launch("kernel", 1000), True, 0)
    gpu.log.clear()
    assert session.profile({"op": "profile", "iterations": 2, "warmup": 1}) == {"iterations": 2}
    assert gpu.log == "kernel/flush/synchronize/start/push pawl/kernel/kernel/synchronize/pop/stop".split("/")


def test_another_gpu_than_asked_for_is_an_error(harness):
    reply = harness.hello(device={"kind": "nvidia", "uuid": "GPU-33333333-0000-0000-0000-000000000000"})
    assert reply["error"]["code"] == "no_device"
    assert "GPU-33333333" in reply["error"]["message"] and "GPU-22222222" in reply["error"]["message"]


def test_device_samples(harness):
    harness.hello(device={"kind": "nvidia"})
    assert harness.prepare("kernel", {"us": 100}, timer="device")["quantum_ns"] == 1
    harness.measure(samples=3, warmup=True)
    reply = harness.measure(samples=10)
    assert set(reply) == {"id", "op", "count", "batch", "samples"} and reply["count"] == 10
    # The host's clock is real here and the device's is not, so only the lower bound is sure.
    assert min(reply["samples"]) >= 100_000
    assert "error" not in harness.prepare("kernel", {"us": 100}, timer="device", cache="cold")
    assert harness.measure(samples=2)["count"] == 2


def test_calibration_runs_on_the_gpu(harness):
    harness.hello(device={"kind": "nvidia"})
    assert "error" not in harness.prepare("pawl.calibration", timer="device")
    assert min(harness.measure(samples=5)["samples"]) >= 1_000_000


def test_a_lost_device_is_told(start):
    """After an illegal address every call of the process fails: pawl starts a new one for the next case."""
    harness = start("""
import torch
@pawl.benchmark("crash")
def crash():
    return torch.crash
""", env={"PYTHONPATH": "%s:%s" % (HERE, SIMULATED)})
    harness.hello(device={"kind": "nvidia"})
    reply = harness.prepare("crash", timer="device")
    if "error" not in reply:
        reply = harness.measure(samples=2)
    assert reply["error"]["code"] == "lost_device" and "illegal memory access" in reply["error"]["message"]


def test_lack_of_device_memory(harness):
    harness.hello(device={"kind": "nvidia"})
    reply = harness.prepare("kernel", {"us": -1}, timer="device")
    assert reply["error"] == {"code": "no_memory", "message": "no memory: tried to allocate"}


def test_a_cpu_suite_sees_no_gpu_and_a_case_that_uses_one_is_told(harness):
    assert harness.hello(device={"kind": "cpu"})["timers"] == ["wall", "cpu"]
    assert "error" not in harness.prepare("kernel", {"where": "cpu"})
    reply = harness.prepare("kernel", {"where": "cuda"})
    assert reply["error"]["code"] == "unsupported" and "uses CUDA" in reply["error"]["message"]


def test_cuda_without_torch_is_refused(start):
    """Without a synchronise, wall time ends when the launch returns."""
    harness = start("""
pawl._maps_cuda = lambda: True
@pawl.benchmark("kernel")
def kernel():
    return lambda: None
""")
    harness.hello(device={"kind": "nvidia"})
    reply = harness.prepare("kernel")
    assert reply["error"]["code"] == "unsupported" and "import torch" in reply["error"]["message"]
    harness = start("""
@pawl.benchmark("kernel")
def kernel():
    return lambda: None
""")
    harness.hello(device={"kind": "nvidia"})
    assert "error" not in harness.prepare("kernel")


def test_without_a_gpu_the_host_is_measured(start):
    harness = start(HARNESS, env={"PYTHONPATH": "%s:%s" % (HERE, SIMULATED), "NO_GPU": "1"})
    assert harness.hello(device={"kind": "nvidia"})["timers"] == ["wall", "cpu"]


def test_the_real_torch_has_what_the_simulated_one_promises():
    torch = pytest.importorskip("torch")
    used = "Event _sleep synchronize get_device_properties device_count set_device current_device is_initialized"
    used += " current_stream"
    for name in used.split():
        assert hasattr(torch.cuda, name)
    assert callable(torch.cuda.profiler.start) and callable(torch.cuda.profiler.stop)
    assert callable(torch.cuda.nvtx.range_push) and callable(torch.cuda.nvtx.range_pop)
    assert callable(torch.cuda.Event.record) and callable(torch.cuda.Event.elapsed_time)
    assert hasattr(torch.version, "hip") and hasattr(torch.version, "cuda")
    total = torch.empty(())
    torch.sum(torch.ones(8), 0, out=total)
    assert total.item() == 8
    assert torch.rand(2, 2).sub_(0.5).half().dtype is torch.float16
