// Kernels whose cost on the virtual GPU is known: it compiles for that alone.
#include "pawl.h"

static __global__ void timed_kernel(double cycles) { vgpu_cycles(cycles); }

// Takes `cycles`.
struct Timed {
  double cycles;
  Timed(const pawl_params *p, pawl_rng *) : cycles(pawl_float(p, "cycles")) {}
  void run(pawl_launch *l) { timed_kernel<<<1, 1, 0, pawl_stream(l)>>>(cycles); }
};

static __global__ void read_kernel(const float *x, float *y, size_t n, int persists) {
  if (persists) vgpu_persist(x, n * sizeof *x);
  else vgpu_read(x, n * sizeof *x);
  vgpu_write(y, sizeof *y);
  y[0] = x[0];
}

// Reads 256 KiB. mode: lines (asks for lines that persist), window (has the stream keep them), or plain.
struct Reads {
  enum { N = 1 << 16 };
  float *x, *y;
  int persists;
  Reads(const pawl_params *p, pawl_rng *) {
    x = (float *)pawl_device_alloc(N * sizeof *x);
    y = (float *)pawl_device_alloc(sizeof *y);
    persists = strcmp(pawl_string(p, "mode"), "lines") == 0;
    pawl_input("x", x, "f32", N);
    pawl_output("y", y, "f32", 1);
    if (strcmp(pawl_string(p, "mode"), "window") != 0) return;
    cudaStreamAttrValue keep;
    memset(&keep, 0, sizeof keep);
    keep.accessPolicyWindow.base_ptr = x;
    keep.accessPolicyWindow.num_bytes = N * sizeof *x;
    keep.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    PAWL_CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, N * sizeof *x));
    PAWL_CHECK(cudaStreamSetAttribute(pawl_stream(NULL), cudaStreamAttributeAccessPolicyWindow, &keep));
  }
  void run(pawl_launch *l) { read_kernel<<<1, 1, 0, pawl_stream(l)>>>(x, y, N, persists); }
};

static __global__ void streaming_kernel(const float *x, float *y, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i == 0) vgpu_read(x, n), vgpu_bypass(y, 4 * n);
  if (i < n) y[i] = x[i / 4];
}

// Writes a megabyte around the cache, four times what it reads: its inputs stay there, if nothing else evicts them.
struct Streaming {
  enum { N = 1 << 18 };
  float *x, *y;
  Streaming(const pawl_params *, pawl_rng *) {
    x = (float *)pawl_device_alloc(N);
    y = (float *)pawl_device_alloc(4 * N);
    pawl_input("x", x, "f32", N / 4);
    pawl_output("y", y, "f32", N);
  }
  void run(pawl_launch *l) { streaming_kernel<<<N / 256, 256, 0, pawl_stream(l)>>>(x, y, N); }
};

static __global__ void update_kernel(float *x, size_t n) {
  vgpu_read(x, n * sizeof *x);
  vgpu_write(x, n * sizeof *x);
  vgpu_ns(1e6); /* a sample is then one run */
  x[0] += 1;
}

// Adds 1 to the first of a megabyte of numbers.
struct Updates {
  enum { N = 1 << 18 };
  float *x;
  Updates(const pawl_params *, pawl_rng *rng) {
    float *const host = (float *)pawl_alloc(N * sizeof *host);
    pawl_fill_float(rng, host, N);
    x = (float *)pawl_device_alloc(N * sizeof *x);
    PAWL_CHECK(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    pawl_inout("x", x, "f32", N);
  }
  void run(pawl_launch *l) { update_kernel<<<1, 1, 0, pawl_stream(l)>>>(x, N); }
};

static __global__ void crash_kernel() { vgpu_crash(); }

// Reads an illegal address.
struct Crash {
  Crash(const pawl_params *, pawl_rng *) {}
  void run(pawl_launch *l) { crash_kernel<<<1, 1, 0, pawl_stream(l)>>>(); }
};

// Ten kernels of 10,000 cycles in one graph.
struct Graph {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  Graph(const pawl_params *, pawl_rng *) {
    PAWL_CHECK(cudaStreamBeginCapture(pawl_stream(NULL), cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 10; i++) timed_kernel<<<1, 1, 0, pawl_stream(NULL)>>>(10000);
    PAWL_CHECK(cudaStreamEndCapture(pawl_stream(NULL), &graph));
    PAWL_CHECK(cudaGraphInstantiate(&exec, graph));
  }
  ~Graph() {
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
  void run(pawl_launch *l) { PAWL_CHECK(cudaGraphLaunch(exec, pawl_stream(l))); }
};

// More launches in a run than the queue holds.
struct Many {
  Many(const pawl_params *, pawl_rng *) {}
  void run(pawl_launch *l) {
    for (int i = 0; i < 2000; i++) timed_kernel<<<1, 1, 0, pawl_stream(l)>>>(1000);
  }
};

static __global__ void pawli_note_alike(double cycles) { vgpu_cycles(cycles); }

// A kernel of 5,000 cycles and another one. mode: twice, copy (from device to device), or alike (named as one of pawl's).
struct Several {
  float *x;
  char mode;
  Several(const pawl_params *p, pawl_rng *) : x((float *)pawl_device_alloc(2 * sizeof *x)), mode(*pawl_string(p, "mode")) {}
  void run(pawl_launch *l) {
    timed_kernel<<<1, 1, 0, pawl_stream(l)>>>(5000);
    if (mode == 't') timed_kernel<<<1, 1, 0, pawl_stream(l)>>>(5000);
    if (mode == 'a') pawli_note_alike<<<1, 1, 0, pawl_stream(l)>>>(5000);
    if (mode == 'c') PAWL_CHECK(cudaMemcpyAsync(x + 1, x, sizeof *x, cudaMemcpyDeviceToDevice, pawl_stream(l)));
  }
};

int main(int argc, char **argv) {
  pawl_benchmark b[] = {pawl_class<Timed>("timed"), pawl_class<Reads>("reads"), pawl_class<Streaming>("streaming"),
                        pawl_class<Updates>("updates"), pawl_class<Crash>("crash"), pawl_class<Graph>("graph"),
                        pawl_class<Many>("many"), pawl_class<Several>("several")};
  return pawl_main(argc, argv, b, 8);
}
