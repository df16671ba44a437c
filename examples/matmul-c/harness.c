#include "pawl.h"

#include "matmul.h"

#ifdef PLAIN /* make plain: the definition in double precision, which says what is right and is not measured */
#define IMPLEMENTATION "plain"
void matmul(int n, const float *a, const float *b, float *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += (double)a[i * n + k] * b[k * n + j];
      c[i * n + j] = (float)sum;
    }
}
#else
#define IMPLEMENTATION "candidate"
#endif

typedef struct matrices {
  int n;
  float *a, *b, *c;
} matrices;

static void *setup(const pawl_params *p, pawl_rng *rng) {
  matrices *m = pawl_alloc(sizeof *m);
  m->n = (int)pawl_int(p, "N");
  const size_t count = (size_t)m->n * (size_t)m->n;
  m->a = pawl_alloc(count * sizeof(float));
  m->b = pawl_alloc(count * sizeof(float));
  m->c = pawl_alloc(count * sizeof(float));
  pawl_fill_float(rng, m->a, count);
  pawl_fill_float(rng, m->b, count);
  pawl_input("a", m->a, "f32", m->n, m->n);
  pawl_input("b", m->b, "f32", m->n, m->n);
  pawl_output("c", m->c, "f32", m->n, m->n);
  return m;
}

static void run(void *state, pawl_launch *l) {
  const matrices *m = state;
  (void)l;
  matmul(m->n, m->a, m->b, m->c);
}

/* ./harness --check: every size around the edges of a block, against the definition in double precision. */
static int check(void) {
  static float a[150 * 150], b[150 * 150], c[150 * 150];
  double worst = 0;
  int wrong = 0;
  for (int n = 1; n <= 150; n += n < 70 ? 1 : 7) {
    pawl_rng rng = {(uint64_t)n};
    pawl_fill_float(&rng, a, (size_t)n * n);
    pawl_fill_float(&rng, b, (size_t)n * n);
    matmul(n, a, b, c);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double want = 0;
        for (int k = 0; k < n; k++) want += (double)a[i * n + k] * b[k * n + j];
        const double error = want > c[i * n + j] ? want - c[i * n + j] : c[i * n + j] - want;
        if (error > worst) worst = error;
        wrong += !(error < 1e-4); /* a NaN is wrong too */
      }
  }
  printf("%d wrong, largest error %.2g\n", wrong, worst);
  return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "matmul", .implementation = IMPLEMENTATION, .setup = setup, .run = run,
                                      .configs = "N=256; N=512", .flops = "2*N*N*N", .bytes = "3*4*N*N"}};
  if (argc == 2 && strcmp(argv[1], "--check") == 0) return check();
  return pawl_main(argc, argv, b, 1);
}
