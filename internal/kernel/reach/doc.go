// Package reach identifies, by one digest, everything that a kernel of a compiled file can execute and read besides
// its arguments: its instructions, those of all functions it can call, the data of the file, and what runs when the
// file is loaded. Two builds in which a kernel has the same digest cannot differ in its speed, except by chance.
//
// It returns an error, not a digest, for every kernel of which that is not known. It must not run any code of the file,
// and must not know what the digest is used for.
package reach
