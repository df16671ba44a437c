"""A torch with a simulated GPU: as much of it as pawl_harness.py and the tests call.

Time is virtual. A launch costs the host LAUNCH_NS; the device works its queue off one after the other, and an event
gets the time at which the device reaches it. So a start event on an idle device does see the launch that follows.
"""

import os
import types

__version__ = "9.9.9"
version = types.SimpleNamespace(cuda="12.4", hip=None)
LAUNCH_NS, EVENT_NS, CYCLES_PER_NS = 10_000, 1_000, 1.4
EVENT_WORK_NS = 0  # what an event costs the device
EVENT_STEP_NS = 0  # the step of event times; 0 if they are exact
log = []  # what was asked of the device, in order


class _Time:
    host = 0.0  # what the host's clock shows
    device = 0.0  # when the device will have worked off its queue
    crashed = False  # a kernel read an illegal address


def host_ns():
    return _Time.host


def launch(name, ns):
    """Queues a kernel that takes ns."""
    log.append(name)
    _Time.host += LAUNCH_NS
    _Time.device = max(_Time.device, _Time.host) + ns


def crash():
    """Queues a kernel that reads an illegal address."""
    launch("crash", 1_000)
    _Time.crashed = True


def synchronize():
    log.append("synchronize")
    if _Time.crashed:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    _Time.host = max(_Time.host, _Time.device)


class Event:
    def __init__(self, enable_timing=False):
        self.timing, self.at = enable_timing, None

    def record(self):
        log.append("event")
        _Time.host += EVENT_NS
        self.at = max(_Time.device, _Time.host)
        _Time.device = self.at + EVENT_WORK_NS

    def elapsed_time(self, end):
        assert self.timing and end.timing, "the event was made without timing"
        assert _Time.host >= end.at, "read before the device got there"
        if not EVENT_STEP_NS:
            return (end.at - self.at) / 1e6
        return (end.at // EVENT_STEP_NS - self.at // EVENT_STEP_NS) * EVENT_STEP_NS / 1e6


class _Tensor:
    def sub_(self, value):
        return self

    def half(self):
        return self


def _on_device(*shape, device):
    assert device == "cuda"
    cuda.started = True
    return _Tensor()


rand = empty = _on_device


def empty_like(tensor):
    return _Tensor()


def sum(tensor, dim, out):
    launch("flush", 200_000)


def mm(a, b, out):
    launch("mm", 1_000_000)


def manual_seed(seed):
    log.append("seed %d" % seed)


class OutOfMemoryError(RuntimeError):
    pass


_cards = [
    types.SimpleNamespace(name="Simulated 0", uuid="11111111-0000-0000-0000-000000000000", L2_cache_size=48 << 20),
    types.SimpleNamespace(name="Simulated 1", uuid="22222222-0000-0000-0000-000000000000", L2_cache_size=48 << 20),
]
cuda = types.SimpleNamespace(
    started=False,
    chosen=0,
    is_available=lambda: "NO_GPU" not in os.environ,
    is_initialized=lambda: cuda.started,
    device_count=lambda: len(_cards),
    get_device_properties=_cards.__getitem__,
    current_device=lambda: cuda.chosen,
    set_device=lambda index: setattr(cuda, "chosen", index),
    empty_cache=lambda: log.append("empty_cache"),
    synchronize=synchronize,
    current_stream=lambda: types.SimpleNamespace(cuda_stream=7),
    _sleep=lambda cycles: launch("sleep", cycles / CYCLES_PER_NS),
    Event=Event,
    profiler=types.SimpleNamespace(start=lambda: log.append("start"), stop=lambda: log.append("stop")),
    nvtx=types.SimpleNamespace(range_push=lambda name: log.append("push " + name), range_pop=lambda: log.append("pop")),
)
