/* Half precision for the virtual GPU: stored in 16 bits, computed in float. */
#ifndef PAWL_VIRTUAL_CUDA_FP16_H
#define PAWL_VIRTUAL_CUDA_FP16_H

#include <math.h>
#include <string.h>

struct __half {
  unsigned short bits;
};
typedef __half half;

static inline float __half2float(__half h) {
  const int exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
  const float sign = h.bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24));
}

/* Rounds to nearest, ties to even. */
static inline __half __float2half(float f) {
  unsigned bits;
  memcpy(&bits, &f, sizeof bits);
  const unsigned sign = bits >> 16 & 0x8000;
  const float size = fabsf(f);
  __half h;
  if (isnan(f)) return h.bits = 0x7e00, h;
  if (size >= 65520.0f) return h.bits = (unsigned short)(sign | 0x7c00), h;
  int exponent = 0;
  frexpf(size, &exponent); /* size is in [2^(exponent-1), 2^exponent) */
  const int step = exponent - 11 < -24 ? -24 : exponent - 11;
  const int units = (int)nearbyintf(ldexpf(size, -step));
  /* Adding the units carries into the exponent by itself when rounding reaches the next power of two. */
  h.bits = (unsigned short)(sign | (step == -24 ? (unsigned)units : (unsigned)(step + 24) * 1024u + (unsigned)units));
  return h;
}

#endif
