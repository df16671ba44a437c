/* y = 2 x, and the ways to cheat that pawl.h must see. `mode` names one. */
#include "pawl.h"

#include <pthread.h>

typedef struct state {
  int n;
  const char *mode;
  float *x, *y, *remembered;
} state;

static pthread_t late;
static volatile int late_runs, late_ends, late_wrote;

static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = (state *)pawl_alloc(sizeof *s);
  s->n = (int)pawl_int(p, "N");
  s->mode = pawl_string(p, "mode");
  s->x = (float *)pawl_alloc(sizeof(float) * (size_t)s->n);
  s->y = (float *)pawl_alloc(sizeof(float) * (size_t)s->n);
  s->remembered = NULL;
  pawl_fill_float(rng, s->x, (size_t)s->n);
  if (strcmp(s->mode, "too_large") == 0) pawl_input("big", s->x, "f64", s->n);
  if (strcmp(s->mode, "twice") == 0) pawl_input("x", s->x, "f32", s->n);
  if (strcmp(s->mode, "type") == 0) pawl_input("z", s->x, "float", s->n);
  if (strcmp(s->mode, "zero") == 0) pawl_input("z", s->x, "f32", s->n, 0);
  pawl_input("x", s->x, "f32", s->n);
  pawl_output("y", s->y, "f32", s->n);
  return s;
}

static void *goes_on(void *with) {
  volatile float *y = ((state *)with)->y;
  while (!late_ends) *y += 1, late_wrote = 1;
  return NULL;
}

static void end_late(void) {
  late_ends = 1;
  if (late_runs) pthread_join(late, NULL);
  late_runs = late_ends = late_wrote = 0;
}

static void run(void *with, pawl_launch *l) {
  state *s = (state *)with;
  const int is_late = strcmp(s->mode, "late") == 0;
  int i;
  (void)l;
  end_late();
  if (strcmp(s->mode, "idle") == 0) return;
  if (s->remembered) {
    memcpy(s->y, s->remembered, sizeof(float) * (size_t)s->n);
    return;
  }
  for (i = 0; i < s->n; i++) s->y[i] = 2 * s->x[i];
  if (is_late) late_runs = pthread_create(&late, NULL, goes_on, s) == 0;
  while (late_runs && !late_wrote) continue;
  if (strcmp(s->mode, "behind") == 0) s->y[s->n] = 1;
  if (strcmp(s->mode, "before") == 0) s->y[-1] = 1;
  if (strcmp(s->mode, "state") == 0) ((char *)s)[sizeof *s] = 1;
  if (strcmp(s->mode, "remembers") == 0) { /* by address, as a cheat would */
    s->remembered = (float *)malloc(sizeof(float) * (size_t)s->n);
    memcpy(s->remembered, s->y, sizeof(float) * (size_t)s->n);
  }
}

static void teardown(void *with) {
  end_late();
  free(((state *)with)->remembered);
}

int main(int argc, char **argv) {
  pawl_benchmark b;
  memset(&b, 0, sizeof b);
  b.name = "double";
  b.setup = setup;
  b.run = run;
  b.teardown = teardown;
  return pawl_main(argc, argv, &b, 1);
}
