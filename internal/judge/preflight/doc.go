// Package preflight checks a kernel before any GPU time is spent on it: does it fit,
// does it spill, does it link, can its claims be true. Every gate reports pass, warn or
// stop, with the number, the limit and the fix. A gate that cannot be checked says so
// and never passes.
//
// It knows the output of compilers and linkers, and the limits of hardware. It must not
// know rounds, samples or verdicts. It runs no kernel, except under the sanitizer on a
// machine with a GPU.
package preflight
