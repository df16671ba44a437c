// Package redteam attacks pawl: kernels, harnesses and suites that look fast and are
// not, against the real binary, at every level of trust. None may end green. Beside them stand
// honest kernels of many kinds, of which none may be called a cheat. It has no code of its own
// beside its tests.
package redteam
