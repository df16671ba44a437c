/* A stand-in for the CUDA driver, so that the launcher's CUDA part can run where there is no GPU: memory of the device is
   memory of the process, and a kernel is a C function that does the work of the whole grid. A module is a text that
   names a shared object: "stand-in module: /path/to/kernels.so". The launcher's own kernels are here. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t address;
typedef struct kernel {
  void (*call)(void **parameters, const unsigned *grid, const unsigned *block);
  int shared;
} kernel;
typedef struct module {
  void *library;
} module;

static int lost; /* a kernel failed: everything after it does too */

/* STAND_IN_FAILS names a function that fails on its first call, for lack of memory. */
static int fails(const char *function) {
  static int failed;
  const char *name = getenv("STAND_IN_FAILS");
  if (failed || !name || strcmp(name, function) != 0) return 0;
  return failed = 1, 2;
}

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static uint64_t poison_word(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return UINT64_C(0x7ff07ff07ff07ff0) | ((z ^ (z >> 31)) & UINT64_C(0x800f800f800f800f));
}

static void own_poison(void **p, const unsigned *grid, const unsigned *block) {
  unsigned char *to = *(unsigned char **)p[0];
  const uint64_t bytes = *(uint64_t *)p[1], seed = *(uint64_t *)p[2];
  (void)grid, (void)block;
  for (uint64_t i = 0; i < bytes; i++) to[i] = (unsigned char)(poison_word(seed, i / 8) >> 8 * (i % 8));
}

static void own_print(void **p, const unsigned *grid, const unsigned *block) {
  const unsigned char *from = *(unsigned char **)p[0];
  const uint64_t bytes = *(uint64_t *)p[1], seed = *(uint64_t *)p[2], key = *(uint64_t *)p[3];
  uint64_t *sums = *(uint64_t **)p[4];
  (void)grid, (void)block;
  for (uint64_t i = 0; i < (bytes + 7) / 8; i++) {
    uint64_t w = 0, want = poison_word(seed, i);
    const size_t n = 8 * i + 8 <= bytes ? 8 : bytes % 8;
    memcpy(&w, from + 8 * i, n);
    if (n < 8) want &= ~(uint64_t)0 >> (64 - 8 * n);
    const uint64_t x = w ^ (key + i * UINT64_C(0x9fb21c651e98df25));
    sums[0] += x;
    sums[1] += (x & 0xffffffff) * (x >> 32);
    sums[2] += w == want;
  }
}

/* A short hold spins, since a kernel is done when its launch returns; a long one would wait for ever for its go.
   STAND_IN_GIVES_UP is the number of long holds that give up. */
static void own_hold(void **p, const unsigned *grid, const unsigned *block) {
  static int given_up;
  volatile int *go = *(volatile int **)p[0];
  const long long cycles = *(long long *)p[1], from = now_ns();
  const char *text = getenv("STAND_IN_GIVES_UP");
  (void)grid, (void)block;
  if (cycles >= 1000000) go[1] = text && given_up < atoi(text) ? ++given_up, 1 : 0;
  else while (now_ns() - from < cycles) {}
}

static void own_chain(void **p, const unsigned *grid, const unsigned *block) {
  float *out = *(float **)p[0];
  for (unsigned i = 0; i < grid[0] * block[0]; i++) {
    float x = (float)(i % block[0]) * 1e-3f;
    for (int k = 0; k < 4; k++) x = x * 0.999f + 0.001f;
    out[i] = x;
  }
}

