/* The first step of examples/reduce-opencl as a harness of its own, to compare what the launcher costs. */
#define PAWL_OPENCL
#include "pawl.h"

typedef struct state {
  cl_kernel kernel;
  cl_mem in, out;
} state;

static char text[1 << 16];

static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = pawl_alloc(sizeof *s);
  const cl_int count = (cl_int)pawl_int(p, "N");
  float *values = pawl_alloc((size_t)count * sizeof *values);
  FILE *file = fopen(getenv("REDUCE_CL"), "rb");
  cl_int error;
  if (!file || !fread(text, 1, sizeof text - 1, file)) pawl_fail("cannot read $REDUCE_CL");
  fclose(file);
  pawl_fill_float(rng, values, (size_t)count);
  s->in = clCreateBuffer(pawl_context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, (size_t)count * 4, values, &error);
  PAWL_CHECK(error);
  s->out = clCreateBuffer(pawl_context(), CL_MEM_READ_WRITE, 64 * 4, NULL, &error);
  PAWL_CHECK(error);
  s->kernel = pawl_kernel(text, "-DGROUP=128", "reduce");
  PAWL_CHECK(clSetKernelArg(s->kernel, 0, sizeof s->in, &s->in));
  PAWL_CHECK(clSetKernelArg(s->kernel, 1, sizeof count, &count));
  PAWL_CHECK(clSetKernelArg(s->kernel, 2, sizeof s->out, &s->out));
  return s;
}

static void run(void *with, pawl_launch *l) {
  const size_t group = 128, all = 64 * 128;
  PAWL_CHECK(clEnqueueNDRangeKernel(pawl_queue(l), ((state *)with)->kernel, 1, NULL, &all, &group, 0, NULL, pawl_event(l)));
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "reduce", .setup = setup, .run = run}};
  return pawl_main(argc, argv, b, 1);
}
