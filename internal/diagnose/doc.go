// Package diagnose says what a profile means: where the time goes, what to do about
// it, and between two profiles what changed.
//
// The knowledge is data, not code: rules in files, each with the condition under which
// it speaks, its evidence, its fixes and its own test vectors. Users add rules of
// their own in the same form.
//
// The package is pure. It must not know how a profile came about, nor how it is shown.
package diagnose
