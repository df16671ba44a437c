// Package conformance tests whether a program speaks the harness protocol
// (docs/reference/harness-protocol.md). It starts the program as pawl would, plays transcripts against it
// and reports the first difference.
//
// It knows the protocol and the format of transcripts, but no SDK: what it tests is a command. It is
// deliberately independent of pawl's own side of the protocol, so that neither can hide a bug in the other.
package conformance
