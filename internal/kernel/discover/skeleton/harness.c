/* A harness for pawl. So far it measures an empty placeholder.
   By hand: ./harness prints a table. With pawl: pawl bench. */
#include "pawl.h"

/* Makes the inputs of one config; both sides of a round get the same random numbers. */
static void *setup(const pawl_params *p, pawl_rng *rng) {
  const size_t n = (size_t)pawl_int(p, "N");
  float *x = pawl_alloc(n * sizeof *x); /* pawl.h frees it */
  pawl_fill_float(rng, x, n);
  return x;
}

/* One run. */
static void run(void *state, pawl_launch *l) {
  (void)state;
  (void)l;
  /* TODO: call your kernel here, and add its sources to build.command in pawl.yaml. */
}

int main(int argc, char **argv) {
  /* TODO: name the benchmark after your kernel, list the configs that matter, and say how much work one run
     is, as an expression: .flops = "2*N", .bytes = "4*N". */
  static const pawl_benchmark b[] = {{.name = "placeholder", .setup = setup, .run = run, .configs = "N=1024"}};
  return pawl_main(argc, argv, b, 1);
}
