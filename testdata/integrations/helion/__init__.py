"""Stands in for helion in the page of integrations: a call computes nothing, and its time follows from the config."""

import triton


class Config:
    def __init__(self, block_sizes, num_warps=4):
        self.block_sizes, self.num_warps = block_sizes, num_warps


def kernel(config):
    def decorate(fn):
        def call(x, y):
            triton.cost += x.shape[0] * 2e-8 * (1 + 1 / config.num_warps)
            return x

        return call

    return decorate
