// Package tensor describes the inputs and outputs of a kernel: arguments, the element
// types of GPUs, and tensors in the safetensors format, which processes exchange. All
// of its input may be untrusted.
//
// It must not know what a correct result is: that is the oracle's job.
package tensor
