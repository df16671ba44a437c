/* The CUDA driver API in front of the model, as libcuda.so.1: as much of it as the launcher calls. A module is a text that
   names a shared object: "virtual module: /path/to/kernels.so". A kernel is a C function in it that does the work of the
   whole grid; NAME_params, if there is one, lists the sizes of its parameters and ends with 0, and NAME_cluster says that it
   cannot run without clusters. A parameter of 128 bytes is a vgpu_tensor_map. The launcher's own kernels (device.cu) are here. */
#include "model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t address;
typedef void (*host_kernel)(void **parameters, const unsigned *grid, const unsigned *block);

enum { MOST_PARAMETERS = 64, SHARED_BYTES = 1024, REGISTERS = 32 };

typedef struct function {
  char name[64];
  host_kernel call;
  const int *sizes;
  int shared, needs_cluster;
} function;

typedef struct launched {
  const function *of;
  unsigned grid[3], block[3];
  uint64_t values[MOST_PARAMETERS][16];
} launched;

#define CALL(name)                        \
  do {                                    \
    const int error_ = vgpu_call(#name);  \
    if (error_) return error_;            \
  } while (0)

int cuDeviceGetAttribute(int *v, int what, int d);

/* ---- the launcher's own kernels ---- */

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
  vgpu_write(to, bytes);
  for (uint64_t i = 0; 8 * i < bytes; i++) {
    const uint64_t word = poison_word(seed, i);
    memcpy(to + 8 * i, &word, 8 * i + 8 <= bytes ? 8 : bytes % 8);
  }
}

