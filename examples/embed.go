// Package examples embeds the example that pawl demo measures.
package examples

import "embed"

// Matmul is the folder of the matrix product in C, without its suite.
//
//go:embed matmul-c/Makefile matmul-c/harness.c matmul-c/matmul.c matmul-c/matmul.h
var Matmul embed.FS
