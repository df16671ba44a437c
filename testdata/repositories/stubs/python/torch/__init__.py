"""A stand-in for torch: what benchmarks use to measure. Times come from duration, in milliseconds."""
from . import cuda, utils

duration = 1.0