static void own_print(void **p, const unsigned *grid, const unsigned *block) {
  const unsigned char *from = *(unsigned char **)p[0];
  const uint64_t bytes = *(uint64_t *)p[1], seed = *(uint64_t *)p[2], key = *(uint64_t *)p[3];
  uint64_t *sums = *(uint64_t **)p[4];
  (void)grid, (void)block;
  vgpu_read(from, bytes);
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

static void own_hold(void **p, const unsigned *grid, const unsigned *block) {
  volatile int *go = *(volatile int **)p[0];
  const double cycles = (double)*(long long *)p[1];
  (void)grid, (void)block;
  if (vgpu_breaks("hold")) return;
  if (!go[0]) vgpu_cycles(cycles);
  if (!go[0] || vgpu_wait_for_host(cycles)) go[1] = 1;
}

static void own_chain(void **p, const unsigned *grid, const unsigned *block) {
  float *out = *(float **)p[0];
  vgpu_cycles(4096 * 4); /* dependent multiply-adds of 4 cycles */
  vgpu_write(out, grid[0] * block[0] * sizeof *out);
  for (unsigned i = 0; i < grid[0] * block[0]; i++) {
    float x = (float)(i % block[0]) * 1e-3f;
    for (int k = 0; k < 4; k++) x = x * 0.999f + 0.001f;
    out[i] = x;
  }
}

/* ---- the kernels of pawl doctor --gpu (check.cu) ---- */

static void check_empty(void **p, const unsigned *grid, const unsigned *block) { (void)p, (void)grid, (void)block; }

static void copy_first(void **p, unsigned threads) {
  const float *const x = *(const float **)p[0];
  float *const out = *(float **)p[1];
  vgpu_write(out, threads * sizeof *out);
  for (unsigned i = 0; i < threads; i++) out[i] = x[i];
}

static void check_spin(void **p, const unsigned *grid, const unsigned *block) {
  vgpu_ns(*(int *)p[2]);
  copy_first(p, grid[0] * block[0]);
}

static void check_read(void **p, const unsigned *grid, const unsigned *block) {
  vgpu_read(*(void **)p[0], (size_t)*(int *)p[2] * sizeof(float));
  copy_first(p, grid[0] * block[0]);
}

static void check_map(void **p, const unsigned *grid, const unsigned *block) {
  const vgpu_tensor_map *const m = p[0];
  float *const out = *(float **)p[1];
  vgpu_write(out, grid[0] * block[0] * sizeof *out);
  for (unsigned i = 0; i < grid[0] * block[0]; i++) out[i] = (float)m->sizes[0];
}

static void check_fault(void **p, const unsigned *grid, const unsigned *block) {
  (void)p, (void)grid, (void)block;
  vgpu_crash();
}

static void check_timer(void **p, const unsigned *grid, const unsigned *block) {
  uint64_t *const out = *(uint64_t **)p[0], at = vgpu_timer();
  (void)grid, (void)block;
  for (int i = 0; i < *(int *)p[1]; i++) {
    while ((out[i] = vgpu_timer()) == at) {}
    at = out[i];
  }
}

static void check_clock(void **p, const unsigned *grid, const unsigned *block) {
  uint64_t *const out = *(uint64_t **)p[0];
  const double cycles = 4.0 * *(int *)p[1];
  (void)block;
  for (unsigned i = 0; i < grid[0]; i++) {
    out[4 * i] = out[4 * i + 2] = 0;
    out[4 * i + 1] = (uint64_t)cycles;
    out[4 * i + 3] = (uint64_t)(cycles * 1e3 / vgpu_mhz());
  }
  vgpu_cycles(cycles);
}

static void check_fma(void **p, const unsigned *grid, const unsigned *block) {
  int lanes = 128, major = 0, minor = 0;
  float *const out = *(float **)p[0];
  cuDeviceGetAttribute(&major, 75, 0), cuDeviceGetAttribute(&minor, 76, 0);
  if (major == 8 && minor == 0) lanes = 64;
  vgpu_cycles(8.0 * *(int *)p[1] * grid[0] * block[0] / lanes / vgpu_units() / (vgpu_breaks("fast") ? 2 : 1));
  out[0] = 1;
}

static const struct {
  const char *name;
  host_kernel call;
  int sizes[8];
} own[] = {{"pawl_poison", own_poison, {8, 8, 8}}, {"pawl_print", own_print, {8, 8, 8, 8, 8}},
           {"pawl_hold", own_hold, {8, 8}}, {"pawl_chain", own_chain, {8}}, {"check_empty", check_empty, {0}},
           {"check_spin", check_spin, {8, 8, 4}}, {"check_read", check_read, {8, 8, 4}}, {"check_fault", check_fault, {8, 8, 4}},
           {"check_timer", check_timer, {8, 4}}, {"check_clock", check_clock, {8, 4}}, {"check_fma", check_fma, {8, 4}},
           {"check_scratch", check_read, {8, 8, 4, 8, 8}}, {"check_map", check_map, {128, 8, 4}}};

/* ---- devices and contexts ---- */

static int is(int error, const char *name, const char *text, int code, const char **to, int texts) {
  if (error == code) *to = texts ? text : name;
  return error == code;
}

static int describe(int e, const char **s, int texts) {
  *s = texts ? "an error" : "CUDA_ERROR_OTHER";
  return is(e, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered", VGPU_ILLEGAL_ADDRESS, s, texts) ||
         is(e, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", VGPU_NO_MEMORY, s, texts) ||
         is(e, "CUDA_ERROR_INVALID_VALUE", "invalid argument", VGPU_INVALID, s, texts) ||
         is(e, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected", VGPU_NO_DEVICE, s, texts);
}

int cuGetErrorName(int e, const char **s) { return describe(e, s, 0), 0; }
int cuGetErrorString(int e, const char **s) { return describe(e, s, 1), 0; }

int cuInit(unsigned flags) {
  CALL(cuInit);
  return flags ? VGPU_INVALID : vgpu_count() ? 0 : VGPU_NO_DEVICE;
}

int cuDriverGetVersion(int *v) {
  CALL(cuDriverGetVersion);
  return *v = 12040, 0;
}

int cuDeviceGetCount(int *n) {
  CALL(cuDeviceGetCount);
  return *n = vgpu_count(), 0;
}

int cuDeviceGet(int *d, int i) {
  CALL(cuDeviceGet);
  return *d = i, i >= 0 && i < vgpu_count() ? 0 : VGPU_INVALID;
}

int cuDeviceGetName(char *s, int n, int d) {
  vgpu_facts f;
  CALL(cuDeviceGetName);
  const int error = vgpu_about(d, &f);
  return snprintf(s, (size_t)n, "%s", f.name), error;
}

int cuDeviceGetUuid(unsigned char *u, int d) {
  vgpu_facts f;
  CALL(cuDeviceGetUuid);
  const int error = vgpu_about(d, &f);
  return memcpy(u, f.uuid, 16), error;
}

int cuDeviceGetAttribute(int *v, int what, int d) {
  vgpu_facts f;
  CALL(cuDeviceGetAttribute);
  const int error = vgpu_about(d, &f);
  *v = what == 16 ? f.units : what == 38 ? f.cache_bytes : what == 97 ? f.shared_bytes : what == 108 ? f.persisting_bytes : what == 75 ? f.major : what == 76 ? f.minor : 0;
  return error;
}

int cuDeviceTotalMem_v2(size_t *bytes, int d) {
  vgpu_facts f;
  CALL(cuDeviceTotalMem_v2);
  const int error = vgpu_about(d, &f);
  return *bytes = (size_t)f.memory_bytes, error;
}

int cuCtxCreate_v2(void **c, unsigned f, int d) {
  (void)f;
  CALL(cuCtxCreate_v2);
  *c = malloc(1);
  const int error = vgpu_use(d);
  return vgpu_enter(), error;
}

int cuCtxSetCurrent(void *c) {
  static void *current;
  CALL(cuCtxSetCurrent);
  if (c != current) vgpu_wait(), vgpu_switch();
  return current = c, 0;
}

int cuCtxDestroy_v2(void *c) {
  CALL(cuCtxDestroy_v2);
  free(c);
  return vgpu_free_all(), 0;
}

int cuCtxSynchronize(void) {
  CALL(cuCtxSynchronize);
  return vgpu_wait();
}

int cuCtxSetLimit(int what, size_t bytes) {
  CALL(cuCtxSetLimit);
  return what == 6 ? vgpu_set_aside(bytes), 0 : VGPU_INVALID;
}

int cuCtxResetPersistingL2Cache(void) {
  CALL(cuCtxResetPersistingL2Cache);
  return vgpu_forget_persisting(), 0;
}

int cuProfilerStart(void) {
  CALL(cuProfilerStart);
  return vgpu_wait(), vgpu_trace("profile", "start", 0), 0;
}

int cuProfilerStop(void) {
  CALL(cuProfilerStop);
  return vgpu_wait(), vgpu_trace("profile", "stop", 0), 0;
}

/* ---- streams and events: all streams are one ---- */

int cuStreamCreate(void **s, unsigned f) {
  (void)f;
  CALL(cuStreamCreate);
  return *s = NULL, 0;
}

typedef struct window {
  void *from;
  size_t bytes;
  float share;
  int hit, miss;
} window;

int cuStreamSetAttribute(void *s, int what, const window *w) {
  (void)s;
  CALL(cuStreamSetAttribute);
  return what == 1 ? vgpu_window(w->from, w->hit == 2 ? w->bytes : 0), 0 : VGPU_INVALID;
}

int cuStreamSynchronize(void *s) {
  (void)s;
  CALL(cuStreamSynchronize);
  return vgpu_wait();
}

int cuEventCreate(void **e, unsigned f) {
  (void)f;
  CALL(cuEventCreate);
  return *e = calloc(1, sizeof(double)), 0;
}

int cuEventRecord(void *e, void *s) {
  (void)s;
  CALL(cuEventRecord);
  return vgpu_record(e), 0;
}

int cuEventElapsedTime(float *ms, void *a, void *b) {
  CALL(cuEventElapsedTime);
  return *ms = (float)((*(double *)b - *(double *)a) / 1e6), 0;
}

/* ---- modules and functions ---- */

int cuModuleLoadData(void **to, const void *image) {
  static const char mine[] = "virtual module: ";
  static int own_module;
  CALL(cuModuleLoadData);
  *to = &own_module;
  if (strncmp(image, "// Made from device.cu", 22) == 0 || strncmp(image, "// Made from check.cu", 21) == 0) return 0;
  if (vgpu_breaks("crash")) abort();
  if (strncmp(image, mine, sizeof mine - 1) != 0) return 200;
  *to = dlopen((const char *)image + sizeof mine - 1, RTLD_NOW);
  return *to ? 0 : 200;
}

int cuModuleUnload(void *m) {
  (void)m;
  CALL(cuModuleUnload);
  return 0;
}

int cuModuleGetFunction(void **to, void *from, const char *name) {
  static const int usual[] = {8, 8, 4, 0};
  char sizes[80];
  function *f;
  CALL(cuModuleGetFunction);
  *to = f = calloc(1, sizeof *f);
  snprintf(f->name, sizeof f->name, "%s", name);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strcmp(name, own[i].name) == 0) return f->call = own[i].call, f->sizes = own[i].sizes, 0;
  *(void **)&f->call = dlsym(from, name);
  snprintf(sizes, sizeof sizes, "%s_cluster", name);
  f->needs_cluster = dlsym(from, sizes) != NULL;
  snprintf(sizes, sizeof sizes, "%s_params", name);
  f->sizes = f->call ? dlsym(from, sizes) : NULL;
  if (!f->sizes) f->sizes = usual;
  return f->call ? 0 : 500;
}

int cuFuncGetAttribute(int *v, int what, void *f) {
  CALL(cuFuncGetAttribute);
  return *v = what == 1 ? SHARED_BYTES : what == 4 ? REGISTERS : what == 10 ? ((function *)f)->needs_cluster : 0, 0;
}

int cuFuncSetAttribute(void *f, int what, int v) {
  (void)what;
  CALL(cuFuncSetAttribute);
  return ((function *)f)->shared = v, 0;
}

int cuFuncGetParamInfo(void *f, size_t index, size_t *offset, size_t *size) {
  const int *const sizes = ((function *)f)->sizes;
  size_t i;
  CALL(cuFuncGetParamInfo);
  for (i = 0, *offset = 0; i < index && sizes[i]; i++) *offset += (size_t)sizes[i];
  return *size = i == index ? (size_t)sizes[i] : 0, *size ? 0 : VGPU_INVALID;
}

/* Blocks of a kernel of 32 registers on a multiprocessor, as cuda_occupancy.h computes it from compute capability 8.0 on. */
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *f, int threads, size_t dynamic) {
  int major = 0, minor = 0;
  (void)f;
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  cuDeviceGetAttribute(&major, 75, 0), cuDeviceGetAttribute(&minor, 76, 0);
  const int large = minor == 0, warps = (threads + 31) / 32, shared = ((int)dynamic + SHARED_BYTES + 1024 + 127) / 128 * 128;
  const int limits[] = {large ? 32 : 24, (large ? 64 : 48) / warps, 64 / warps, (major > 8 ? 228 : large ? 164 : 100) * 1024 / shared};
  *blocks = limits[0];
  for (int i = 1; i < 4; i++) *blocks = limits[i] < *blocks ? limits[i] : *blocks;
  if (vgpu_breaks("occupancy") && *blocks > 1) --*blocks;
  return 0;
}

static void run_launched(void *with) {
  launched *const l = with;
  void *parameters[MOST_PARAMETERS];
  for (int i = 0; i < MOST_PARAMETERS; i++) parameters[i] = l->values[i];
  l->of->call(parameters, l->grid, l->block);
}

int cuLaunchKernel(void *of, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra) {
  const function *const f = of;
  launched *l;
  (void)stream, (void)extra;
  CALL(cuLaunchKernel);
  if (bx * by * bz > 1024 || (shared > 49152 && (int)shared > f->shared)) return VGPU_INVALID;
  l = calloc(1, sizeof *l);
  *l = (launched){.of = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}};
  for (int i = 0; i < MOST_PARAMETERS && f->sizes[i]; i++) memcpy(l->values[i], parameters[i], f->sizes[i] <= 128 ? (size_t)f->sizes[i] : 128);
  return vgpu_launch(f->name, run_launched, l, free), 0;
}

/* A launch with attributes, as cuda.h lays them out: clusters need compute capability 9, and a cooperative grid must fit the
   device. Nothing overlaps here, so a dependent launch is an ordinary one. */
typedef struct launch_attribute {
  int id;
  char pad[4];
  union {
    int on;
    unsigned size[3];
    char room[64];
  } value;
} launch_attribute;

typedef struct launch_config {
  unsigned grid[3], block[3], shared;
  void *stream;
  launch_attribute *attributes;
  unsigned count;
} launch_config;

int cuLaunchKernelEx(const launch_config *c, void *of, void **parameters, void **extra) {
  const unsigned *const g = c->grid, *const b = c->block;
  int major = 0, blocks = 0;
  CALL(cuLaunchKernelEx);
  cuDeviceGetAttribute(&major, 75, 0);
  for (unsigned i = 0; i < c->count; i++) {
    const launch_attribute *const a = &c->attributes[i];
    const unsigned cluster = a->value.size[0] * a->value.size[1] * a->value.size[2];
    if (a->id == 2) {
      cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, of, (int)(b[0] * b[1] * b[2]), c->shared);
      if (g[0] * g[1] * g[2] > (unsigned)blocks * (unsigned)vgpu_units()) return 720;
    } else if (a->id == 4 && (major < 9 || !cluster || cluster > 16)) {
      return 912;
    } else if (a->id != 4 && a->id != 6) {
      return VGPU_INVALID;
    }
    vgpu_trace("attribute", ((function *)of)->name, a->id);
  }
  return cuLaunchKernel(of, g[0], g[1], g[2], b[0], b[1], b[2], c->shared, c->stream, parameters, extra);
}

