// Package tensor knows what a kernel is given and gives back: arguments, the element
// types of GPUs, and tensors in the safetensors format, which is how they travel
// between processes. Whatever it reads may come from a stranger.
//
// It must not know what a right result is: that is the oracle's.
package tensor
