#include "pawl.h"

#include <math.h>

#include "softmax.h"

typedef struct table {
  int n, m;
  float *x, *y;
} table;

static void *setup(const pawl_params *p, pawl_rng *rng) {
  table *t = pawl_alloc(sizeof *t);
  t->n = (int)pawl_int(p, "N");
  t->m = (int)pawl_int(p, "M");
  const size_t count = (size_t)t->n * (size_t)t->m;
  t->x = pawl_alloc(count * sizeof(float));
  t->y = pawl_alloc(count * sizeof(float));
  pawl_fill_float(rng, t->x, count);
  return t;
}

static void run(void *state, pawl_launch *l) {
  const table *t = state;
  (void)l;
  softmax(t->n, t->m, t->x, t->y);
}

/* harness --check: sizes around ROWS, against the definition in double precision. */
static int check(void) {
  static float x[19 * 67], y[19 * 67];
  int wrong = 0;
  for (int n = 1; n <= 19; n++) {
    pawl_rng rng = {(uint64_t)n};
    pawl_fill_float(&rng, x, (size_t)n * 67);
    softmax(n, 67, x, y);
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < 67; j++) sum += exp(x[i * 67 + j]);
      for (int j = 0; j < 67; j++) wrong += !(fabs(exp(x[i * 67 + j]) / sum - y[i * 67 + j]) < 1e-5);
    }
  }
  printf("%d wrong\n", wrong);
  return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "softmax", .setup = setup, .run = run, .configs = "N=1024, M=512", .bytes = "2*4*N*M"}};
  if (argc == 2 && strcmp(argv[1], "--check") == 0) return check();
  return pawl_main(argc, argv, b, 1);
}
