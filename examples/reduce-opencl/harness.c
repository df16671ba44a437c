#define PAWL_OPENCL
#include "pawl.h"

#ifndef GROUP
#define GROUP 128
#endif
enum { GROUPS = 64 }; /* of the first step */
#define TEXT(x) #x
#define OPTION(name, value) "-D" #name "=" TEXT(value)

typedef struct state {
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

static cl_kernel step(const char *source, cl_mem in, cl_int count, cl_mem out) {
  cl_kernel k = pawl_kernel(source, OPTION(GROUP, GROUP), "reduce");
  PAWL_CHECK(clSetKernelArg(k, 0, sizeof in, &in));
  PAWL_CHECK(clSetKernelArg(k, 1, sizeof count, &count));
  PAWL_CHECK(clSetKernelArg(k, 2, sizeof out, &out));
  return k;
}

static void reduce(const state *s, cl_command_queue queue, pawl_launch *l) {
  const size_t group = GROUP, all = (size_t)GROUPS * GROUP;
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
  pawl_fill_float(rng, values, (size_t)count);
  cl_mem x = pawl_buffer(CL_MEM_READ_ONLY, (size_t)count * sizeof *values, values);
  cl_mem partial = pawl_buffer(CL_MEM_READ_WRITE, GROUPS * sizeof *values, NULL);
  s->out = pawl_buffer(CL_MEM_READ_WRITE, sizeof *values, NULL);
  s->first = step(source, x, count, partial);
  s->second = step(source, partial, GROUPS, s->out);
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
