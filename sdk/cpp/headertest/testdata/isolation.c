/* What a program that the harness starts can see of pawl: nothing. */
#include "pawl.h"

static void *setup(const pawl_params *p, pawl_rng *rng) {
  char seen[512];
  size_t n;
  (void)p;
  (void)rng;
  fflush(NULL);
  FILE *child = popen("env | grep '^PAWL_\\(IN\\|OUT\\)='; for fd in 3 4; do test -e /proc/self/fd/$fd && echo open $fd; done; true", "r");
  if (!child) pawl_fail("popen");
  n = fread(seen, 1, sizeof seen - 1, child);
  seen[n] = 0;
  pclose(child);
  pawl_fail("seen: [%s]", seen);
}

static void run(void *state, pawl_launch *l) {
  (void)state;
  (void)l;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "child", .setup = setup, .run = run}};
  return pawl_main(argc, argv, b, 1);
}
