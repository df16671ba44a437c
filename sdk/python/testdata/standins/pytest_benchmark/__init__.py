"""A stand-in for pytest-benchmark: the signatures of version 5, and times that follow from the call."""
