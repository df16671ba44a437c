/* C = A B in FP32: A is [M, K], B is [K, N]. */
#include "bugs.h"

enum { TILE = 16 };

typedef struct problem {
  int M, N, K;
  float *a, *b, *c;
} problem;

static float operand(float x) { return BUG == 18 ? round_to(x, 13) : x; }

static void matmul(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  const int row_of_a = BUG == 16 ? p->N : p->K;
  for (int i0 = 0; i0 < p->M; i0 += TILE)
    for (int j0 = 0; j0 < p->N; j0 += TILE)
      for (int i = i0; i < least(i0 + TILE, p->M); i++)
        for (int j = j0; j < least(j0 + TILE, p->N); j++) {
          float sum = 0;
          for (int k = 0; k < p->K; k++) {
            const int at = BUG == 19 ? (int16_t)(k * p->N + j) : k * p->N + j; /* so narrow that small shapes show it */
            sum += operand(p->a[(i * row_of_a + k) % (p->M * p->K)]) * operand(p->b[at < 0 ? 0 : at]);
          }
          p->c[BUG == 17 ? j * p->M + i : i * p->N + j] = sum;
        }
}

static void naive(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int i = 0; i < p->M; i++)
    for (int j = 0; j < p->N; j++) {
      double sum = 0;
      for (int k = 0; k < p->K; k++) sum += (double)p->a[i * p->K + k] * (double)p->b[k * p->N + j];
      p->c[i * p->N + j] = (float)sum;
    }
}

static void *setup(const pawl_params *at, pawl_rng *rng) {
  problem *p = pawl_alloc(sizeof *p);
  (void)rng;
  *p = (problem){size_of(at, "M"), size_of(at, "N"), size_of(at, "K"), NULL, NULL, NULL};
  p->a = memory(sizeof(float) * (size_t)p->M * (size_t)p->K);
  p->b = memory(sizeof(float) * (size_t)p->K * (size_t)p->N);
  p->c = memory(sizeof(float) * (size_t)p->M * (size_t)p->N);
  pawl_input("a", p->a, "f32", p->M, p->K);
  pawl_input("b", p->b, "f32", p->K, p->N);
  pawl_output("c", p->c, "f32", p->M, p->N);
  return p;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {
      {.name = "matmul", .setup = setup, .run = matmul, .configs = "M=16,N=16,K=16"},
      {.name = "matmul", .implementation = "naive", .setup = setup, .run = naive},
  };
  return serve(argc, argv, b, 2);
}
