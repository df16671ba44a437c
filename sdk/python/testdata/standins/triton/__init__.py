"""A stand-in for triton: the signatures of triton 3, and times that follow from the call."""
