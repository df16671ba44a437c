"""A harness for pawl. So far it measures an empty placeholder.

By hand: python3 harness.py prints a table. With pawl: pawl bench.
"""

import pawl_harness as pawl

# TODO: import torch, or your kernel, here: with torch and a GPU, pawl measures on the device.


# TODO: name the benchmark after your kernel, list the configs that matter, and say how much work one run is:
# flops="2*N", bytes="4*N".
@pawl.benchmark("placeholder", configs=[dict(N=1024)])
def placeholder(N):
    """Make the inputs of one config, and return what is one run."""
    # TODO: return a function that calls your kernel. It need not synchronise: pawl does.
    return lambda: None


if __name__ == "__main__":
    pawl.main()
