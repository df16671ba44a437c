#include "pawl.h"

#include "attention.h"

typedef struct tensors {
  int B, H, S;
  uint16_t *q, *k, *v, *out;
} tensors;

static uint16_t *tensor(size_t count, pawl_rng *rng) {
  uint16_t *t = pawl_alloc(count * sizeof *t);
  if (rng) pawl_fill_half(rng, t, count);
  return t;
}

static void *setup(const pawl_params *p, pawl_rng *rng) {
  tensors *t = pawl_alloc(sizeof *t);
  t->B = (int)pawl_int(p, "B");
  t->H = (int)pawl_int(p, "H");
  t->S = (int)pawl_int(p, "S");
  if (pawl_int(p, "D") != HEAD_DIM) pawl_fail_as("bad_params", "D: this kernel is compiled for %d", HEAD_DIM);
  if (t->B < 1 || t->H < 1 || t->S < 1) pawl_fail_as("bad_params", "B, H and S begin at 1");
  const size_t count = (size_t)t->B * (size_t)t->H * (size_t)t->S * HEAD_DIM;
  t->q = tensor(count, rng);
  t->k = tensor(count, rng);
  t->v = tensor(count, rng);
  t->out = tensor(count, NULL);
  pawl_input("q", t->q, "f16", t->B, t->H, t->S, HEAD_DIM);
  pawl_input("k", t->k, "f16", t->B, t->H, t->S, HEAD_DIM);
  pawl_input("v", t->v, "f16", t->B, t->H, t->S, HEAD_DIM);
  pawl_output("out", t->out, "f16", t->B, t->H, t->S, HEAD_DIM);
  return t;
}

static void run(void *state, pawl_launch *l) {
  const tensors *t = state;
  (void)l;
  attention_f16(t->q, t->k, t->v, t->out, t->B, t->H, t->S, 0.125f /* 1 / sqrt(HEAD_DIM) */);
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "attention", .setup = setup, .run = run, .configs = "B=2,H=4,S=512,D=64",
                                      .flops = "4*B*H*S*S*D", .bytes = "4*2*B*H*S*D"}};
  return pawl_main(argc, argv, b, 1);
}
