/* The kernel of a calibration on a CPU. It must not change: its noise is compared with that of earlier calibrations. */
#include "pawl.h"

typedef struct vectors {
  int n;
  float *x, *y;
} vectors;

static void *setup(const pawl_params *p, pawl_rng *rng) {
  vectors *v = pawl_alloc(sizeof *v);
  v->n = (int)pawl_int(p, "N");
  v->x = pawl_alloc((size_t)v->n * sizeof(float));
  v->y = pawl_alloc((size_t)v->n * sizeof(float));
  pawl_fill_float(rng, v->x, (size_t)v->n);
  pawl_input("x", v->x, "f32", v->n);
  pawl_output("y", v->y, "f32", v->n);
  return v;
}

static void run(void *state, pawl_launch *l) {
  const vectors *v = state;
  (void)l;
  for (int i = 0; i < v->n; i++) {
    float sum = v->x[i];
    for (int k = 0; k < 16; k++) sum = sum * 0.999f + v->x[i];
    v->y[i] = sum;
  }
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "calibration", .setup = setup, .run = run, .configs = "N=16384"}};
  return pawl_main(argc, argv, b, 1);
}
