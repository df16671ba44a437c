/* What the kernels with seeded bugs share. The environment variable BUG chooses one; without it the kernel is correct. */
#ifndef BUGS_H
#define BUGS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pawl.h"

static inline int chosen_bug(void) {
  const char *text = getenv("BUG");
  return text ? atoi(text) : 0;
}

static int BUG; /* set by serve */

static inline int serve(int argc, char **argv, const pawl_benchmark *list, int count) {
  BUG = chosen_bug();
  return pawl_main(argc, argv, list, count);
}

typedef _Float16 half;

static inline int least(int a, int b) { return a < b ? a : b; }

static inline int size_of(const pawl_params *p, const char *name) {
  const int64_t n = pawl_int(p, name);
  if (n < 1 || n > 1 << 16) pawl_fail_as("bad_params", "%s: from 1 to %d", name, 1 << 16);
  return (int)n;
}

/* Contents do not matter: pawl fuzz brings its own. */
static inline void *memory(size_t bytes) {
  void *m = pawl_alloc(bytes);
  memset(m, 0, bytes);
  return m;
}

/* Bits of a float that a narrower type does not have. */
static inline float cut(float x, int bits) {
  uint32_t u;
  memcpy(&u, &x, 4);
  u &= ~((UINT32_C(1) << bits) - 1);
  memcpy(&x, &u, 4);
  return x;
}

static inline float round_to(float x, int bits) {
  uint32_t u;
  memcpy(&u, &x, 4);
  if (isfinite(x)) u += (UINT32_C(1) << (bits - 1)) - 1 + ((u >> bits) & 1);
  memcpy(&x, &u, 4);
  return cut(x, bits);
}

static inline float from_bf16(uint16_t b) {
  const uint32_t u = (uint32_t)b << 16;
  float x;
  memcpy(&x, &u, 4);
  return x;
}

static inline uint16_t bf16_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return (uint16_t)(u >> 16);
}

#endif
