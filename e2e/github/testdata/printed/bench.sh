#!/bin/sh
# Prints the times of a kernel that takes as long as kernel.txt says, with 1 % of noise.
awk -v seed="$(od -An -N4 -tu4 /dev/urandom)" '
	BEGIN { srand(seed); side = rand() }
	{ for (i = 0; i < 20; i++) printf "BenchmarkMatmul/N160 100 %.0f ns/op\n", $1 * 1000 * (0.995 + 0.01 * (rand() + side) / 2) }' kernel.txt