/* ---- tensor maps ---- */

#ifndef VGPU_BEFORE_MAPS /* of drivers before CUDA 12.0 */
_Static_assert(sizeof(vgpu_tensor_map) <= 128, "a tensor map has 128 bytes");

/* Refuses what the documentation forbids. Interleaved maps and types of less than a byte are not modeled, and refused. */
int cuTensorMapEncodeTiled(void *to, int type, uint32_t rank, void *at, const uint64_t *sizes, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  vgpu_tensor_map m;
  int major = 0;
  CALL(cuTensorMapEncodeTiled);
  cuDeviceGetAttribute(&major, 75, 0);
  if (major < 9) return 801;
  if ((uintptr_t)to % 64 || (uintptr_t)at % 16 || type < 0 || type >= (int)sizeof bytes || rank < 1 || rank > 5 || interleave) return VGPU_INVALID;
  if (swizzle < 0 || swizzle > 3 || promotion < 0 || promotion > 3 || fill < 0 || fill > 1 || (fill && type < 6)) return VGPU_INVALID;
  memset(&m, 0, sizeof m);
  m.at = at;
  m.strides[0] = bytes[type];
  for (uint32_t i = 0; i < rank; i++) {
    if (!sizes[i] || sizes[i] > UINT64_C(1) << 32 || !box[i] || box[i] > 256 || !steps[i] || steps[i] > 8) return VGPU_INVALID;
    if (i && (strides[i - 1] % 16 || strides[i - 1] >= UINT64_C(1) << 40)) return VGPU_INVALID;
    if (i) m.strides[i] = strides[i - 1];
    m.sizes[i] = sizes[i];
    m.box[i] = (uint16_t)box[i];
  }
  if (box[0] * bytes[type] % 16 || (swizzle && box[0] * bytes[type] > 16u << swizzle)) return VGPU_INVALID;
  m.rank = (uint8_t)rank, m.type = (uint8_t)type, m.swizzle = (uint8_t)swizzle;
  memset(to, 0, 128);
  memcpy(to, &m, sizeof m);
  vgpu_trace("map", "tensor", (double)rank);
  return 0;
}
#endif

