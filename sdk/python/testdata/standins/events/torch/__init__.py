"""A stand-in for the events of torch, on a clock that counts."""

from torch import cuda
