/* A harness for pawl. So far it measures the launch of an empty placeholder.
   By hand: ./harness prints a table. With pawl: pawl bench. */
#define PAWL_OPENCL
#include "pawl.h"

/* TODO: your kernel. To read it from a file, name the file in harness.files of pawl.yaml. */
static const char source[] = "kernel void placeholder(global float *x) {}";

typedef struct state {
  cl_kernel kernel;
  cl_mem x;
  size_t n;
} state;

/* Makes the inputs of one config; both sides of a round get the same random numbers. */
static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = pawl_alloc(sizeof *s); /* pawl.h frees it */
  cl_int error;
  s->n = (size_t)pawl_int(p, "N");
  float *host = pawl_alloc(s->n * sizeof *host);
  pawl_fill_float(rng, host, s->n);
  s->kernel = pawl_kernel(source, "", "placeholder");
  s->x = clCreateBuffer(pawl_context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, s->n * sizeof *host, host, &error);
  PAWL_CHECK(error);
  PAWL_CHECK(clSetKernelArg(s->kernel, 0, sizeof s->x, &s->x));
  return s;
}

/* One run. Every launch gets pawl's queue and one of its events. */
static void run(void *with, pawl_launch *l) {
  const state *s = with;
  PAWL_CHECK(clEnqueueNDRangeKernel(pawl_queue(l), s->kernel, 1, NULL, &s->n, NULL, 0, NULL, pawl_event(l)));
}

static void teardown(void *with) {
  state *s = with;
  clReleaseMemObject(s->x);
  clReleaseKernel(s->kernel);
}

int main(int argc, char **argv) {
  /* TODO: name the benchmark after your kernel, list the configs that matter, and say how much work one run
     is, as an expression: .flops = "2*N", .bytes = "4*N". */
  static const pawl_benchmark b[] = {
      {.name = "placeholder", .setup = setup, .run = run, .teardown = teardown, .configs = "N=1024"}};
  return pawl_main(argc, argv, b, 1);
}
