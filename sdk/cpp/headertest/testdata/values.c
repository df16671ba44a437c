/* Prints how pawl.h reads and rounds a type of at most a byte. Argument: the type. First a line for each of the values in
   256 bytes, with 1 behind those that are not finite; then, for each number of stdin, the pattern that it rounds to. */
#include "pawl.h"

int main(int argc, char **argv) {
  unsigned char bytes[256];
  int dtype = 0, odd, i;
  double x;
  while (dtype < PAWLI_DTYPES && argc > 1 && strcmp(argv[1], pawli_dtypes[dtype].name) != 0) dtype++;
  if (argc != 2 || dtype == PAWLI_DTYPES) return 2;
  for (i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
  for (i = 0; i < 256 * (int)pawli_lanes(dtype); i++) {
    x = pawli_value(dtype, bytes, (size_t)i, &odd);
    printf("%.17g %d\n", x, odd);
  }
  while (scanf("%lf", &x) == 1) printf("%u\n", (unsigned)pawli_small(dtype, x));
  return 0;
}
