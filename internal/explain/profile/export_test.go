package profile

import "io"

// ReadText reads the display pages of ncu.
func ReadText(r io.Reader) (*Profile, error) { return readAs(r, readText) }

// ReadKernelSum reads a cuda_gpu_kern_sum of nsys.
func ReadKernelSum(r io.Reader) (*Profile, error) { return readAs(r, readKernelSum) }
