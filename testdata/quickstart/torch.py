"""Stands in for torch in the quick start: tensors have a shape and nothing else."""


class Tensor:
    def __init__(self, *shape):
        self.shape = shape


def randn(*shape, device=None):
    return Tensor(*shape)


def empty_like(x):
    return Tensor(*x.shape)
