// A harness for pawl. So far it measures the launch of an empty placeholder.
// By hand: ./harness prints a table. With pawl: pawl bench.
#include "pawl.h"

static __global__ void placeholder(const float *) {}

struct Placeholder {
  float *x;

  // Makes the inputs of one config; both sides of a round get the same random numbers.
  Placeholder(const pawl_params *p, pawl_rng *rng) {
    const size_t n = (size_t)pawl_int(p, "N");
    float *host = (float *)pawl_alloc(n * sizeof(float)); // pawl.h frees both
    x = (float *)pawl_device_alloc(n * sizeof(float));
    pawl_fill_float(rng, host, n);
    PAWL_CHECK(cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice));
  }

  // One run. Launch on pawl's stream and do not synchronise.
  void run(pawl_launch *l) {
    // TODO: launch your kernel here, and add its sources to build.command in pawl.yaml.
    placeholder<<<1, 32, 0, pawl_stream(l)>>>(x);
  }
};

int main(int argc, char **argv) {
  // TODO: name the benchmark after your kernel, list the configs that matter, and say how much work one run is.
  pawl_benchmark b = pawl_class<Placeholder>("placeholder");
  b.configs = "N=1024";
  // b.flops = "2*N";
  // b.bytes = "4*N";
  return pawl_main(argc, argv, &b, 1);
}
