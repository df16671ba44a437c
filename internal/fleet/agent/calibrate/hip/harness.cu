/* The kernel of a calibration through HIP: y[i] = x[i] after 1024 times y = 0.999 * y + x. It must not change: its noise is
   compared with that of earlier calibrations. */
#include "pawl.h"

static __global__ void calibration(const float *x, float *y, int n) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float add = x[i];
  float sum = add;
  for (int k = 0; k < 1024; k++) sum = fmaf(sum, 0.999f, add);
  y[i] = sum;
}

struct Calibration {
  int n;
  float *x, *y;
  Calibration(const pawl_params *p, pawl_rng *rng) : n((int)pawl_int(p, "N")) {
    const size_t bytes = (size_t)n * sizeof(float);
    float *const host = (float *)pawl_alloc(bytes);
    pawl_fill_float(rng, host, (size_t)n);
    x = (float *)pawl_device_alloc(bytes);
    y = (float *)pawl_device_alloc(bytes);
    PAWL_CHECK(hipMemcpy(x, host, bytes, hipMemcpyHostToDevice));
    pawl_input("x", x, "f32", n);
    pawl_output("y", y, "f32", n);
  }
  void run(pawl_launch *l) { calibration<<<(n + 255) / 256, 256, 0, pawl_stream(l)>>>(x, y, n); }
};

int main(int argc, char **argv) {
  pawl_benchmark b = pawl_class<Calibration>("calibration");
  b.configs = "N=4194304";
  return pawl_main(argc, argv, &b, 1);
}
