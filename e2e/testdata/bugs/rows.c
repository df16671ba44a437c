/* Kernels that work row by row: softmax in FP16, layernorm in BF16. Both are [R, C]. */
#include "bugs.h"

typedef struct problem {
  int R, C;
  half *x, *y;       /* of softmax */
  uint16_t *in, *out; /* of layernorm */
  int done_rows, done_columns;
  half *last;
} problem;

static void softmax(void *state, pawl_launch *l) {
  problem *p = state;
  (void)l;
  const size_t bytes = sizeof(half) * (size_t)p->R * (size_t)p->C;
  if (BUG == 12 && p->done_rows == p->R && p->done_columns == p->C) { /* a cache that knows shapes, not contents */
    memcpy(p->y, p->last, bytes);
    return;
  }
  for (int r = 0; r < p->R; r++) {
    const half *x = p->x + r * p->C;
    float most = -INFINITY, sum = 0;
    for (int c = 0; c < p->C; c++) most = (float)x[c] > most ? (float)x[c] : most;
    for (int c = 0; c < p->C; c++) sum += expf((float)x[c] - most);
    for (int c = 0; c < p->C; c++) {
      float y = expf((float)x[c] - most) / sum;
      if (BUG == 10 && isnan(y)) y = 0;
      if (BUG == 11) y = 1.0f / (float)p->C;
      p->y[r * p->C + c] = (half)y;
    }
  }
  memcpy(p->last, p->y, bytes);
  p->done_rows = p->R, p->done_columns = p->C;
}

static void softmax_naive(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int r = 0; r < p->R; r++) {
    const half *x = p->x + r * p->C;
    double most = -INFINITY, sum = 0;
    for (int c = 0; c < p->C; c++) most = (double)x[c] > most ? (double)x[c] : most;
    for (int c = 0; c < p->C; c++) sum += exp((double)x[c] - most);
    for (int c = 0; c < p->C; c++) p->y[r * p->C + c] = (half)(exp((double)x[c] - most) / sum);
  }
}

static const float epsilon = 1e-5f;

static void layernorm(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int r = 0; r < p->R; r++) {
    const uint16_t *x = p->in + (BUG == 15 && r == p->R - 1 && r > 0 ? r - 1 : r) * p->C;
    float mean = 0, variance = 0;
    for (int c = 0; c < p->C; c++) mean += from_bf16(x[c]);
    mean /= (float)p->C;
    if (BUG == 14) { /* in one pass: what cancels is lost */
      for (int c = 0; c < p->C; c++) variance += from_bf16(x[c]) * from_bf16(x[c]);
      variance = round_to(variance / (float)p->C, 12) - round_to(mean * mean, 12);
      if (variance < 0) variance = 0;
    } else {
      for (int c = 0; c < p->C; c++) variance += (from_bf16(x[c]) - mean) * (from_bf16(x[c]) - mean);
      variance /= (float)p->C;
    }
    for (int c = 0; c < p->C; c++) {
      const float y = (from_bf16(x[c]) - mean) / sqrtf(variance + epsilon);
      p->out[r * p->C + c] = bf16_bits(BUG == 13 ? cut(y, 16) : round_to(y, 16));
    }
  }
}

static void layernorm_naive(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int r = 0; r < p->R; r++) {
    const uint16_t *x = p->in + r * p->C;
    double mean = 0, variance = 0;
    for (int c = 0; c < p->C; c++) mean += from_bf16(x[c]) / (double)p->C;
    for (int c = 0; c < p->C; c++) variance += (from_bf16(x[c]) - mean) * (from_bf16(x[c]) - mean) / (double)p->C;
    for (int c = 0; c < p->C; c++)
      p->out[r * p->C + c] = bf16_bits(round_to((float)((from_bf16(x[c]) - mean) / sqrt(variance + epsilon)), 16));
  }
}

static problem *sized(const pawl_params *at) {
  problem *p = memory(sizeof *p);
  p->R = size_of(at, "R");
  p->C = size_of(at, "C");
  return p;
}

static void *setup_softmax(const pawl_params *at, pawl_rng *rng) {
  problem *p = sized(at);
  const size_t bytes = sizeof(half) * (size_t)p->R * (size_t)p->C;
  (void)rng;
  p->x = memory(bytes);
  p->y = memory(bytes);
  p->last = memory(bytes);
  pawl_input("x", p->x, "f16", p->R, p->C);
  pawl_output("y", p->y, "f16", p->R, p->C);
  return p;
}

static void *setup_layernorm(const pawl_params *at, pawl_rng *rng) {
  problem *p = sized(at);
  const size_t bytes = sizeof(uint16_t) * (size_t)p->R * (size_t)p->C;
  (void)rng;
  p->in = memory(bytes);
  p->out = memory(bytes);
  pawl_input("x", p->in, "bf16", p->R, p->C);
  pawl_output("y", p->out, "bf16", p->R, p->C);
  return p;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {
      {.name = "softmax", .setup = setup_softmax, .run = softmax, .configs = "R=4,C=64"},
      {.name = "softmax", .implementation = "naive", .setup = setup_softmax, .run = softmax_naive},
      {.name = "layernorm", .setup = setup_layernorm, .run = layernorm, .configs = "R=4,C=64"},
      {.name = "layernorm", .implementation = "naive", .setup = setup_layernorm, .run = layernorm_naive},
  };
  return serve(argc, argv, b, 4);
}
