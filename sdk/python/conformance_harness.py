"""The harness that every SDK brings to be tested with the transcripts of sdk/conformance."""

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


if __name__ == "__main__":
    pawl.main()
