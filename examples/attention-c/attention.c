#include "attention.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The shape of a tile: queries that share the keys in cache, keys that are taken in at a time. Tune these. ROWS
   divides TILE_Q; TILE_K is one width of the registers below. */
#ifndef TILE_Q
#define TILE_Q 256
#endif
#define TILE_K 64
#define ROWS 4

#ifdef __AVX512F__
#define LANES 16
#define COLUMNS 4 /* ROWS x COLUMNS vectors are summed in registers */
#else
#define LANES 8
#define COLUMNS 2
#endif
typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
#define WIDTH (HEAD_DIM / LANES) /* vectors across: TILE_K and HEAD_DIM are the same */
_Static_assert(TILE_K == HEAD_DIM && TILE_Q % ROWS == 0, "one width of registers serves both products");

/* _Float16 would do all of this, on compilers that have it. */
static float from_half(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
  union { uint32_t u; float f; } x, scale = {.u = 0x77800000}; /* 2^112 */
  x.u = rest << 13;
  if (rest >= 0x7c00) x.u |= 0x7f800000; /* infinity, NaN */
  else x.f *= scale.f;                   /* makes denormals right, too */
  x.u |= sign;
  return x.f;
}

static uint16_t to_half(float f) {
  union { float f; uint32_t u; } x = {f}, y;
  const uint32_t sign = (x.u >> 16) & 0x8000, rest = x.u & 0x7fffffff;
  if (rest > 0x7f800000) return (uint16_t)(sign | 0x7e00);
  if (rest >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* rounds to infinity */
  if (rest < 0x38800000) {                                  /* denormal: the adder rounds to even */
    y.u = rest;
    y.f += 0.5f;
    return (uint16_t)(sign | (y.u - 0x3f000000));
  }
  return (uint16_t)(sign | ((rest + 0xc8000fff + ((rest >> 13) & 1)) >> 13));
}

/* e^x for x <= 0, to about 2 in the last place; below -87 it is 0. */
static vec exp_below_zero(vec x) {
  const vec low = (vec){} - 87.0f;
  const ivec keep = ~(x <= low); /* a NaN stays one */
  x = (vec)((ivec)x & keep);
  const vec magic = (vec){} + 12582912.0f; /* adding it rounds to a whole number */
  const vec n = (x * 1.44269504f + magic) - magic;
  const vec r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  vec p = (vec){} + 1.9875691e-4f;
  p = p * r + 1.3981999e-3f;
  p = p * r + 8.3334519e-3f;
  p = p * r + 4.1665795e-2f;
  p = p * r + 1.6666665e-1f;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  const ivec scale = (__builtin_convertvector(n, ivec) + 127) << 23;
  return (vec)((ivec)(p * (vec)scale) & keep);
}

/* c (+)= a b for ROWS rows of a, each of depth; rows of b and c are one width. */
static void product(int depth, const float *a, int a_row, const vec *b, vec *c, int add) {
  for (int from = 0; from < WIDTH; from += COLUMNS) {
    vec sum[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) sum[i][j] = add ? c[i * WIDTH + from + j] : (vec){};
    for (int d = 0; d < depth; d++)
      for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) sum[i][j] += a[i * a_row + d] * b[d * WIDTH + from + j];
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) c[i * WIDTH + from + j] = sum[i][j];
  }
}

/* What is known of a tile of queries after some of the keys. */
typedef struct tile {
  float q[TILE_Q * HEAD_DIM]; /* scaled */
  vec out[TILE_Q * WIDTH];    /* sum of e^(score - most) v */
  float most[TILE_Q], sum[TILE_Q];
} tile;

typedef struct keys {
  vec k[HEAD_DIM * WIDTH]; /* transposed: a row is one dimension of all keys */
  vec v[TILE_K * WIDTH];
  int count;
} keys;

static void load_keys(keys *t, const uint16_t *k, const uint16_t *v, int count) {
  float *kt = (float *)t->k, *vt = (float *)t->v;
  t->count = count;
  memset(t, 0, offsetof(keys, count));
  for (int j = 0; j < count; j++)
    for (int d = 0; d < HEAD_DIM; d++) {
      kt[d * TILE_K + j] = from_half(k[j * HEAD_DIM + d]);
      vt[j * HEAD_DIM + d] = from_half(v[j * HEAD_DIM + d]);
    }
}

/* Takes a tile of keys into a row: its largest score so far moves, and what was summed before is scaled to it. */
static void rescale(tile *t, int row, vec *score, int count) {
  float *s = (float *)score;
  for (int j = count; j < TILE_K; j++) s[j] = -INFINITY;
  float most = t->most[row];
  for (int j = 0; j < TILE_K; j++) most = s[j] > most ? s[j] : most;
  vec sum = {};
  for (int j = 0; j < WIDTH; j++) {
    score[j] = exp_below_zero(score[j] - most);
    sum += score[j];
  }
  const float shrink = expf(t->most[row] - most);
  t->most[row] = most;
  t->sum[row] *= shrink;
  for (int j = 0; j < LANES; j++) t->sum[row] += sum[j];
  for (int j = 0; j < WIDTH; j++) t->out[row * WIDTH + j] *= shrink;
}

static void take_in(tile *t, const keys *at, int rows) {
  vec score[ROWS * WIDTH];
  for (int i = 0; i < rows; i += ROWS) {
    product(HEAD_DIM, t->q + i * HEAD_DIM, HEAD_DIM, at->k, score, 0);
    for (int r = 0; r < ROWS; r++) rescale(t, i + r, score + r * WIDTH, at->count);
    product(at->count, (const float *)score, TILE_K, at->v, t->out + i * WIDTH, 1);
  }
}

static void begin(tile *t, const uint16_t *q, int rows, float scale) {
  memset(t, 0, sizeof *t);
  for (int i = 0; i < rows * HEAD_DIM; i++) t->q[i] = from_half(q[i]) * scale;
  for (int i = 0; i < TILE_Q; i++) t->most[i] = -INFINITY;
}

static void finish(const tile *t, uint16_t *out, int rows) {
  for (int i = 0; i < rows; i++)
    for (int d = 0; d < HEAD_DIM; d++) out[i * HEAD_DIM + d] = to_half(((const float *)t->out)[i * HEAD_DIM + d] / t->sum[i]);
}

static int least(int a, int b) { return a < b ? a : b; }

void attention_f16(const uint16_t *q, const uint16_t *k, const uint16_t *v, uint16_t *out, int B, int H, int S, float scale) {
  static _Thread_local tile t;
  static _Thread_local keys at;
  for (long head = 0; head < (long)B * H; head++) {
    const long from = head * S * HEAD_DIM;
    for (int i = 0; i < S; i += TILE_Q) {
      const int rows = least(TILE_Q, S - i);
      begin(&t, q + from + (long)i * HEAD_DIM, rows, scale);
      for (int j = 0; j < S; j += TILE_K) {
        const long row = from + (long)j * HEAD_DIM;
        load_keys(&at, k + row, v + row, least(TILE_K, S - j));
        take_in(&t, &at, rows);
      }
      finish(&t, out + from + (long)i * HEAD_DIM, rows);
    }
  }
}
