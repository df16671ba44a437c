"""The harness that every SDK brings to be tested with the transcripts of sdk/conformance."""

import array
import random
import time

import pawl_harness as pawl


def busy_wait(us):
    def run():
        until = time.perf_counter_ns() + us * 1000
        while time.perf_counter_ns() < until:
            pass

    return run


@pawl.benchmark("spin", configs=[{"us": 50}, {"us": 200}], flops="us*1000", bytes="us")
def spin(us: int):
    return busy_wait(us)


@pawl.benchmark("spin", implementation="slow")
def spin_slow(us: int):
    return busy_wait(2 * us)


@pawl.benchmark("broken")
def broken(mode: str):
    if mode == "setup":
        raise MemoryError("asked to fail")

    def run():
        if mode == "run":
            raise RuntimeError("asked to fail")

    return run


def stored(length, of="f"):
    return array.array(of, bytes(4 * length))


@pawl.benchmark("double")
def double(N: int, gap: int = 0, mode: str = ""):
    """Two rows, with a gap between them."""
    x, y = stored(2 * N + gap), stored(2 * N + gap)
    for i in range(len(x)):
        x[i] = random.random()
    pawl.input("x", x, shape=(2, N), strides=(N + gap, 1))
    pawl.output("y", y, shape=(2, N), strides=(N + gap, 1))

    def run():
        for at in [*range(N), *range(N + gap, 2 * N + gap - (mode == "leaves_last"))]:
            y[at] = 2 * x[at]
        if mode == "spoils_input":
            x[0] += 1

    return run


@pawl.benchmark("count")
def count(N: int):
    total = stored(N, "i")
    pawl.inout("sum", total)

    def run():
        for i in range(N):
            total[i] += 1

    return run


@pawl.benchmark("report")
def report(better: str = "lower"):
    pawl.report("bytes", 4096, unit="B", better=better)
    return lambda: pawl.report("rate", -812.25, unit="tok/s", better="higher")


if __name__ == "__main__":
    pawl.main()
