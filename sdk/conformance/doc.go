// Package conformance tells whether a program speaks the harness protocol
// (docs/reference/harness-protocol.md). It starts the program as pawl would,
// plays transcripts against it and reports the first difference.
//
// It knows the words of the protocol and how a transcript is written. It does
// not know any SDK: what it tests is a command. It is independent of pawl's own
// side of the protocol on purpose, so that one cannot hide a fault of the other.
package conformance
