/* Attention in FP16 with an online softmax: [B, H, S, D]. */
#include "bugs.h"

enum { TILE_Q = 8, TILE_K = 16, MOST_D = 128 };

typedef struct problem {
  int B, H, S, D;
  half *q, *k, *v, *out;
} problem;

static float scale_of(int d) { return 1.0f / (BUG == 3 ? (float)d : sqrtf((float)d)); }

static float dot(const half *a, const half *b, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += (float)a[i] * (float)b[i];
  return sum;
}

/* One row of queries against all keys, a tile of them at a time. */
static void row(const problem *p, const half *q, const half *k, const half *v, half *out) {
  float acc[MOST_D] = {0};
  float most = BUG == 6 ? 0 : -INFINITY, sum = 0;
  const int tiles = BUG == 5 ? p->S / TILE_K : (p->S + TILE_K - 1) / TILE_K;
  for (int t = 0; t < tiles; t++) {
    const int from = t * TILE_K, there = least(TILE_K, p->S - from);
    const int count = BUG == 1 && there == TILE_K ? TILE_K - 1 : there;
    float s[TILE_K], m = most;
    for (int j = 0; j < TILE_K; j++) {
      s[j] = j < count ? dot(q, k + (from + j) * p->D, p->D) * scale_of(p->D) : BUG == 2 && j >= there ? 0 : -INFINITY;
      if (s[j] > m && BUG != 6) m = s[j];
    }
    const float shrink = BUG == 6 ? 1 : expf(most - m);
    sum *= shrink;
    for (int d = 0; d < p->D && BUG != 4; d++) acc[d] *= shrink;
    most = m;
    for (int j = 0; j < TILE_K; j++) {
      const float w = BUG == 6 ? (float)(half)expf(s[j]) : expf(s[j] - m);
      sum += w;
      for (int d = 0; d < p->D && j < count; d++) {
        acc[d] += w * (float)v[(from + j) * p->D + d];
        if (BUG == 8) acc[d] = (float)(half)acc[d];
      }
    }
  }
  for (int d = 0; d < p->D; d++) out[d] = (half)(acc[d] / sum);
}

static void attention(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  const int head_size = p->S * p->D;
  for (int b = 0; b < p->B; b++)
    for (int h = 0; h < p->H; h++) {
      const int at = (b * p->H + h) * head_size, to = BUG == 7 ? (h * p->B + b) * head_size : at;
      for (int i = 0; i < p->S; i += TILE_Q) {
        if (BUG == 9 && p->S - i < TILE_Q) break;
        for (int r = i; r < least(i + TILE_Q, p->S); r++)
          row(p, p->q + at + r * p->D, p->k + at, p->v + at, p->out + to + r * p->D);
      }
    }
}

/* By the definition, in double precision. */
static void naive(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int head = 0; head < p->B * p->H; head++)
    for (int i = 0; i < p->S; i++) {
      const half *q = p->q + (head * p->S + i) * p->D, *k = p->k + head * p->S * p->D, *v = p->v + head * p->S * p->D;
      double acc[MOST_D] = {0}, sum = 0, most = -INFINITY;
      for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < p->S; j++) {
          double s = 0;
          for (int d = 0; d < p->D; d++) s += (double)q[d] * (double)k[j * p->D + d];
          s /= sqrt(p->D);
          if (pass == 0 && s > most) most = s;
          if (pass == 0) continue;
          const double w = exp(s - most);
          sum += w;
          for (int d = 0; d < p->D; d++) acc[d] += w * (double)v[j * p->D + d];
        }
      for (int d = 0; d < p->D; d++) p->out[(head * p->S + i) * p->D + d] = (half)(acc[d] / sum);
    }
}

static void *setup(const pawl_params *at, pawl_rng *rng) {
  problem *p = pawl_alloc(sizeof *p);
  (void)rng;
  *p = (problem){size_of(at, "B"), size_of(at, "H"), size_of(at, "S"), size_of(at, "D"), NULL, NULL, NULL, NULL};
  if (p->D > MOST_D) pawl_fail_as("bad_params", "D: at most %d", MOST_D);
  const size_t bytes = sizeof(half) * (size_t)p->B * (size_t)p->H * (size_t)p->S * (size_t)p->D;
  p->q = memory(bytes);
  p->k = memory(bytes);
  p->v = memory(bytes);
  p->out = memory(bytes);
  pawl_input("q", p->q, "f16", p->B, p->H, p->S, p->D);
  pawl_input("k", p->k, "f16", p->B, p->H, p->S, p->D);
  pawl_input("v", p->v, "f16", p->B, p->H, p->S, p->D);
  pawl_output("out", p->out, "f16", p->B, p->H, p->S, p->D);
  return p;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {
      {.name = "attention", .setup = setup, .run = attention, .configs = "B=2,H=3,S=48,D=32"},
      {.name = "attention", .implementation = "naive", .setup = setup, .run = naive},
  };
  return serve(argc, argv, b, 2);
}
