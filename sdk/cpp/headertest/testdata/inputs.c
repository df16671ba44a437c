/* Checks the random inputs from inside; prints nothing and exits 0 when they are right. */
#include "pawl.h"

#define CHECK(condition) \
  if (!(condition)) return fprintf(stderr, "line %d: %s\n", __LINE__, #condition), 1

static double half_to_double(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  double value = exponent ? 1024 + fraction : fraction;
  int shift = (exponent ? exponent : 1) - 25;
  for (; shift < 0; shift++) value /= 2;
  for (; shift > 0; shift--) value *= 2;
  return h >> 15 ? -value : value;
}

int main(void) {
  enum { N = 100000 };
  static float f[N], g[N];
  static uint16_t h[N];
  static int seen[4096];
  pawl_rng a = {42}, b = {42}, c = {43};
  double sum = 0, squares = 0, half_sum = 0;
  int i, equal = 0, values = 0;
  pawl_fill_float(&a, f, N);
  pawl_fill_float(&b, g, N);
  CHECK(memcmp(f, g, sizeof f) == 0); /* the same seed, the same inputs */
  pawl_fill_float(&c, g, N);
  for (i = 0; i < N; i++) equal += f[i] == g[i];
  CHECK(equal < 10);
  for (i = 0; i < N; i++) {
    CHECK(f[i] >= -1 && f[i] < 1);
    sum += f[i];
    squares += (double)f[i] * f[i];
  }
  CHECK(sum / N > -0.02 && sum / N < 0.02);
  CHECK(squares / N > 0.32 && squares / N < 0.35); /* 1/3 */
  pawl_fill_half(&a, h, N);
  for (i = 0; i < N; i++) {
    const double value = half_to_double(h[i]), k = value * 2048 + 2048;
    CHECK(value >= -1 && value < 1);
    CHECK(k == (double)(int)k); /* a multiple of 2^-11, as the bits say */
    if (!seen[(int)k]++) values++;
    half_sum += value;
  }
  CHECK(values == 4096); /* each of them occurs */
  CHECK(half_sum / N > -0.02 && half_sum / N < 0.02);
  for (i = 0; i < N; i++) {
    const double u = pawl_uniform(&a);
    CHECK(u >= -1 && u < 1);
  }
  return 0;
}
