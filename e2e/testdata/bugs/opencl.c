/* A sum on an OpenCL device, in two steps through local memory. */
#define PAWL_OPENCL
#include "bugs.h"

enum { GROUP = 32, GROUPS = 4 };

typedef struct problem {
  cl_kernel first, second;
  cl_mem x, partial, y;
} problem;

static const char source[] =
    "kernel void total(global const float *x, int n, global float *y) {\n"
    "  local float sums[32];\n"
    "  const int me = get_local_id(0);\n"
    "  float mine = 0;\n"
    "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += x[i];\n"
    "#if BUG == 28\n"
    "  if (n % 32) mine = me < n % 32 ? mine : 0;\n" /* the mask of the tail, applied to all */
    "#endif\n"
    "  sums[me] = mine;\n"
    "  for (int reach = BUG == 29 ? 8 : 16; reach > 0; reach /= 2) {\n" /* half of the group is left out */
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (me < reach) sums[me] += sums[me + reach];\n"
    "  }\n"
    "  if (me == 0) y[get_group_id(0)] = sums[0];\n"
    "}\n";

static cl_kernel step(cl_mem from, cl_int n, cl_mem to) {
  char option[32];
  snprintf(option, sizeof option, "-DBUG=%d", BUG);
  cl_kernel k = pawl_kernel(source, option, "total");
  PAWL_CHECK(clSetKernelArg(k, 0, sizeof from, &from));
  PAWL_CHECK(clSetKernelArg(k, 1, sizeof n, &n));
  PAWL_CHECK(clSetKernelArg(k, 2, sizeof to, &to));
  return k;
}

static void *setup(const pawl_params *at, pawl_rng *rng) {
  problem *p = pawl_alloc(sizeof *p);
  const int n = size_of(at, "N");
  (void)rng;
  p->x = pawl_buffer(CL_MEM_READ_ONLY, sizeof(float) * (size_t)n, NULL);
  p->partial = pawl_buffer(CL_MEM_READ_WRITE, sizeof(float) * GROUPS, NULL);
  p->y = pawl_buffer(CL_MEM_READ_WRITE, sizeof(float), NULL);
  p->first = step(p->x, n, p->partial);
  p->second = step(p->partial, GROUPS, p->y);
  pawl_input("x", p->x, "f32", n);
  pawl_output("y", p->y, "f32", 1);
  return p;
}

static void run(void *state, pawl_launch *l) {
  const problem *p = state;
  const size_t group = GROUP, all = (size_t)GROUP * GROUPS;
  PAWL_CHECK(clEnqueueNDRangeKernel(pawl_queue(l), p->first, 1, NULL, &all, &group, 0, NULL, pawl_event(l)));
  PAWL_CHECK(clEnqueueNDRangeKernel(pawl_queue(l), p->second, 1, NULL, &group, &group, 0, NULL, pawl_event(l)));
}

static void teardown(void *state) {
  problem *p = state;
  clReleaseKernel(p->first);
  clReleaseKernel(p->second);
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "total", .setup = setup, .run = run, .teardown = teardown, .configs = "N=1000"}};
  return serve(argc, argv, b, 1);
}
