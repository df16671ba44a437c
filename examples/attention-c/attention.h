/* out = softmax(q k^T * scale) v for each batch and head: FP16 in memory as its bits, FP32 inside.
   All four tensors are [B, H, S, 64] in row order. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include <stdint.h>

#define HEAD_DIM 64

void attention_f16(const uint16_t *q, const uint16_t *k, const uint16_t *v, uint16_t *out, int B, int H, int S, float scale);

#endif
