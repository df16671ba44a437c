// Package gpucheck checks on a real GPU what pawl assumes of GPUs: the 32 checks of pawl doctor --gpu. Each has a
// criterion, and says what a failure means for results.
//
// Most checks judge facts that pawl's own launcher measures (launch/source/check.h), so that its step of
// events, its hold and its sweep are what is checked. It measures no kernel of the user, and changes nothing but the
// clocks, which it restores.
//
// Not yet run on a GPU: the checks have run on the virtual GPU only (docs/explanation/virtual-gpu.md).
package gpucheck
