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

typedef struct table { /* two rows, with a gap between them */
  int n, gap, spoils_input, leaves_last;
  float *x, *y;
} table;

static void *double_setup(const pawl_params *p, pawl_rng *rng) {
  table *t = (table *)pawl_alloc(sizeof *t);
  const char *mode = pawl_has(p, "mode") ? pawl_string(p, "mode") : "";
  t->n = (int)pawl_int(p, "N");
  t->gap = pawl_has(p, "gap") ? (int)pawl_int(p, "gap") : 0;
  t->spoils_input = strcmp(mode, "spoils_input") == 0;
  t->leaves_last = strcmp(mode, "leaves_last") == 0;
  const size_t length = (size_t)(2 * t->n + t->gap);
  t->x = (float *)pawl_alloc(length * sizeof(float));
  t->y = (float *)pawl_alloc(length * sizeof(float));
  pawl_fill_float(rng, t->x, length);
  pawl_input("x", t->x, "f32", 2, t->n);
  pawl_output("y", t->y, "f32", 2, t->n);
  if (t->gap) pawl_strides("x", t->n + t->gap, 1);
  if (t->gap) pawl_strides("y", t->n + t->gap, 1);
  return t;
}

static void double_run(void *state, pawl_launch *l) {
  const table *t = (const table *)state;
  int row, i;
  (void)l;
  for (row = 0; row < 2; row++)
    for (i = 0; i < t->n; i++) {
      const int at = row * (t->n + t->gap) + i;
      if (row == 0 || i < t->n - 1 || !t->leaves_last) t->y[at] = 2 * t->x[at];
    }
  if (t->spoils_input) t->x[0] += 1;
}

static void *count_setup(const pawl_params *p, pawl_rng *rng) {
  table *t = (table *)pawl_alloc(sizeof *t);
  (void)rng;
  t->n = (int)pawl_int(p, "N");
  int32_t *sum = (int32_t *)pawl_alloc((size_t)t->n * sizeof *sum);
  memset(sum, 0, (size_t)t->n * sizeof *sum);
  t->x = (float *)(void *)sum;
  pawl_inout("sum", sum, "i32", t->n);
  return t;
}

static void count_run(void *state, pawl_launch *l) {
  const table *t = (const table *)state;
  int32_t *sum = (int32_t *)(void *)t->x;
  int i;
  (void)l;
  for (i = 0; i < t->n; i++) sum[i]++;
}

static void *report_setup(const pawl_params *p, pawl_rng *rng) {
  (void)rng;
  pawl_report("bytes", 4096, "B", pawl_has(p, "better") ? pawl_string(p, "better") : "lower");
  return NULL;
}

static void report_run(void *state, pawl_launch *l) {
  (void)state;
  (void)l;
  pawl_report("rate", -812.25, "tok/s", "higher");
}

int main(int argc, char **argv) {
  pawl_benchmark b[6];
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
  b[3].name = "double";
  b[3].setup = double_setup;
  b[3].run = double_run;
  b[4].name = "count";
  b[4].setup = count_setup;
  b[4].run = count_run;
  b[5].name = "report";
  b[5].setup = report_setup;
  b[5].run = report_run;
  return pawl_main(argc, argv, b, 6);
}
