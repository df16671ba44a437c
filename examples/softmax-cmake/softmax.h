/* y = softmax(x) over each of n rows of m floats. */
#ifndef SOFTMAX_H
#define SOFTMAX_H

void softmax(int n, int m, const float *x, float *y);

#endif
