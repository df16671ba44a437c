/* An OpenCL harness: a kernel that works `n` steps, and the ways to get it wrong. */
#define PAWL_OPENCL
#include "pawl.h"

static const char source[] =
    "kernel void steps(int n, global float *out) {\n"
    "  float x = get_global_id(0);\n"
    "  for (int i = 0; i < n; i++) x = x * 0.5f + 1.0f;\n"
    "  out[get_global_id(0)] = x;\n"
    "}\n";

typedef struct state {
  cl_kernel kernel;
  cl_mem out;
  int launches, use_event;
} state;

static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = (state *)pawl_alloc(sizeof *s);
  const cl_int n = (cl_int)pawl_int(p, "n");
  cl_int error;
  (void)rng;
  s->launches = pawl_has(p, "launches") ? (int)pawl_int(p, "launches") : 1;
  s->use_event = !pawl_has(p, "no_event");
  s->kernel = pawl_kernel(pawl_has(p, "broken") ? "kernel void steps(" : source, "", "steps");
  s->out = clCreateBuffer(pawl_context(), CL_MEM_READ_WRITE, 64 * sizeof(cl_float), NULL, &error);
  PAWL_CHECK(error);
  PAWL_CHECK(clSetKernelArg(s->kernel, 0, sizeof n, &n));
  PAWL_CHECK(clSetKernelArg(s->kernel, 1, sizeof s->out, &s->out));
  return s;
}

static void run(void *with, pawl_launch *l) {
  const state *s = (const state *)with;
  const size_t items = 64;
  int i;
  for (i = 0; i < s->launches; i++)
    PAWL_CHECK(clEnqueueNDRangeKernel(pawl_queue(l), s->kernel, 1, NULL, &items, NULL, 0, NULL, s->use_event ? pawl_event(l) : NULL));
}

static void teardown(void *with) {
  state *s = (state *)with;
  clReleaseMemObject(s->out);
  clReleaseKernel(s->kernel);
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "steps", .setup = setup, .run = run, .teardown = teardown, .configs = "n=1000"}};
  return pawl_main(argc, argv, b, 1);
}
