/* C = A * B for square matrices of n x n floats in row order. */
#ifndef MATMUL_H
#define MATMUL_H

void matmul(int n, const float *a, const float *b, float *c);

#endif
