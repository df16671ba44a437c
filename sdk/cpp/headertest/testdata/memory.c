/* Reads `kib` of memory, 8 bytes of each line: slow when the cache was swept, fast when it was not. */
#include "pawl.h"

typedef struct state {
  size_t count;
  uint64_t *data;
} state;

static volatile uint64_t sink;

static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = (state *)pawl_alloc(sizeof *s);
  size_t i;
  s->count = (size_t)pawl_int(p, "kib") * 128;
  s->data = (uint64_t *)pawl_alloc(s->count * sizeof *s->data);
  for (i = 0; i < s->count; i++) s->data[i] = pawl_random(rng);
  return s;
}

/* Each address depends on the value before: neither prefetching nor overlap hides a miss. */
static void run(void *with, pawl_launch *l) {
  const state *s = (const state *)with;
  uint64_t at = 0, i;
  (void)l;
  for (i = 0; i < s->count / 16; i++) at = (s->data[(at * 8) % s->count] + i) % (s->count / 8);
  sink = at;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "chase", .setup = setup, .run = run, .configs = "kib=4; kib=512", .bytes = "kib*1024"}};
  return pawl_main(argc, argv, b, 1);
}
