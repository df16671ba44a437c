#include "pawl.h"

#include <vector>

#include "attention.cuh"

// The tensors of one config, on the device. D is 64: the kernels are templates, other sizes need an entry here.
struct Attention {
  int B, H, heads, S;
  half *q, *k, *v, *out;

  Attention(const pawl_params *p, pawl_rng *rng) {
    B = (int)pawl_int(p, "B");
    H = (int)pawl_int(p, "H");
    heads = B * H;
    S = (int)pawl_int(p, "S");
    if (pawl_int(p, "D") != 64) pawl_fail_as("unsupported", "this kernel is compiled for D=64 only");
    if (B < 1 || H < 1 || S < 1 || (long long)B * H > 65535) pawl_fail_as("bad_params", "B*H must be within 1 and 65535, S at least 1");
    q = random("q", rng);
    k = random("k", rng);
    v = random("v", rng);
    out = (half *)pawl_device_alloc(bytes());
    pawl_output("out", out, "f16", B, H, S, 64);
  }

  size_t count() const { return (size_t)heads * S * 64; }
  size_t bytes() const { return count() * sizeof(half); }

  half *random(const char *name, pawl_rng *rng) {
    std::vector<half> host(count());
    half *device = (half *)pawl_device_alloc(bytes());
    pawl_fill_half(rng, host.data(), count());
    PAWL_CHECK(cudaMemcpy(device, host.data(), bytes(), cudaMemcpyHostToDevice));
    pawl_input(name, device, "f16", B, H, S, 64);
    return device;
  }

  dim3 grid() const { return dim3((S + ROWS - 1) / ROWS, heads); }
  void run(pawl_launch *l) { attention<64><<<grid(), ROWS, 0, pawl_stream(l)>>>(q, k, v, out, S); }
};

struct Naive : Attention {
  using Attention::Attention;
  void run(pawl_launch *l) { naive_attention<64><<<grid(), ROWS, 0, pawl_stream(l)>>>(q, k, v, out, S); }
};

// out = softmax(q k^T / 8) v for one query, by the definition, in double precision.
static std::vector<double> defined(const half *q, const half *k, const half *v, int S) {
  std::vector<double> sum(64);
  double weight = 0;
  for (int j = 0; j < S; j++) {
    double dot = 0;
    for (int d = 0; d < 64; d++) dot += (double)__half2float(q[d]) * __half2float(k[j * 64 + d]);
    const double p = exp(dot / 8); // scores of the inputs below are too small to overflow
    weight += p;
    for (int d = 0; d < 64; d++) sum[d] += p * __half2float(v[j * 64 + d]);
  }
  for (double &x : sum) x /= weight;
  return sum;
}

// ./harness --check: both kernels against the definition, at sizes around the edges of a tile.
static int check() {
  double worst = 0;
  int wrong = 0;
  for (int S : {1, 15, 16, 17, 64, 65, 127, 128, 129, 200}) {
    const int heads = 2, D = 64;
    const size_t count = (size_t)heads * S * D;
    std::vector<half> q(count), k(count), v(count), got(count);
    pawl_rng rng = {(uint64_t)S};
    pawl_fill_half(&rng, q.data(), count);
    pawl_fill_half(&rng, k.data(), count);
    pawl_fill_half(&rng, v.data(), count);
    for (half &x : q) x = __float2half(8 * __half2float(x)); // so that scores differ, and the largest moves
    half *on_device[4];
    for (half *&p : on_device) PAWL_CHECK(cudaMalloc(&p, count * sizeof(half)));
    PAWL_CHECK(cudaMemcpy(on_device[0], q.data(), count * sizeof(half), cudaMemcpyHostToDevice));
    PAWL_CHECK(cudaMemcpy(on_device[1], k.data(), count * sizeof(half), cudaMemcpyHostToDevice));
    PAWL_CHECK(cudaMemcpy(on_device[2], v.data(), count * sizeof(half), cudaMemcpyHostToDevice));
    const dim3 grid((S + ROWS - 1) / ROWS, heads);
    for (int naive = 0; naive < 2; naive++) {
      if (naive) naive_attention<64><<<grid, ROWS>>>(on_device[0], on_device[1], on_device[2], on_device[3], S);
      else attention<64><<<grid, ROWS>>>(on_device[0], on_device[1], on_device[2], on_device[3], S);
      PAWL_CHECK(cudaGetLastError());
      PAWL_CHECK(cudaMemcpy(got.data(), on_device[3], count * sizeof(half), cudaMemcpyDeviceToHost));
      for (size_t row = 0; row < (size_t)heads * S; row++) {
        const size_t head = row / S * S * D;
        const std::vector<double> want = defined(&q[row * D], &k[head], &v[head], S);
        for (int d = 0; d < D; d++) {
          const double error = fabs(want[d] - __half2float(got[row * D + d]));
          if (error > worst) worst = error;
          wrong += !(error < 1e-3); // FP16 rounds results to 2^-12; a NaN is wrong too
        }
      }
    }
    for (half *p : on_device) PAWL_CHECK(cudaFree(p));
  }
  printf("%d wrong, largest error %.2g\n", wrong, worst);
  return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--check") == 0) return check();
  pawl_benchmark b[] = {pawl_class<Attention>("attention"), pawl_class<Naive>("attention", "naive")};
  b[0].configs = "B=32 H=8 S=128 D=64; B=32 H=8 S=256 D=64; B=32 H=8 S=512 D=64; B=32 H=8 S=1024 D=64";
  b[0].flops = "4*B*H*S*S*D";
  b[0].bytes = "4*2*B*H*S*D";
  return pawl_main(argc, argv, b, 2);
}
