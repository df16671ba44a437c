// Package mcp drives pawl mcp as a client does: the real program on a real stdin and
// stdout, every message of both directions held against the shapes that the protocol
// gives it. It measures for real, on a copy of an example.
package mcp
