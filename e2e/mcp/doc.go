// Package mcp drives pawl mcp as a client does: the real program, with the client of the protocol's SDK, on stdin and
// stdout, a socket and HTTP. It measures for real, on a copy of an example.
package mcp
