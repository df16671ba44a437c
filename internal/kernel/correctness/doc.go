// Package correctness decides whether results are correct: it has the rules for comparing an
// output with the result of another process, the inputs chosen to expose bugs, the
// configs worth trying, and the code that shrinks and stores failures.
//
// It must not know how a kernel is built, timed or reported. It reaches kernels and
// references through two small interfaces, Subject and Reference. All randomness comes
// from seeds, so that every result can be reproduced.
package correctness
