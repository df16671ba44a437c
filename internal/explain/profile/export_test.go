package profile

import "io"

// ReadText reads the display pages of ncu.
func ReadText(r io.Reader) (*Profile, error) { return readWith(r, readText) }

// ReadKernelSum reads a cuda_gpu_kern_sum of nsys.
func ReadKernelSum(r io.Reader) (*Profile, error) { return readWith(r, readKernelSum) }

func readWith(r io.Reader, read func([]byte) (*Profile, error)) (*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	return read(data)
}
