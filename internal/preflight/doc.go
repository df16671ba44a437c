// Package preflight looks at a kernel before any time of a GPU is spent on it: does
// it fit, does it spill, does it link, can its claims be true. Every gate says pass,
// warn or stop, with the number, the limit and the fix; one that cannot be looked at
// says so and is never a pass.
//
// It knows what compilers and linkers say and what hardware allows. It must not know
// rounds, samples or verdicts, and it runs no kernel, but for the sanitizer on a
// machine that has a GPU.
package preflight
