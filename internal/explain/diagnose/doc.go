// Package diagnose explains profiles: where the time goes, what to do about it,
// and what changed between two profiles.
//
// The knowledge is data, not code: rules in files, each with the condition under which it applies,
// its evidence, its fixes and its own test vectors. Users add rules in the same format.
//
// The package is pure. It must not know how a profile was made, nor how it is displayed.
package diagnose
