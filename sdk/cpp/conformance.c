/* The harness that every SDK brings for sdk/conformance: its benchmarks are fixed, and described in the README there. */
#include "pawl.h"

#include <time.h>

typedef struct spin_state {
  double ns;
} spin_state;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *spin_setup(const pawl_params *p, pawl_rng *rng) {
  spin_state *s = (spin_state *)pawl_alloc(sizeof *s);
  (void)rng;
  s->ns = pawl_float(p, "us") * 1e3;
  return s;
}

static void spin(double ns) {
  const double until = now_ns() + ns;
  while (now_ns() < until) continue;
}

static void spin_run(void *state, pawl_launch *l) {
  (void)l;
  spin(((spin_state *)state)->ns);
}

static void spin_slow(void *state, pawl_launch *l) {
  (void)l;
  spin(2 * ((spin_state *)state)->ns);
}

static void *broken_setup(const pawl_params *p, pawl_rng *rng) {
  (void)rng;
  if (strcmp(pawl_string(p, "mode"), "setup") == 0) pawl_fail_as("no_memory", "no memory: asked to fail");
  return NULL;
}

static void broken_run(void *state, pawl_launch *l) {
  (void)state;
  (void)l;
  pawl_fail("asked to fail");
}

int main(int argc, char **argv) {
  pawl_benchmark b[3];
  memset(b, 0, sizeof b);
  b[0].name = "spin";
  b[0].setup = spin_setup;
  b[0].run = spin_run;
  b[0].configs = "us=50; us=200";
  b[0].flops = "us*1000";
  b[0].bytes = "us";
  b[1] = b[0];
  b[1].implementation = "slow";
  b[1].run = spin_slow;
  b[2].name = "broken";
  b[2].setup = broken_setup;
  b[2].run = broken_run;
  return pawl_main(argc, argv, b, 3);
}
