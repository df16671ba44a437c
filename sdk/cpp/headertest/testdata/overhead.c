/* What pawl.h adds to a sample: the SDK's own sampling and a bare timing loop, in turns, in one process.
   Each line of the output is one block: the median of a bare loop and of the SDK, for one clock, in nanoseconds.
   EXTRA_NS makes the SDK's side that much slower, to show that the comparison can see it. */
#include "pawl.h"

#ifndef EXTRA_NS
#define EXTRA_NS 0
#endif
enum { BLOCK = 15, MOST = 4000 };

static volatile uint64_t sink;

static void kernel(void) { /* about 100 us of dependent work */
  uint64_t x = sink;
  int i;
  for (i = 0; i < 50000; i++) x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  sink = x;
}

static void run(void *state, pawl_launch *l) {
  (void)state;
  (void)l;
  kernel();
  if (EXTRA_NS) {
    const double until = pawli_clock(CLOCK_MONOTONIC) + EXTRA_NS;
    while (pawli_clock(CLOCK_MONOTONIC) < until) continue;
  }
}

static double bare_block(clockid_t clock) {
  double t[BLOCK];
  int i;
  for (i = 0; i < BLOCK; i++) {
    struct timespec a, b;
    clock_gettime(clock, &a);
    kernel();
    clock_gettime(clock, &b);
    t[i] = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
  }
  qsort(t, BLOCK, sizeof *t, pawli_order);
  return t[BLOCK / 2];
}

static double sdk_block(pawli_timer timer) {
  double t[BLOCK];
  pawli_reading r = {{0, 0, 0}, 0};
  int i;
  for (i = 0; i < BLOCK; i++) {
    pawli_take(1, &r);
    t[i] = r.by[timer];
  }
  qsort(t, BLOCK, sizeof *t, pawli_order);
  return t[BLOCK / 2];
}

int main(int argc, char **argv) {
  static const pawl_benchmark b = {"overhead", NULL, NULL, run, NULL, NULL, NULL, NULL};
  const double until = pawli_clock(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1) * 1e9;
  int i;
  pawli.benchmarks = &b;
  pawli.count = 1;
  pawli_prepare("{\"benchmark\":\"overhead\"}");
  pawli_choose_batch();
  for (i = 0; i < MOST && pawli_clock(CLOCK_MONOTONIC) < until; i++) {
    const int cpu = i & 1, sdk_first = i >> 1 & 1; /* both clocks, both orders */
    const clockid_t clock = cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    const pawli_timer timer = cpu ? PAWLI_TIMER_CPU : PAWLI_TIMER_WALL;
    double sdk = sdk_first ? sdk_block(timer) : 0, bare = bare_block(clock);
    if (!sdk_first) sdk = sdk_block(timer);
    printf("%s %.0f %.0f\n", cpu ? "cpu" : "wall", bare, sdk);
  }
  return 0;
}
