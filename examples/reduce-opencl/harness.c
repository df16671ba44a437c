#define PAWL_OPENCL
#include "pawl.h"

#ifndef GROUP
#define GROUP 128
#endif

typedef struct state {
  int group, groups, vector; /* threads of a work-group, work-groups of the first step, floats that are read at once */
  cl_kernel first, second;
  cl_mem out;
} state;

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) pawl_fail("cannot open %s in the working folder", path);
  char *text = pawl_alloc(1 << 16);
  const size_t length = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  text[length] = 0;
  return text;
}

/* The suite says which to try out; run by hand, none is given. */
static int tunable(const pawl_params *p, const char *name, int otherwise) {
  return pawl_has(p, name) ? (int)pawl_int(p, name) : otherwise;
}

static cl_kernel step(const state *s, const char *source, cl_mem in, cl_int count, cl_mem out) {
  char options[64];
  snprintf(options, sizeof options, "-DGROUP=%d -DVECTOR=%d", s->group, s->vector);
  cl_kernel k = pawl_kernel(source, options, "reduce");
  PAWL_CHECK(clSetKernelArg(k, 0, sizeof in, &in));
  PAWL_CHECK(clSetKernelArg(k, 1, sizeof count, &count));
  PAWL_CHECK(clSetKernelArg(k, 2, sizeof out, &out));
  return k;
}

static void reduce(const state *s, cl_command_queue queue, pawl_launch *l) {
  const size_t group = (size_t)s->group, all = (size_t)s->groups * group;
  PAWL_CHECK(clEnqueueNDRangeKernel(queue, s->first, 1, NULL, &all, &group, 0, NULL, l ? pawl_event(l) : NULL));
  PAWL_CHECK(clEnqueueNDRangeKernel(queue, s->second, 1, NULL, &group, &group, 0, NULL, l ? pawl_event(l) : NULL));
}

/* A wrong kernel is not worth measuring: the case is then broken. */
static void check(const state *s, const float *values, int count) {
  float got = 0;
  double want = 0, size = 0;
  for (int i = 0; i < count; i++) {
    want += values[i];
    size += values[i] < 0 ? -values[i] : values[i];
  }
  reduce(s, pawl_queue(NULL), NULL);
  PAWL_CHECK(clEnqueueReadBuffer(pawl_queue(NULL), s->out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
  if (!(got - want <= size * 1e-6 && want - got <= size * 1e-6)) pawl_fail("wrong sum: got %.9g, want %.9g", got, want);
}

static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = pawl_alloc(sizeof *s);
  const cl_int count = (cl_int)pawl_int(p, "N");
  float *values = pawl_alloc((size_t)count * sizeof *values);
  const char *source = read_file("reduce.cl");
  s->group = tunable(p, "GROUP", GROUP);
  s->groups = tunable(p, "GROUPS", 64);
  s->vector = tunable(p, "VECTOR", 1);
  pawl_fill_float(rng, values, (size_t)count);
  cl_mem x = pawl_buffer(CL_MEM_READ_ONLY, (size_t)count * sizeof *values, values);
  cl_mem partial = pawl_buffer(CL_MEM_READ_WRITE, (size_t)s->groups * sizeof *values, NULL);
  s->out = pawl_buffer(CL_MEM_READ_WRITE, sizeof *values, NULL);
  s->first = step(s, source, x, count, partial);
  s->second = step(s, source, partial, s->groups, s->out);
  check(s, values, count);
  pawl_input("x", x, "f32", count);
  pawl_output("total", s->out, "f32", 1);
  return s;
}

static void run(void *with, pawl_launch *l) { reduce(with, pawl_queue(l), l); }

static void teardown(void *with) {
  state *s = with;
  clReleaseKernel(s->first);
  clReleaseKernel(s->second);
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "reduce", .setup = setup, .run = run, .teardown = teardown,
                                      .configs = "N=65536; N=1048576", .flops = "N", .bytes = "4*N"}};
  return pawl_main(argc, argv, b, 1);
}
