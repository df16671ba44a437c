"""A stand-in for triton 2.0, whose do_bench has no function that sees all times."""