/* ---- memory ---- */

int cuMemAlloc_v2(address *to, size_t bytes) {
  CALL(cuMemAlloc_v2);
  *to = (address)(uintptr_t)vgpu_alloc(bytes);
  return *to ? 0 : VGPU_NO_MEMORY;
}

int cuMemFree_v2(address a) {
  CALL(cuMemFree_v2);
  return vgpu_free((void *)(uintptr_t)a);
}

int cuMemcpyHtoD_v2(address to, const void *from, size_t n) {
  CALL(cuMemcpyHtoD_v2);
  return vgpu_copy((void *)(uintptr_t)to, from, n), vgpu_wait();
}

int cuMemcpyDtoH_v2(void *to, address from, size_t n) {
  CALL(cuMemcpyDtoH_v2);
  return vgpu_copy(to, (void *)(uintptr_t)from, n), vgpu_wait();
}

typedef struct fill {
  void *to;
  unsigned char value;
  size_t bytes;
} fill;

static void run_fill(void *with) {
  const fill *const f = with;
  vgpu_write(f->to, f->bytes);
  memset(f->to, f->value, f->bytes);
}

int cuMemsetD8_v2(address to, unsigned char v, size_t n) {
  fill *f;
  CALL(cuMemsetD8_v2);
  f = malloc(sizeof *f);
  *f = (fill){(void *)(uintptr_t)to, v, n};
  vgpu_trace("set", "memory", (double)n);
  return vgpu_launch("memset", run_fill, f, free), 0;
}

int cuMemHostAlloc(void **to, size_t n, unsigned f) {
  (void)f;
  CALL(cuMemHostAlloc);
  return (*to = calloc(1, n)) ? 0 : VGPU_NO_MEMORY;
}

int cuMemHostGetDevicePointer_v2(address *to, void *from, unsigned f) {
  (void)f;
  CALL(cuMemHostGetDevicePointer_v2);
  return *to = (address)(uintptr_t)from, 0;
}
