/* Says what it was given: setup fails with a message that repeats every parameter as pawl.h read it. */
#include "pawl.h"

static void *setup(const pawl_params *p, pawl_rng *rng) {
  const char *want = pawl_string(p, "want");
  if (strcmp(want, "int") == 0) pawl_fail("%lld", pawl_int(p, "v"));
  if (strcmp(want, "float") == 0) pawl_fail("%.17g", pawl_float(p, "v"));
  if (strcmp(want, "string") == 0) pawl_fail("%s", pawl_string(p, "v"));
  if (strcmp(want, "bool") == 0) pawl_fail("%d", pawl_bool(p, "v"));
  if (strcmp(want, "has") == 0) pawl_fail("%d", pawl_has(p, "v"));
  if (strcmp(want, "random") == 0) pawl_fail("%llx", (unsigned long long)pawl_random(rng));
  if (strcmp(want, "bytes") == 0) pawl_fail("\xff\xc3(\xe2\x82\xac\xed\xa0\x80"); /* of which only the euro is UTF-8 */
  return NULL;
}

static void run(void *state, pawl_launch *l) {
  (void)state;
  (void)l;
  pawl_alloc(8);
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "echo", .setup = setup, .run = run,
                                      .configs = "a=1 b=-2.5e3 c=true d=fp16,e=0x10; a=t"}};
  return pawl_main(argc, argv, b, 1);
}
