"""Stands in for triton in the quick start: a launch computes nothing, and its time follows from its arguments."""

cost = 0.0


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()


class jit:
    def __init__(self, fn):
        self.fn = fn

    def __getitem__(self, grid):
        def launch(*args, BLOCK, num_warps=4):
            global cost
            cost += grid[0] * BLOCK * 2e-8 * (1 + 1 / num_warps)

        return launch
