// A device harness whose faults are known: each benchmark is one situation that pawl.h must handle.
#include "pawl.h"

static __global__ void wait_kernel(long long cycles) {
  const long long from = clock64();
  while (clock64() - from < cycles) continue;
}

// Waits on the device for `us` microseconds (at 2000 MHz, where tests lock the virtual GPU).
struct Busy {
  long long cycles;
  Busy(const pawl_params *p, pawl_rng *) : cycles((long long)(pawl_float(p, "us") * 2000)) {}
  void run(pawl_launch *l) { wait_kernel<<<1, 1, 0, pawl_stream(l)>>>(cycles); }
};

// Synchronises inside the run: it would wait for ever behind a kernel that waits for the host.
struct SelfSync : Busy {
  using Busy::Busy;
  void run(pawl_launch *l) {
    Busy::run(l);
    PAWL_CHECK(PAWLI_GPU(StreamSynchronize)(pawl_stream(l)));
  }
};

// A launch that the device refuses.
struct BadLaunch {
  BadLaunch(const pawl_params *, pawl_rng *) {}
  void run(pawl_launch *l) { wait_kernel<<<1, 4096, 0, pawl_stream(l)>>>(1); }
};

// Fails in the middle of a sample, while launches are held back.
struct Stumble : Busy {
  int runs = 0;
  using Busy::Busy;
  void run(pawl_launch *l) {
    Busy::run(l);
    if (++runs > 400) pawl_fail("stumbled");
  }
};

// Asks for more memory than there is.
struct Greedy {
  Greedy(const pawl_params *, pawl_rng *) {
    pawl_device_alloc(1 << 20);
    pawl_device_alloc((size_t)1 << 48);
  }
  void run(pawl_launch *) {}
};

static __global__ void double_kernel(int n, float *x, float *y, int behind, int spoils) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n + behind) y[i] = i < n ? 2 * x[i] : 1;
  if (i == 0 && spoils) x[0] = 7;
}

// y = 2 x in device memory. `behind` elements too many are written; `spoils` changes the input.
struct Double {
  int n, behind, spoils;
  float *x, *y;
  Double(const pawl_params *p, pawl_rng *rng) {
    n = (int)pawl_int(p, "N");
    behind = pawl_has(p, "behind") ? (int)pawl_int(p, "behind") : 0;
    spoils = pawl_has(p, "spoils");
    x = (float *)pawl_device_alloc(n * sizeof(float));
    y = (float *)pawl_device_alloc(n * sizeof(float));
    float *host = (float *)pawl_alloc(n * sizeof(float));
    pawl_fill_float(rng, host, (size_t)n);
    PAWL_CHECK(PAWLI_GPU(Memcpy)(x, host, n * sizeof(float), PAWLI_GPU(MemcpyHostToDevice)));
    pawl_input("x", x, "f32", n);
    pawl_output("y", y, "f32", n);
  }
  void run(pawl_launch *l) { double_kernel<<<n / 64 + 1, 64, 0, pawl_stream(l)>>>(n, x, y, behind, spoils); }
};

int main(int argc, char **argv) {
  pawl_benchmark b[] = {pawl_class<Busy>("busy"), pawl_class<SelfSync>("selfsync"), pawl_class<BadLaunch>("badlaunch"),
                        pawl_class<Stumble>("stumble"), pawl_class<Greedy>("greedy"), pawl_class<Double>("double")};
  b[0].configs = "us=100";
  return pawl_main(argc, argv, b, 6);
}
