/* Times kernels of a shared object: timer FILE KERNEL... prints the name and the best time of each, in ns. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef void (*kernel)(const float *, float *, int);

enum { N = 512, RUNS = 1000 };
static float in[N] __attribute__((aligned(64))), out[N] __attribute__((aligned(64)));

static double once(kernel k) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  k(in, out, N);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
}

int main(int count, char **argument) {
  int i, run;
  if (count < 2) return 2;
  void *const file = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
  if (!file) return 3;
  for (i = 0; i < N; i++) in[i] = (float)(i % 17) / 4;
  for (i = 2; i < count; i++) {
    const kernel k = (kernel)dlsym(file, argument[i]);
    double best = 1e18;
    if (!k) return 4;
    for (run = 0; run < RUNS; run++) {
      const double x = once(k);
      if (x < best) best = x;
    }
    printf("%s %f\n", argument[i], best);
  }
  return 0;
}
