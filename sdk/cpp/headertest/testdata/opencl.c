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

static const char double_source[] =
    "kernel void twice(int n, global float *x, global float *y, int behind, int spoils) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n + behind) y[i] = i < n ? 2 * x[i] : 1;\n"
    "  if (i == 0 && spoils) x[0] = 7;\n"
    "}\n";

typedef struct doubling {
  cl_kernel kernel;
  size_t items;
} doubling;

static void *double_setup(const pawl_params *p, pawl_rng *rng) {
  doubling *s = (doubling *)pawl_alloc(sizeof *s);
  const cl_int n = (cl_int)pawl_int(p, "N"), behind = pawl_has(p, "behind") ? (cl_int)pawl_int(p, "behind") : 0;
  const cl_int spoils = pawl_has(p, "spoils");
  float *values = (float *)pawl_alloc((size_t)n * sizeof *values);
  pawl_fill_float(rng, values, (size_t)n);
  cl_mem x = pawl_buffer(CL_MEM_READ_WRITE, (size_t)n * sizeof *values, values);
  cl_mem y = pawl_buffer(CL_MEM_READ_WRITE, (size_t)n * sizeof *values, NULL);
  pawl_input("x", x, "f32", n);
  pawl_output("y", y, "f32", n);
  s->items = (size_t)n + 64;
  s->kernel = pawl_kernel(double_source, "", "twice");
  PAWL_CHECK(clSetKernelArg(s->kernel, 0, sizeof n, &n));
  PAWL_CHECK(clSetKernelArg(s->kernel, 1, sizeof x, &x));
  PAWL_CHECK(clSetKernelArg(s->kernel, 2, sizeof y, &y));
  PAWL_CHECK(clSetKernelArg(s->kernel, 3, sizeof behind, &behind));
  PAWL_CHECK(clSetKernelArg(s->kernel, 4, sizeof spoils, &spoils));
  return s;
}

static void double_run(void *with, pawl_launch *l) {
  const doubling *s = (const doubling *)with;
  PAWL_CHECK(clEnqueueNDRangeKernel(pawl_queue(l), s->kernel, 1, NULL, &s->items, NULL, 0, NULL, pawl_event(l)));
}

static void double_teardown(void *with) { clReleaseKernel(((doubling *)with)->kernel); }

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {
      {.name = "steps", .setup = setup, .run = run, .teardown = teardown, .configs = "n=1000"},
      {.name = "double", .setup = double_setup, .run = double_run, .teardown = double_teardown}};
  return pawl_main(argc, argv, b, 2);
}