int cuInit(unsigned flags) { return (int)flags; }
int cuGetErrorName(int e, const char **s) { return *s = e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER", 0; }
int cuGetErrorString(int e, const char **s) { return *s = e == 700 ? "an illegal memory access was encountered" : "an error", 0; }
int cuDriverGetVersion(int *v) { return *v = 12040, 0; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *d, int i) { return *d = i, 0; }
int cuDeviceGetName(char *s, int n, int d) { return (void)d, snprintf(s, (size_t)n, "Stand-in"), 0; }
int cuDeviceGetUuid(unsigned char *u, int d) { return (void)d, memset(u, 0xab, 16), 0; }
int cuDeviceGetAttribute(int *v, int what, int d) { return (void)d, *v = what == 97 ? 101376 : 1 << 20, 0; }
int cuCtxCreate_v2(void **c, unsigned f, int d) { return (void)f, (void)d, lost = 0, *c = malloc(1), 0; }
int cuCtxDestroy_v2(void *c) { return free(c), 0; }
int cuCtxSynchronize(void) { return lost; }

/* STAND_IN_PROFILE names a file that gets the number of launches of every profiled range. */
static int launches, profiled_from;
int cuProfilerStart(void) { return profiled_from = launches, 0; }
int cuProfilerStop(void) {
  const char *path = getenv("STAND_IN_PROFILE");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) fprintf(file, "%d\n", launches - profiled_from), fclose(file);
  return 0;
}
int cuStreamCreate(void **s, unsigned f) { return (void)f, *s = NULL, fails("cuStreamCreate"); }
int cuStreamSynchronize(void *s) { return (void)s, lost; }
/* STAND_IN_STEP is the step of event times in nanoseconds. */
int cuEventCreate(void **e, unsigned f) { return (void)f, *e = calloc(1, sizeof(long long)), fails("cuEventCreate"); }
int cuEventRecord(void *e, void *s) {
  const char *text = getenv("STAND_IN_STEP");
  const long long step = text ? atoll(text) : 1;
  return (void)s, *(long long *)e = now_ns() / step * step, 0;
}
int cuEventElapsedTime(float *ms, void *a, void *b) {
  *ms = (float)((double)(*(long long *)b - *(long long *)a) / 1e6);
  return lost;
}

int cuModuleLoadData(void **to, const void *image) {
  static const char mine[] = "stand-in module: ";
  module *m = calloc(1, sizeof *m);
  *to = m;
  if (strncmp(image, "// Made from device.cu", 22) == 0) return 0;
  if (strncmp(image, mine, sizeof mine - 1) != 0) return 200;
  m->library = dlopen((const char *)image + sizeof mine - 1, RTLD_NOW);
  return m->library ? 0 : 200;
}
int cuModuleUnload(void *m) { return (void)m, 0; }

int cuModuleGetFunction(void **to, void *from, const char *name) {
  kernel *k = calloc(1, sizeof *k);
  module *m = from;
  *to = k;
  if (m->library) *(void **)&k->call = dlsym(m->library, name);
  else if (strcmp(name, "pawl_poison") == 0) k->call = own_poison;
  else if (strcmp(name, "pawl_print") == 0) k->call = own_print;
  else if (strcmp(name, "pawl_hold") == 0) k->call = own_hold;
  else if (strcmp(name, "pawl_chain") == 0) k->call = own_chain;
  return k->call ? 0 : 500;
}
int cuFuncGetAttribute(int *v, int what, void *f) { return (void)what, (void)f, *v = 1024, 0; }
int cuFuncSetAttribute(void *f, int what, int v) { return (void)what, ((kernel *)f)->shared = v, 0; }

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra) {
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  (void)stream, (void)extra;
  if (lost) return lost;
  if (bx * by * bz > 1024) return 1;
  if (shared > 49152 && (int)shared > ((kernel *)f)->shared) return 1;
  launches++;
  ((kernel *)f)->call(parameters, grid, block);
  return 0;
}

/* A kernel calls this to fail as one does that reads a wrong address. */
void stand_in_fail(void) { lost = 700; }

int cuMemAlloc_v2(address *to, size_t bytes) { return *to = (address)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256), *to ? 0 : 2; }
int cuMemFree_v2(address a) { return free((void *)(uintptr_t)a), 0; }
int cuMemcpyHtoD_v2(address to, const void *from, size_t n) { return memcpy((void *)(uintptr_t)to, from, n), lost; }
int cuMemcpyDtoH_v2(void *to, address from, size_t n) { return memcpy(to, (void *)(uintptr_t)from, n), lost; }

/* STAND_IN_SETS names a file that gets a line for every megabyte or more that is set. */
int cuMemsetD8_v2(address to, unsigned char v, size_t n) {
  const char *path = n >= 1 << 20 ? getenv("STAND_IN_SETS") : NULL;
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) fprintf(file, "%zu\n", n), fclose(file);
  return memset((void *)(uintptr_t)to, v, n), lost;
}
int cuMemHostAlloc(void **to, size_t n, unsigned f) { return (void)f, *to = calloc(1, n), fails("cuMemHostAlloc"); }
int cuMemHostGetDevicePointer_v2(address *to, void *from, unsigned f) { return (void)f, *to = (address)(uintptr_t)from, 0; }
