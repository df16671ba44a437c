/* pawl.h 1.4.0: makes a C, C++, CUDA, HIP or OpenCL program a harness that pawl can measure.

   One header, nothing to link but libc (and the CUDA, HIP or OpenCL runtime where you use it). Include it in the
   one file that has main, before other headers if you compile with -std=c99 and not -std=gnu99.

     #include "pawl.h"

     struct state { int n; float *a, *b, *c; };

     static void *setup(const pawl_params *p, pawl_rng *rng) {     // allocate and fill the inputs of one config
       struct state *s = pawl_alloc(sizeof *s);                    // freed by pawl.h, also when setup fails
       s->n = (int)pawl_int(p, "N");
       s->a = pawl_alloc(sizeof(float) * s->n * s->n);
       ...
       pawl_fill_float(rng, s->a, (size_t)s->n * s->n);
       pawl_input("a", s->a, "f32", s->n, s->n);                   // so that pawl can check results, not only time them
       ...
       pawl_output("c", s->c, "f32", s->n, s->n);
       return s;
     }
     static void run(void *state, pawl_launch *l) { ... }           // ONE run of the kernel

     int main(int argc, char **argv) {
       static const pawl_benchmark b[] = {{ .name = "matmul", .setup = setup, .run = run,
           .configs = "N=256; N=512", .flops = "2*N*N*N", .bytes = "3*4*N*N" }};
       return pawl_main(argc, argv, b, 1);
     }

   Started by pawl, the program answers pawl's requests (docs/reference/harness-protocol.md). Started by hand, it
   measures its own configs briefly and prints a table. stdout and stderr stay yours in both cases.

   How it measures. A sample is one run; runs shorter than 20 us are measured in batches of about 50 us, and a sample
   is then the mean. Before each sample of a cold case the cache is swept, and every run of a cold batch has inputs of
   its own, so setup is then called several times. `wall` is CLOCK_MONOTONIC, `cpu` is the CPU time of the thread that
   calls run, `device` is events on the GPU. Under CUDA and HIP, launches of a measured sample wait behind a
   blocking kernel until all are queued, so that the time the host needs to launch is not in the sample.
   How it checks. Arguments that setup registers can be filled by pawl and read back: `pawl fuzz` runs the kernel on
   inputs of its own, and some timed samples are looked at unannounced. Before every sample some elements of the inputs
   change their places, and outputs hold poison or what was there before. Inputs must be unchanged afterwards, and memory
   from pawl.h has red zones around it and begins at a random place. None of this is in the timed region.
   The CUDA and HIP parts have run on a model of a GPU only, not yet on a GPU.

   Names that begin with pawli_ are not for you: they may change. Licence: see LICENSE in pawl's repository. */
#ifndef PAWL_H
#define PAWL_H

#define PAWL_VERSION "1.4.0"

#if defined(__STRICT_ANSI__) && !defined(__cplusplus) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* strict C hides clock_gettime and setenv */
#endif

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOCK_THREAD_CPUTIME_ID
#error "pawl.h needs POSIX clocks: include pawl.h before every other header, or compile with -std=gnu99 or later"
#endif

#if defined(__CUDACC__)
#define PAWLI_GPU(name) cuda##name
#include <cuda_runtime.h>
#elif defined(__HIPCC__)
#define PAWLI_GPU(name) hip##name
#include <hip/hip_runtime.h>
#elif defined(PAWL_OPENCL)
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif
#endif

#if defined(__cplusplus) && (defined(__cpp_exceptions) || defined(__EXCEPTIONS))
#define PAWLI_EXCEPTIONS 1
#include <exception>
#include <new>
#endif

#define PAWL_API static __attribute__((unused))
#if defined(__clang__)
#define PAWLI_APART __attribute__((noinline, used))
#else
#define PAWLI_APART __attribute__((noinline, noclone, used))
#endif

/* ---- what you write -------------------------------------------------------------------------------------------- */

/* The parameters of a config. A parameter that is missing or of the wrong kind ends setup: the case is then broken
   with the code bad_params and a message that names it. */
typedef struct pawl_params pawl_params;
PAWL_API long long pawl_int(const pawl_params *p, const char *name);
PAWL_API double pawl_float(const pawl_params *p, const char *name);
PAWL_API const char *pawl_string(const pawl_params *p, const char *name); /* valid until teardown */
PAWL_API int pawl_bool(const pawl_params *p, const char *name);
PAWL_API int pawl_has(const pawl_params *p, const char *name);

/* Random inputs, the same on both sides of a round. Data is not a detail: a GPU computes zeros faster. */
typedef struct pawl_rng {
  uint64_t state;
} pawl_rng;
PAWL_API uint64_t pawl_random(pawl_rng *rng);                                 /* 64 random bits */
PAWL_API double pawl_uniform(pawl_rng *rng);                                  /* in [-1, 1) */
PAWL_API void pawl_fill_float(pawl_rng *rng, float *to, size_t count);        /* uniform in [-1, 1) */
PAWL_API void pawl_fill_half(pawl_rng *rng, void *to_fp16, size_t count);     /* likewise, IEEE half precision */

/* Memory of a prepared case, 64-byte aligned; call it in setup. It is freed after teardown. Never returns NULL. */
PAWL_API void *pawl_alloc(size_t bytes);

/* What the kernel reads and writes; call these in setup, after allocating:
     pawl_input("q", s->q, "f16", B, H, S, D);   only read, and filled by setup
     pawl_output("out", s->out, "f16", B, H, S, D);   only written: every element, whatever was there before
     pawl_inout("x", s->x, "f32", N);   read, then written
     pawl_strides("q", H * S * D, D, H * D, 1);   where it is not row-major without gaps; in elements
   Memory is a pointer to device memory under CUDA and HIP, a cl_mem under OpenCL, or what pawl_alloc gave. Types are
   f64 f32 tf32 f16 bf16 e4m3 e5m2 e4m3fnuz e5m2fnuz e8m0 e3m2 e2m3 e2m1 e2m1x2 i64 i32 i16 i8 u8 bool. An element of
   e2m1x2 is a byte with two values. What a run does must depend on the parameters and these arguments alone: pawl replaces their contents. A kernel without arguments is timed, but cannot be checked. */
PAWL_API void pawl_argument(const char *role, const char *name, const void *memory, const char *dtype, int rank,
                            const int64_t *shape); /* role: "in", "out" or "inout" */
PAWL_API void pawl_argument_strides(const char *name, int rank, const int64_t *strides);
#if !defined(__cplusplus)
#define PAWLI_SIZES(...) \
  (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
#define pawl_input(name, memory, dtype, ...) pawl_argument("in", name, memory, dtype, PAWLI_SIZES(__VA_ARGS__))
#define pawl_output(name, memory, dtype, ...) pawl_argument("out", name, memory, dtype, PAWLI_SIZES(__VA_ARGS__))
#define pawl_inout(name, memory, dtype, ...) pawl_argument("inout", name, memory, dtype, PAWLI_SIZES(__VA_ARGS__))
#define pawl_strides(name, ...) pawl_argument_strides(name, PAWLI_SIZES(__VA_ARGS__))
#else
template <class... N>
PAWL_API void pawl_input(const char *name, const void *memory, const char *dtype, N... sizes) {
  const int64_t shape[] = {(int64_t)sizes...};
  pawl_argument("in", name, memory, dtype, (int)sizeof...(sizes), shape);
}
template <class... N>
PAWL_API void pawl_output(const char *name, const void *memory, const char *dtype, N... sizes) {
  const int64_t shape[] = {(int64_t)sizes...};
  pawl_argument("out", name, memory, dtype, (int)sizeof...(sizes), shape);
}
template <class... N>
PAWL_API void pawl_inout(const char *name, const void *memory, const char *dtype, N... sizes) {
  const int64_t shape[] = {(int64_t)sizes...};
  pawl_argument("inout", name, memory, dtype, (int)sizeof...(sizes), shape);
}
template <class... N>
PAWL_API void pawl_strides(const char *name, N... strides) {
  const int64_t list[] = {(int64_t)strides...};
  pawl_argument_strides(name, (int)sizeof...(strides), list);
}
#endif

/* Another number of the case, beside its time: pawl_report("bytes", size, "B", "lower"), or "higher" where more is better.
   Call it in setup, once, or in a run, where it is part of the time. What warm-ups report is ignored. */
PAWL_API void pawl_report(const char *metric, double value, const char *unit, const char *better);

/* What a run gets to launch with. */
typedef struct pawl_launch pawl_launch;
#if defined(PAWLI_GPU)
PAWL_API void *pawl_device_alloc(size_t bytes); /* as pawl_alloc, on the device */
/* Launch everything here, and do not synchronise in a run. NULL gives the same stream in setup. */
PAWL_API PAWLI_GPU(Stream_t) pawl_stream(const pawl_launch *l);
#elif defined(PAWL_OPENCL)
PAWL_API cl_context pawl_context(void);
PAWL_API cl_device_id pawl_device(void); /* the first GPU, else the first device; PAWL_OPENCL_DEVICE=part of a name */
PAWL_API cl_command_queue pawl_queue(const pawl_launch *l); /* enqueue everything here; NULL in setup */
PAWL_API cl_event *pawl_event(pawl_launch *l); /* pass one to each clEnqueue... of a run: these are timed */
PAWL_API cl_kernel pawl_kernel(const char *source, const char *options, const char *name); /* the user releases it */
/* As pawl_alloc, on the device, filled from memory of the host unless that is NULL. flags: CL_MEM_READ_ONLY ... */
PAWL_API cl_mem pawl_buffer(cl_mem_flags flags, size_t bytes, const void *from);
#endif

/* One implementation of a benchmark. Entries with one name are implementations of one benchmark; configs, flops and
   bytes may stand with any of them. Only name and run are needed. In C++ before 20, assign the fields one by one. */
typedef struct pawl_benchmark {
  const char *name;
  const char *implementation; /* NULL: "candidate", the one under test */
  void *(*setup)(const pawl_params *p, pawl_rng *rng);
  void (*run)(void *state, pawl_launch *l);
  void (*teardown)(void *state);
  const char *configs; /* "B=32 S=128 dtype=fp16; B=32 S=256 dtype=fp16" */
  const char *flops;   /* the work of one run as an expression over the parameters: "2*N*N*N" */
  const char *bytes;
} pawl_benchmark;

PAWL_API int pawl_main(int argc, char **argv, const pawl_benchmark *benchmarks, int count);

/* Ends setup, run or teardown: pawl_fail("cannot open %s", path). It does not return. The case is broken, the harness
   stays usable. In C++ it throws, in C it jumps: free what you did not get from pawl_alloc before you call it.
   pawl_fail_as says which kind: "no_memory", "unsupported", "no_device", "bad_params". */
#define pawl_fail(...) pawl_fail_as("failed", __VA_ARGS__)
PAWL_API void pawl_fail_as(const char *code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* PAWL_CHECK(cudaMemcpy(...)), PAWL_CHECK(clSetKernelArg(...)): pawl_fail when the call failed. */
#if defined(PAWLI_GPU) || defined(PAWL_OPENCL)
#define PAWL_CHECK(call) pawli_check((call), #call)
#endif

#if defined(__cplusplus)
/* The same for a class: T(const pawl_params *, pawl_rng *) is setup, T::run(pawl_launch *) is a run, ~T() is teardown.
     pawl_benchmark b = pawl_class<Matmul>("matmul"); b.configs = "N=256; N=512"; */
template <class T>
PAWL_API pawl_benchmark pawl_class(const char *name, const char *implementation = nullptr) {
  pawl_benchmark b = pawl_benchmark();
  b.name = name;
  b.implementation = implementation;
  b.setup = [](const pawl_params *p, pawl_rng *rng) -> void * { return new T(p, rng); };
  b.run = [](void *state, pawl_launch *l) { static_cast<T *>(state)->run(l); };
  b.teardown = [](void *state) { delete static_cast<T *>(state); };
  return b;
}
#endif

/* ---- constants and the one state ------------------------------------------------------------------------------- */

enum {
  PAWLI_LINE = 64 << 20, /* longest line of the protocol */
  PAWLI_DEPTH = 32,      /* deepest JSON from pawl */
  PAWLI_PART = 4096,     /* samples a message */
  PAWLI_SETS = 64,       /* buffer sets of a batch, at most */
  PAWLI_BLOCKS = 32,     /* sums of an output in one sample, at most */
  PAWLI_KEPT = 64,       /* samples that are kept of one measurement, at most */
  PAWLI_RANK = 8,        /* dimensions of an argument, at most */
  PAWLI_PATH = 4096,     /* longest path from pawl */
  PAWLI_HEADER = 16 << 20, /* longest header of a safetensors file */
  PAWLI_ZONE = 4096,       /* bytes of a red zone */
  PAWLI_PLACES = 64,       /* where memory may begin, in steps of its alignment */
  PAWLI_METRICS = 64,      /* reported of one case, at most */
  PAWLI_REPORTS = 1 << 16, /* values after which a part is sent */
  PAWLI_MOST_REPORTS = 1 << 21 /* values of one message, at most: they must fit its line */
};
#define PAWLI_WINDOW ((size_t)256) /* bytes of an output that are looked at after a sample */
#define PAWLI_SHORT_NS 20e3  /* runs below this are batched ... */
#define PAWLI_SAMPLE_NS 50e3 /* ... to samples of about this */
#define PAWLI_SETTLE_NS 10e6 /* running time before the batch is chosen, so that clocks are up */
#define PAWLI_LIFE_NS 2e9    /* longest silence while measuring */
#define PAWLI_STALL_NS 1e9   /* so long a timer may stand still before a sample is given up */
#define PAWLI_LOOK_NS 200e6  /* how often a measurement looks whether pawl is still there */
#define PAWLI_LINGER_MS 2    /* nobody can wait for threads of the host: they get so long to show themselves */
#define PAWLI_CALIBRATION "pawl.calibration"

struct pawl_params {
  const char *json; /* the text of a valid JSON object */
};

struct pawl_launch {
  int run; /* which run of its sample this is */
#if defined(PAWLI_GPU)
  PAWLI_GPU(Stream_t) stream;
#elif defined(PAWL_OPENCL)
  cl_command_queue queue;
#endif
};

typedef enum { PAWLI_TIMER_DEVICE, PAWLI_TIMER_WALL, PAWLI_TIMER_CPU, PAWLI_TIMERS } pawli_timer;
static const char *const pawli_timer_names[PAWLI_TIMERS] = {"device", "wall", "cpu"};
#define PAWLI_KERNEL_TIMER "kernel" /* of the device, by records of its kernels */

typedef struct pawli_block { /* memory of a set, with a red zone on both sides */
  struct pawli_block *next;
  void *host, *device; /* what is to be freed: one of the two */
  void *memory;        /* what the user has */
  size_t origin;       /* where that begins in what is to be freed */
  size_t bytes;
  uint64_t seed; /* of the red zones */
} pawli_block;

typedef enum { PAWLI_IN, PAWLI_OUT, PAWLI_INOUT, PAWLI_ROLES } pawli_role;
static const char *const pawli_roles[PAWLI_ROLES] = {"in", "out", "inout"};

typedef struct pawli_spec { /* how the suite wants an input to be drawn */
  int dtype, drawn, uniform;
  double low, high; /* equal where the suite sets no bounds */
} pawli_spec;

typedef struct pawli_key {
  uint32_t word[8];
} pawli_key;

typedef struct pawli_sum { /* of one block of outputs */
  double sum;     /* each element with a sign that is drawn from a key */
  double squares;
  double odd;     /* how many are NaN or infinite: they are in neither sum */
  double count;   /* of all elements */
} pawli_sum;

typedef struct pawli_argument {
  struct pawli_argument *next;
  char name[64];
  int role, dtype, rank, strided;
  int64_t shape[PAWLI_RANK], strides[PAWLI_RANK];
  void *memory; /* a pointer or a cl_mem */
  const pawli_block *block; /* NULL when pawl.h did not allocate it */
  int on_host;
  int64_t length; /* of the storage: elements, gaps included */
  size_t bytes;
  uint64_t hash; /* of an input, when hashed */
  int hashed, loaded;
  int declared; /* its position among the arguments of the suite, from 1; 0 for one that the suite does not have */
  pawli_spec spec;
  int poisoned;
  uint64_t poison;         /* of an output, when poisoned: the seed of what it held before the run */
  char *before;   /* of an inout on the host: what it is to hold before a run */
  void *original; /* the same on the device: restoring it needs no copy from the host, which would leave the device idle */
  char *copy;   /* of an output: what it held when a run had returned */
} pawli_argument;

typedef struct pawli_set { /* one call of setup */
  void *state;
  pawli_block *blocks;
  pawli_argument *arguments;
} pawli_set;

typedef struct pawli_reading { /* nanoseconds a run */
  double by[PAWLI_TIMERS];
  double clock_mhz; /* 0 when the device does not tell */
} pawli_reading;

typedef struct pawli_metric { /* what was reported since the last message */
  char name[65], unit[33];
  int higher; /* is better */
  double *values;
  size_t count, room;
} pawli_metric;

static struct {
  const pawl_benchmark *benchmarks;
  int count;

  char code[32], message[1024]; /* the failure that is being reported */
#if defined(PAWLI_EXCEPTIONS)
  int guarded;
#else
  jmp_buf *guard;
#endif

  int in, out; /* pipes */
  char *line;  /* bytes that came in */
  size_t line_length, line_room;
  const char *asked; /* the request that is being answered */
  char *text; /* the message that is being written */
  size_t text_length, text_room;

  int opened; /* the device */
  char device_name[256], runtime[256], note[256];
  double device_quantum_ns;

  const pawl_benchmark *prepared;
  char *request; /* the prepare request: params point into it */
  pawl_params params;
  uint64_t seed;
  double bytes, quantum_ns;
  pawli_timer timer;
  int by_records; /* the time of the device is that of records of its kernels, not of events */
  int cold, batch, next_set, set_count;
  int give_ups; /* how often launches could not be held back */
  pawli_set sets[PAWLI_SETS];
  pawli_set *filling; /* the set whose setup is running */
  uint64_t filled;    /* how often setup was called: each time has a number */
  pawl_rng places;    /* of memory */
  pawl_rng draws;     /* what is looked at from sample to sample */
  int drawing;        /* inputs are drawn before every run, from key */
  pawli_key key;
  uint64_t untimed;   /* runs outside of verified samples so far: each has a number */
  pawl_launch launch;

  struct { /* of the measurement that is being taken */
    int on, count, next, now; /* now: the next sample is kept */
    double samples[PAWLI_KEPT]; /* which are kept */
    char dir[PAWLI_PATH];
  } keep;
  struct { /* sums of the outputs of timed samples, for pawl to compare */
    int on, outputs;
    uint64_t key, run;
    pawli_sum *sums; /* those not sent yet */
    size_t count, room;
  } verify;
  int reporting; /* what is reported counts */
  int metric_count;
  size_t reports; /* values of all metrics */
  pawli_metric metrics[PAWLI_METRICS];
  FILE *file; /* that is being read or written */
  char *scratch, *header;
  size_t scratch_room, header_room;

  double part[PAWLI_TIMERS + 1][PAWLI_PART]; /* readings not sent yet; the last row is the clock */
} pawli;

/* ---- failing --------------------------------------------------------------------------------------------------- */

#if defined(PAWLI_EXCEPTIONS)
struct pawli_failure {}; /* thrown; the words are in pawli.code and pawli.message */
#endif

static __attribute__((noreturn)) void pawli_raise(void) {
#if defined(PAWLI_EXCEPTIONS)
  if (pawli.guarded) throw pawli_failure();
#else
  if (pawli.guard) longjmp(*pawli.guard, 1);
#endif
  fprintf(stderr, "pawl.h: %s\n", pawli.message);
  exit(1);
}

PAWL_API void pawl_fail_as(const char *code, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(pawli.message, sizeof pawli.message, format, values);
  va_end(values);
  snprintf(pawli.code, sizeof pawli.code, "%s", code);
  pawli_raise();
}

/* Runs step(with). Returns 1 when it failed, with code and message in pawli. */
#if defined(PAWLI_EXCEPTIONS)
static int pawli_try(void (*step)(void *), void *with) {
  struct guard {
    guard() { pawli.guarded++; }
    ~guard() { pawli.guarded--; }
  } here;
  const char *code = "failed";
  try {
    step(with);
    return 0;
  } catch (const pawli_failure &) {
    return 1;
  } catch (const std::bad_alloc &) {
    code = "no_memory";
    snprintf(pawli.message, sizeof pawli.message, "no memory: std::bad_alloc");
  } catch (const std::exception &e) {
    snprintf(pawli.message, sizeof pawli.message, "%s", e.what());
  } catch (...) {
    snprintf(pawli.message, sizeof pawli.message, "the harness threw something that is no std::exception");
  }
  snprintf(pawli.code, sizeof pawli.code, "%s", code);
  return 1;
}
#else
static int pawli_try(void (*step)(void *), void *with) {
  jmp_buf here;
  jmp_buf *const outer = pawli.guard;
  volatile int failed = 1;
  pawli.guard = &here;
  if (setjmp(here) == 0) {
    step(with);
    failed = 0;
  }
  pawli.guard = outer;
  return failed;
}
#endif

/* For what leaves no way to answer: a dead pipe, no memory for a message, a line that cannot be read. */
static __attribute__((noreturn)) void pawli_die(const char *what) {
  fprintf(stderr, "pawl.h: %s\n", what);
  exit(1);
}

/* ---- random inputs --------------------------------------------------------------------------------------------- */

PAWL_API uint64_t pawl_random(pawl_rng *rng) { /* splitmix64 */
  uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

PAWL_API double pawl_uniform(pawl_rng *rng) { return (double)(int64_t)pawl_random(rng) / 9223372036854775808.0; }

PAWL_API void pawl_fill_float(pawl_rng *rng, float *to, size_t count) {
  size_t i;
  for (i = 0; i < count; i++) to[i] = (float)((int32_t)(pawl_random(rng) >> 40) - (1 << 23)) / (float)(1 << 23);
}

/* Multiples of 2^-11: half precision holds them exactly, so there is nothing to round. */
PAWL_API void pawl_fill_half(pawl_rng *rng, void *to_fp16, size_t count) {
  uint16_t *to = (uint16_t *)to_fp16;
  size_t i;
  for (i = 0; i < count; i++) {
    int k = (int)(pawl_random(rng) >> 52) - 2048, size = k < 0 ? -k : k, exponent = 14;
    if (size == 2048) size = 1024, exponent = 15; /* -1 */
    while (size && size < 1024) size *= 2, exponent--;
    to[i] = size ? (uint16_t)((k < 0) << 15 | exponent << 10 | (size & 1023)) : (uint16_t)0;
  }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

#if defined(PAWLI_GPU)
#define PAWLI_BOTH __host__ __device__
#else
#define PAWLI_BOTH
#endif

/* The i-th number that pawl_random would give from here: a loop over i needs no number before it. */
static inline PAWLI_BOTH uint64_t pawli_word(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Word i of what stands where nothing was written yet: a NaN in every type of 16, 32 and 64 bits. */
static inline PAWLI_BOTH uint64_t pawli_poison_word(uint64_t seed, uint64_t i) {
  return UINT64_C(0x7ff07ff07ff07ff0) | (pawli_word(seed, i) & UINT64_C(0x800f800f800f800f));
}

static void pawli_poison_host(void *to, size_t bytes, uint64_t seed) {
  size_t at = 0;
  uint64_t i = 0;
  for (; at < bytes; at += 8, i++) {
    const uint64_t word = pawli_poison_word(seed, i);
    memcpy((char *)to + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

enum { PAWLI_F64, PAWLI_F32, PAWLI_TF32, PAWLI_F16, PAWLI_BF16, PAWLI_E4M3, PAWLI_E5M2, PAWLI_E4M3FNUZ, PAWLI_E5M2FNUZ,
       PAWLI_E8M0, PAWLI_E3M2, PAWLI_E2M3, PAWLI_E2M1, PAWLI_E2M1X2,
       PAWLI_I64, PAWLI_I32, PAWLI_I16, PAWLI_I8, PAWLI_U8, PAWLI_BOOL, PAWLI_DTYPES };
static const struct {
  const char *name, *stored; /* as suites and as safetensors write it */
  int bytes, real;
} pawli_dtypes[PAWLI_DTYPES] = {
    {"f64", "F64", 8, 1},   {"f32", "F32", 4, 1},      {"tf32", "F32", 4, 1},     {"f16", "F16", 2, 1},
    {"bf16", "BF16", 2, 1}, {"e4m3", "F8_E4M3", 1, 1}, {"e5m2", "F8_E5M2", 1, 1}, {"e4m3fnuz", "F8_E4M3FNUZ", 1, 1},
    {"e5m2fnuz", "F8_E5M2FNUZ", 1, 1}, {"e8m0", "F8_E8M0", 1, 1}, {"e3m2", "E3M2", 1, 1}, {"e2m3", "E2M3", 1, 1},
    {"e2m1", "E2M1", 1, 1}, {"e2m1x2", "E2M1X2", 1, 1}, {"i64", "I64", 8, 0},
    {"i32", "I32", 4, 0},   {"i16", "I16", 2, 0},      {"i8", "I8", 1, 0},        {"u8", "U8", 1, 0},
    {"bool", "BOOL", 1, 0}};

/* How many values an element holds. */
static inline PAWLI_BOTH unsigned pawli_lanes(int dtype) { return dtype == PAWLI_E2M1X2 ? 2 : 1; }

/* Number number of a keyed stream, one stream for each purpose: by ChaCha8, so that no number tells of another. */
static uint64_t pawli_secret(const pawli_key *key, uint64_t purpose, uint64_t number) {
  static const uint32_t expand[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  static const unsigned char column[4][4] = {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}};
  static const unsigned char diagonal[4][4] = {{0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}};
  uint32_t x[16], first[2];
  int i, round;
  for (i = 0; i < 4; i++) x[i] = expand[i];
  for (i = 0; i < 8; i++) x[4 + i] = key->word[i];
  x[12] = (uint32_t)number, x[13] = (uint32_t)(number >> 32);
  x[14] = (uint32_t)purpose, x[15] = (uint32_t)(purpose >> 32);
  first[0] = x[0], first[1] = x[1];
  for (round = 0; round < 8; round++)
    for (i = 0; i < 4; i++) {
      const unsigned char *const q = round % 2 ? diagonal[i] : column[i];
      uint32_t *const a = &x[q[0]], *const b = &x[q[1]], *const c = &x[q[2]], *const d = &x[q[3]];
      *a += *b, *d ^= *a, *d = *d << 16 | *d >> 16;
      *c += *d, *b ^= *c, *b = *b << 12 | *b >> 20;
      *a += *b, *d ^= *a, *d = *d << 8 | *d >> 24;
      *c += *d, *b ^= *c, *b = *b << 7 | *b >> 25;
    }
  return (uint64_t)(x[1] + first[1]) << 32 | (x[0] + first[0]);
}

/* A normal number is the sum of two uniform ones, with a standard deviation of 1: it never leaves +-2.45. */
#define PAWLI_NORMAL (2.449489742783178 / 4294967296.0)

static inline PAWLI_BOTH double pawli_real(const pawli_spec *s, uint64_t seed, uint64_t i) {
  const uint64_t bits = pawli_word(seed, i / 2); /* two elements a word: the sum of its halves, and the difference */
  const double a = (double)(int32_t)(uint32_t)(bits >> 32), b = (double)(int32_t)(uint32_t)bits;
  const double low = s->low == s->high ? -1 : s->low, high = s->low == s->high ? 1 : s->high;
  if (!s->uniform) return (i % 2 ? a - b : a + b) * PAWLI_NORMAL;
  return low + (high - low) * (0.5 + (i % 2 ? a : b) / 4294967296.0);
}

static inline PAWLI_BOTH int64_t pawli_whole(const pawli_spec *s, uint64_t seed, uint64_t i) {
  const uint64_t bits = pawli_word(seed, i);
  const double span = s->high - s->low;
  if (s->dtype == PAWLI_BOOL) return (int64_t)(bits & 1);
  if (s->low == s->high) return (int64_t)bits; /* any that the type can hold */
  return (int64_t)s->low + (int64_t)(bits % (span < 1 ? 1 : (uint64_t)span));
}

typedef struct pawli_format { /* a floating-point type of at most 16 bits: its sign, its exponent, its mantissa */
  int exponent, mantissa, bias;
  unsigned largest; /* the largest finite magnitude: those above it are infinity or NaN */
  int fnuz;         /* NaN stands in place of negative zero */
} pawli_format;

static inline PAWLI_BOTH pawli_format pawli_format_of(int dtype) {
  pawli_format f = {5, 2, 15, 0x7b, 0}; /* e5m2 */
  switch (dtype) {
  case PAWLI_F16: f.mantissa = 10, f.largest = 0x7bff; break;
  case PAWLI_BF16: f.exponent = 8, f.mantissa = 7, f.bias = 127, f.largest = 0x7f7f; break;
  case PAWLI_E4M3: f.exponent = 4, f.mantissa = 3, f.bias = 7, f.largest = 0x7e; break;
  case PAWLI_E4M3FNUZ: f.exponent = 4, f.mantissa = 3, f.bias = 8, f.largest = 0x7f, f.fnuz = 1; break;
  case PAWLI_E5M2FNUZ: f.bias = 16, f.largest = 0x7f, f.fnuz = 1; break;
  case PAWLI_E8M0: f.exponent = 8, f.mantissa = 0, f.bias = 127, f.largest = 0xfe; break;
  case PAWLI_E3M2: f.exponent = 3, f.bias = 3, f.largest = 0x1f; break;
  case PAWLI_E2M3: f.exponent = 2, f.mantissa = 3, f.bias = 1, f.largest = 0x1f; break;
  case PAWLI_E2M1: case PAWLI_E2M1X2: f.exponent = 2, f.mantissa = 1, f.bias = 1, f.largest = 0x7; break;
  default: break;
  }
  return f;
}

/* Rounds to the nearest number of a small type, ties to even. What is too large becomes the largest. e8m0 has no sign and
   no zero: it takes the size, at least the smallest. */
static inline PAWLI_BOTH uint16_t pawli_small(int dtype, double x) {
  const pawli_format f = pawli_format_of(dtype);
  const int scale = dtype == PAWLI_E8M0, lowest = scale ? -f.bias : 1 - f.bias;
  const unsigned sign = scale ? 0 : (unsigned)(x < 0) << (f.exponent + f.mantissa);
  int exponent = 0;
  double size = x < 0 ? -x : x;
  while (size >= 2 && exponent < f.bias + 1) size /= 2, exponent++;
  while (size < 1 && exponent > lowest) size *= 2, exponent--;
  if (size >= 2) return (uint16_t)(sign | f.largest);
  if (scale && size < 1) size = 1;
  const double scaled = size * (double)(1 << f.mantissa);
  unsigned whole = (unsigned)scaled;
  const double rest = scaled - whole;
  if (rest > 0.5 || (rest == 0.5 && (whole & 1))) whole++;
  /* the hidden bit of a normal number adds one to the exponent field; carries work out */
  const unsigned bits = (unsigned)((exponent + f.bias - 1) * (1 << f.mantissa)) + whole;
  if (f.fnuz && !bits) return 0;
  return (uint16_t)(sign | (bits > f.largest ? f.largest : bits));
}

/* Draws element i to its place. */
static inline PAWLI_BOTH void pawli_draw_one(const pawli_spec *s, uint64_t seed, uint64_t i, void *to) {
  switch (s->dtype) {
  case PAWLI_F64: ((double *)to)[i] = pawli_real(s, seed, i); break;
  case PAWLI_F32: case PAWLI_TF32: ((float *)to)[i] = (float)pawli_real(s, seed, i); break;
  case PAWLI_F16: case PAWLI_BF16: ((uint16_t *)to)[i] = pawli_small(s->dtype, pawli_real(s, seed, i)); break;
  case PAWLI_E4M3: case PAWLI_E5M2: case PAWLI_E4M3FNUZ: case PAWLI_E5M2FNUZ: case PAWLI_E8M0: case PAWLI_E3M2:
  case PAWLI_E2M3: case PAWLI_E2M1: ((uint8_t *)to)[i] = (uint8_t)pawli_small(s->dtype, pawli_real(s, seed, i)); break;
  case PAWLI_E2M1X2:
    ((uint8_t *)to)[i] = (uint8_t)(pawli_small(s->dtype, pawli_real(s, seed, 2 * i)) |
                                   pawli_small(s->dtype, pawli_real(s, seed, 2 * i + 1)) << 4);
    break;
  case PAWLI_I64: ((int64_t *)to)[i] = pawli_whole(s, seed, i); break;
  case PAWLI_I32: ((int32_t *)to)[i] = (int32_t)pawli_whole(s, seed, i); break;
  case PAWLI_I16: ((int16_t *)to)[i] = (int16_t)pawli_whole(s, seed, i); break;
  default: ((uint8_t *)to)[i] = (uint8_t)pawli_whole(s, seed, i); break;
  }
}

#if !defined(PAWLI_WIDE) /* what the compiler is told about loops over every byte of an argument */
#define PAWLI_WIDE
#endif

PAWLI_WIDE static void pawli_draw_normal(float *to, size_t count, uint64_t seed) {
  const float scale = (float)PAWLI_NORMAL;
  size_t i;
  for (i = 0; i < count / 2; i++) {
    const uint64_t bits = pawli_word(seed, i);
    const float a = (float)(int32_t)(uint32_t)(bits >> 32), b = (float)(int32_t)(uint32_t)bits;
    to[2 * i] = (a + b) * scale;
    to[2 * i + 1] = (a - b) * scale;
  }
}

/* Types of at most 16 bits take elements of a table: rounding each would take longer than the kernel. */
static void pawli_draw_small(const pawli_spec *s, uint64_t seed, void *to, size_t count) {
  enum { TABLE = 1 << 16, TABLES = 4 };
  static struct {
    pawli_spec spec;
    uint16_t *of;
  } tables[TABLES];
  static unsigned next;
  uint64_t bits = 0;
  size_t i;
  unsigned k = 0;
  while (k < TABLES && (!tables[k].of || tables[k].spec.dtype != s->dtype || tables[k].spec.uniform != s->uniform ||
                        tables[k].spec.low != s->low || tables[k].spec.high != s->high))
    k++;
  if (k == TABLES) {
    k = next++ % TABLES;
    if (!tables[k].of) tables[k].of = (uint16_t *)malloc(TABLE * sizeof(uint16_t));
    if (!tables[k].of) pawl_fail_as("no_memory", "no memory to draw inputs");
    tables[k].spec = *s;
    for (i = 0; i < TABLE; i++) tables[k].of[i] = pawli_small(s->dtype, pawli_real(s, 1, i));
  }
  for (i = 0; i < count * pawli_lanes(s->dtype); i++, bits >>= 16) {
    if (i % 4 == 0) bits = pawli_word(seed, i / 4);
    const uint16_t drawn = tables[k].of[bits & 0xffff];
    if (s->dtype == PAWLI_F16 || s->dtype == PAWLI_BF16) ((uint16_t *)to)[i] = drawn;
    else if (s->dtype != PAWLI_E2M1X2) ((uint8_t *)to)[i] = (uint8_t)drawn;
    else ((uint8_t *)to)[i / 2] = (uint8_t)(i % 2 ? ((uint8_t *)to)[i / 2] | drawn << 4 : drawn);
  }
}

/* Draws the elements of an input in memory of the host. */
static void pawli_draw(const pawli_spec *s, uint64_t seed, void *to, size_t count) {
  size_t i = 0;
  if ((s->dtype == PAWLI_F32 || s->dtype == PAWLI_TF32) && !s->uniform) {
    pawli_draw_normal((float *)to, count, seed);
    i = count / 2 * 2;
  } else if (pawli_dtypes[s->dtype].real && pawli_dtypes[s->dtype].bytes <= 2) {
    pawli_draw_small(s, seed, to, count);
    i = count;
  }
  for (; i < count; i++) pawli_draw_one(s, seed, i, to);
}

/* ---- sums of outputs ------------------------------------------------------------------------------------------- */

static inline float pawli_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

typedef struct pawli_bytes { /* the values of the 256 patterns of a byte */
  double value[256];
  unsigned char odd[256]; /* NaN or infinity: their value is 0 */
  int filled;
} pawli_bytes;

static const pawli_bytes *pawli_bytes_of(int dtype) {
  static pawli_bytes all[PAWLI_DTYPES];
  pawli_bytes *const t = &all[dtype];
  if (t->filled) return t;
  const pawli_format f = pawli_format_of(dtype);
  const unsigned magnitudes = (1u << (f.exponent + f.mantissa)) - 1, sign = dtype == PAWLI_E8M0 ? 0 : magnitudes + 1;
  unsigned bits;
  for (bits = 0; bits < 256; bits++) {
    const unsigned magnitude = bits & magnitudes, below = magnitude & ((1u << f.mantissa) - 1);
    const int normal = dtype == PAWLI_E8M0 || magnitude >> f.mantissa;
    int exponent = (normal ? (int)(magnitude >> f.mantissa) : 1) - f.bias - f.mantissa;
    double size = (double)(below + (normal ? 1u << f.mantissa : 0));
    for (; exponent > 0; exponent--) size *= 2;
    for (; exponent < 0; exponent++) size /= 2;
    t->odd[bits] = magnitude > f.largest || (f.fnuz && !magnitude && (bits & sign));
    t->value[bits] = t->odd[bits] ? 0 : bits & sign ? -size : size;
  }
  t->filled = 1;
  return t;
}

/* Value i of an output; 0 for NaN and infinities, for which odd is set. It looks at their bits: a compiler may be told
   that there are none. */
static inline double pawli_value(int dtype, const void *from, size_t i, int *odd) {
  uint64_t wide = 0;
  uint32_t bits = 0;
  *odd = 0;
  switch (dtype) {
  case PAWLI_F64:
    memcpy(&wide, (const char *)from + 8 * i, 8);
    *odd = (wide >> 52 & 0x7ff) == 0x7ff;
    return *odd ? 0 : ((const double *)from)[i];
  case PAWLI_F32: case PAWLI_TF32:
    memcpy(&bits, (const char *)from + 4 * i, 4);
    *odd = (bits >> 23 & 0xff) == 0xff;
    return (double)pawli_float(bits & ((uint32_t)*odd - 1)); /* without a branch: this is what most outputs are */
  case PAWLI_F16:
    bits = ((const uint16_t *)from)[i];
    *odd = (bits >> 10 & 31) == 31;
    return *odd ? 0 : (double)pawli_float((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * 5192296858534827628530496329220096.0; /* 2^112 */
  case PAWLI_BF16:
    bits = (uint32_t)((const uint16_t *)from)[i] << 16;
    *odd = (bits >> 23 & 0xff) == 0xff;
    return *odd ? 0 : (double)pawli_float(bits);
  case PAWLI_E4M3: case PAWLI_E5M2: case PAWLI_E4M3FNUZ: case PAWLI_E5M2FNUZ: case PAWLI_E8M0: case PAWLI_E3M2:
  case PAWLI_E2M3: case PAWLI_E2M1: case PAWLI_E2M1X2: {
    const pawli_bytes *const t = pawli_bytes_of(dtype);
    bits = dtype == PAWLI_E2M1X2 ? (uint32_t)((const uint8_t *)from)[i / 2] >> i % 2 * 4 : ((const uint8_t *)from)[i];
    *odd = t->odd[bits];
    return t->value[bits];
  }
  case PAWLI_I64: return (double)((const int64_t *)from)[i];
  case PAWLI_I32: return (double)((const int32_t *)from)[i];
  case PAWLI_I16: return (double)((const int16_t *)from)[i];
  case PAWLI_I8: return (double)((const int8_t *)from)[i];
  default: return (double)((const uint8_t *)from)[i];
  }
}

/* Adds at most 64 elements, which one word has the signs of. */
static inline __attribute__((always_inline)) void pawli_add_elements(pawli_sum *to, int dtype, const void *from, size_t at, size_t count, uint64_t signs) {
  static const double sign[2] = {-1, 1};
  double sum = 0, more = 0, squares = 0, more_squares = 0; /* two at a time: one need not wait for the other */
  int odd, odd_too, all_odd = 0;
  size_t k;
  for (k = 0; k + 1 < count; k += 2, signs >>= 2) {
    const double x = pawli_value(dtype, from, at + k, &odd), y = pawli_value(dtype, from, at + k + 1, &odd_too);
    all_odd += odd + odd_too;
    sum += sign[signs & 1] * x;
    more += sign[signs >> 1 & 1] * y;
    squares += x * x;
    more_squares += y * y;
  }
  if (k < count) {
    const double x = pawli_value(dtype, from, at + k, &odd);
    all_odd += odd;
    sum += sign[signs & 1] * x;
    squares += x * x;
  }
  to->sum += sum + more;
  to->squares += squares + more_squares;
  to->odd += all_odd;
  to->count += (double)count;
}

/* Adds the values of an output to the sums of its blocks. first is the number of its first value among all that the
   runs of a sample leave of this output, all how many these are: they are divided evenly among the blocks. */
PAWLI_WIDE static void pawli_add_sums(pawli_sum *blocks, int dtype, const void *from, size_t count, uint64_t first, uint64_t all, uint64_t key) {
  const uint64_t each = (all + PAWLI_BLOCKS - 1) / PAWLI_BLOCKS;
  size_t i = 0;
  while (i < count) {
    const uint64_t at = first + i, left = each - at % each;
    size_t n = 64 - (size_t)(at % 64);
    if (n > left) n = (size_t)left;
    if (n > count - i) n = count - i;
    const uint64_t signs = pawli_word(key, at / 64) >> (at % 64);
    if (dtype == PAWLI_F32) pawli_add_elements(&blocks[at / each], PAWLI_F32, from, i, n, signs); /* the compiler knows the type */
    else pawli_add_elements(&blocks[at / each], dtype, from, i, n, signs);
    i += n;
  }
}

/* What a device does with its memory: an offset into a pointer or a cl_mem. The first three work in the order of
   pawl_stream or pawl_queue, and the copies have finished when they return. */
static void pawli_copy_out(void *host, const void *memory, size_t offset, size_t bytes);
static void pawli_copy_in(void *memory, size_t offset, const void *host, size_t bytes);
static void pawli_poison_device(void *memory, size_t bytes, uint64_t seed);
static void pawli_draw_device(const pawli_spec *s, void *memory, size_t count, uint64_t seed);
static void pawli_warm_device(const void *memory, size_t bytes); /* brings it into the cache */
static void *pawli_device_room(size_t bytes);
static void pawli_device_copy(void *to, const void *from, size_t bytes);
static void pawli_device_drop(void *room);
static void pawli_device_free(pawli_block *b);
static char *pawli_scratch(size_t bytes);
static void pawli_wait(void);     /* for what a run launched where it should */
static void pawli_wait_all(void); /* for everything, wherever it was launched */

/* Adds memory to the set that is being filled: bytes for the user, behind a random start. */
static pawli_block *pawli_add_block(size_t bytes, size_t align, size_t *room) {
  if (!pawli.filling) pawl_fail("pawl_alloc is for setup: memory in a run would be measured");
  const size_t extra = 2 * PAWLI_ZONE + PAWLI_PLACES * align;
  pawli_block *b = bytes < SIZE_MAX - extra ? (pawli_block *)calloc(1, sizeof *b) : NULL;
  if (!b) pawl_fail_as("no_memory", "no memory: cannot allocate %llu bytes", (unsigned long long)bytes);
  b->bytes = bytes;
  b->seed = pawl_random(&pawli.places);
  b->origin = PAWLI_ZONE + (size_t)(pawl_random(&pawli.places) % PAWLI_PLACES) * align;
  b->next = pawli.filling->blocks;
  pawli.filling->blocks = b;
  *room = bytes + extra;
  return b;
}

PAWL_API void *pawl_alloc(size_t bytes) {
  size_t room;
  pawli_block *b = pawli_add_block(bytes, 64, &room);
  if (posix_memalign(&b->host, 64, room) != 0) {
    b->host = NULL;
    pawl_fail_as("no_memory", "no memory: cannot allocate %llu bytes", (unsigned long long)bytes);
  }
  b->memory = (char *)b->host + b->origin;
  pawli_poison_host((char *)b->memory - PAWLI_ZONE, PAWLI_ZONE, b->seed);
  pawli_poison_host((char *)b->memory + bytes, PAWLI_ZONE, b->seed);
  return b->memory;
}

static __attribute__((unused)) void pawli_guard_device(pawli_block *b) {
  char zone[PAWLI_ZONE];
  pawli_poison_host(zone, sizeof zone, b->seed);
  pawli_copy_in(b->device, b->origin - PAWLI_ZONE, zone, PAWLI_ZONE);
  pawli_copy_in(b->device, b->origin + b->bytes, zone, PAWLI_ZONE);
}

static void pawli_free_set(pawli_set *set) {
  while (set->blocks) {
    pawli_block *b = set->blocks;
    set->blocks = b->next;
    if (b->device) pawli_device_free(b);
    free(b->host);
    free(b);
  }
  while (set->arguments) {
    pawli_argument *a = set->arguments;
    set->arguments = a->next;
    if (a->original) pawli_device_drop(a->original);
    free(a->before);
    free(a->copy);
    free(a);
  }
}

/* ---- reading JSON: text is NUL-terminated; pawli_skip accepts it before anything else looks into it ------------ */

static const char *pawli_space(const char *s) {
  while (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n') s++;
  return s;
}

static int pawli_digit(char c) { return c >= '0' && c <= '9'; }

static int pawli_hex(const char *s) { /* four digits, or -1 */
  int i, value = 0;
  for (i = 0; i < 4; i++) {
    const char c = s[i];
    if (pawli_digit(c)) value = value * 16 + c - '0';
    else if (c >= 'a' && c <= 'f') value = value * 16 + c - 'a' + 10;
    else if (c >= 'A' && c <= 'F') value = value * 16 + c - 'A' + 10;
    else return -1;
  }
  return value;
}

/* Each skip function returns the first character after the value, or NULL where the text is not JSON. */
static const char *pawli_skip_string(const char *s) {
  if (*s++ != '"') return NULL;
  for (; *s != '"'; s++) {
    if ((unsigned char)*s < 0x20) return NULL;
    if (*s != '\\') continue;
    s++;
    if (*s == 'u' && pawli_hex(s + 1) >= 0) s += 4;
    else if (!*s || !strchr("\"\\/bfnrt", *s)) return NULL;
  }
  return s + 1;
}

static const char *pawli_skip_number(const char *s) {
  if (*s == '-') s++;
  if (!pawli_digit(*s)) return NULL;
  if (*s == '0') s++;
  else while (pawli_digit(*s)) s++;
  if (*s == '.') {
    if (!pawli_digit(*++s)) return NULL;
    while (pawli_digit(*s)) s++;
  }
  if (*s == 'e' || *s == 'E') {
    s++;
    if (*s == '+' || *s == '-') s++;
    if (!pawli_digit(*s)) return NULL;
    while (pawli_digit(*s)) s++;
  }
  return s;
}

static const char *pawli_skip(const char *s, int depth) {
  if (depth > PAWLI_DEPTH) return NULL;
  if (*s == '"') return pawli_skip_string(s);
  if (strncmp(s, "true", 4) == 0 || strncmp(s, "null", 4) == 0) return s + 4;
  if (strncmp(s, "false", 5) == 0) return s + 5;
  if (*s != '{' && *s != '[') return pawli_skip_number(s);
  const char open = *s, close = open == '{' ? '}' : ']';
  s = pawli_space(s + 1);
  if (*s == close) return s + 1;
  for (;;) {
    if (open == '{') {
      if (!(s = pawli_skip_string(s))) return NULL;
      s = pawli_space(s);
      if (*s != ':') return NULL;
      s = pawli_space(s + 1);
    }
    if (!(s = pawli_skip(s, depth + 1))) return NULL;
    s = pawli_space(s);
    if (*s == close) return s + 1;
    if (*s != ',') return NULL;
    s = pawli_space(s + 1);
  }
}

static size_t pawli_utf8(unsigned c, char *to) {
  if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd; /* NUL would end the string */
  if (c < 0x80) return to[0] = (char)c, 1;
  if (c < 0x800) return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 63)), 2;
  to[1] = (char)(0x80 | (c >> 6 & 63));
  to[2] = (char)(0x80 | (c & 63));
  if (c < 0x10000) return to[0] = (char)(0xe0 | c >> 12), 3;
  to[3] = to[2];
  to[2] = to[1];
  to[1] = (char)(0x80 | (c >> 12 & 63));
  return to[0] = (char)(0xf0 | c >> 18), 4;
}

/* Decodes a JSON string into to, which has room for the whole text of it: decoding never makes it longer. */
static void pawli_decode(const char *s, char *to) {
  static const char escapes[] = "b\bf\fn\nr\rt\t";
  for (s++; *s != '"'; s++) {
    if (*s != '\\') {
      *to++ = *s;
    } else if (*++s != 'u') {
      const char *found = strchr(escapes, *s);
      *to++ = found ? found[1] : *s;
    } else {
      unsigned c = (unsigned)pawli_hex(s + 1);
      s += 4;
      if (c >= 0xd800 && c < 0xdc00 && s[1] == '\\' && s[2] == 'u') {
        const int low = pawli_hex(s + 3);
        if (low >= 0xdc00 && low < 0xe000) c = 0x10000 + ((c - 0xd800) << 10) + ((unsigned)low - 0xdc00), s += 6;
      }
      to += pawli_utf8(c, to);
    }
  }
  *to = 0;
}

/* Compares a JSON string with plain text. */
static int pawli_is(const char *json, const char *text) {
  char plain[256];
  if (!json || *json != '"' || pawli_skip_string(json) - json > (ptrdiff_t)sizeof plain) return 0;
  pawli_decode(json, plain);
  return strcmp(plain, text) == 0;
}

/* The value of a member of a JSON object, NULL when there is none. */
static const char *pawli_member(const char *object, const char *name) {
  const char *s = object && *object == '{' ? pawli_space(object + 1) : "";
  while (*s == '"') {
    const char *key = s, *value;
    s = pawli_space(pawli_skip_string(s));
    value = pawli_space(s + 1);
    if (pawli_is(key, name)) return value;
    s = pawli_space(pawli_skip(value, 0));
    if (*s == ',') s = pawli_space(s + 1);
  }
  return NULL;
}

/* The members of a JSON object, one after the other: s begins as the object. Returns 0 at the end. */
static int pawli_next_member(const char **s, const char **key, const char **value) {
  const char *at = **s == '{' || **s == ',' ? pawli_space(*s + 1) : *s;
  if (*at != '"') return 0;
  *key = at;
  *value = pawli_space(pawli_space(pawli_skip_string(at)) + 1);
  *s = pawli_space(pawli_skip(*value, 0));
  return 1;
}

/* The values of a JSON list, likewise. */
static int pawli_next_value(const char **s, const char **value) {
  const char *at = **s == '[' || **s == ',' ? pawli_space(*s + 1) : *s;
  if (!*at || *at == ']' || *at == '}') return 0;
  *value = at;
  *s = pawli_space(pawli_skip(at, 0));
  return 1;
}

/* Reads a JSON number; 0 when it is none, too long or not finite. */
static int pawli_number(const char *s, double *value) {
  char plain[64], *dot;
  const char *end = s && (*s == '-' || pawli_digit(*s)) ? pawli_skip_number(s) : NULL;
  if (!end || end - s >= (ptrdiff_t)sizeof plain) return 0;
  memcpy(plain, s, (size_t)(end - s));
  plain[end - s] = 0;
  if ((dot = strchr(plain, '.'))) *dot = *localeconv()->decimal_point; /* strtod heeds the program's locale */
  *value = strtod(plain, NULL);
  return *value < 1e300 && *value > -1e300;
}

/* A member that is a number of at least 0; otherwise when there is none. */
static double pawli_amount(const char *object, const char *name, double otherwise) {
  const char *s = pawli_member(object, name);
  double value = otherwise;
  if (s && (!pawli_number(s, &value) || value < 0))
    pawl_fail_as("bad_params", "%s is not a number of at least 0", name);
  return value;
}

/* A bounded piece of JSON for a message. */
static const char *pawli_quote(const char *json) {
  static char text[64];
  if (!json) return "nothing";
  snprintf(text, sizeof text, "%.*s", (int)(pawli_skip(json, 0) - json), json);
  return text;
}

/* ---- parameters ------------------------------------------------------------------------------------------------ */

static const char *pawli_param(const pawl_params *p, const char *name) {
  const char *s = pawli_member(p->json, name);
  if (!s) pawl_fail_as("bad_params", "the parameter %s is missing", name);
  return s;
}

PAWL_API long long pawl_int(const pawl_params *p, const char *name) {
  const char *s = pawli_param(p, name);
  double value;
  if (pawli_number(s, &value)) {
    char *end;
    errno = 0;
    const long long whole = strtoll(s, &end, 10);
    if (end == pawli_skip_number(s) && errno == 0) return whole;
    /* 5e3 and 5000.0 are whole numbers too */
    if (value > -9e15 && value < 9e15 && value == (double)(long long)value) return (long long)value;
  }
  pawl_fail_as("bad_params", "the parameter %s is not a whole number of 64 bits", name);
}

PAWL_API double pawl_float(const pawl_params *p, const char *name) {
  double value;
  if (!pawli_number(pawli_param(p, name), &value)) pawl_fail_as("bad_params", "the parameter %s is not a number", name);
  return value;
}

PAWL_API const char *pawl_string(const pawl_params *p, const char *name) {
  const char *s = pawli_param(p, name);
  if (*s != '"') pawl_fail_as("bad_params", "the parameter %s is not a string", name);
  char *plain = (char *)pawl_alloc((size_t)(pawli_skip_string(s) - s));
  pawli_decode(s, plain);
  return plain;
}

PAWL_API int pawl_bool(const pawl_params *p, const char *name) {
  const char *s = pawli_param(p, name);
  if (*s != 't' && *s != 'f') pawl_fail_as("bad_params", "the parameter %s is not true or false", name);
  return *s == 't';
}

PAWL_API int pawl_has(const pawl_params *p, const char *name) { return pawli_member(p->json, name) != NULL; }

/* ---- writing JSON ---------------------------------------------------------------------------------------------- */

static char *pawli_grow(char *at, size_t *room, size_t need) {
  if (need <= *room) return at;
  while (*room < need) *room = *room ? *room * 2 : 4096;
  at = (char *)realloc(at, *room);
  if (!at) pawli_die("no memory for a message");
  return at;
}

/* Appends to the message; of the formats of printf only those that heed no locale: no %f, %g and the like. */
static __attribute__((format(printf, 1, 2))) void pawli_put(const char *format, ...) {
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(NULL, 0, format, values);
  va_end(values);
  pawli.text = pawli_grow(pawli.text, &pawli.text_room, pawli.text_length + (size_t)length + 1);
  va_start(values, format);
  vsnprintf(pawli.text + pawli.text_length, (size_t)length + 1, format, values);
  va_end(values);
  pawli.text_length += (size_t)length;
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static int pawli_utf8_length(const char *s) {
  static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char first = (unsigned char)*s;
  const int length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  unsigned c = first & (0xffu >> (length + 1));
  int i;
  if (length < 2) return length;
  for (i = 1; i < length; i++) {
    if (((unsigned char)s[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | ((unsigned char)s[i] & 63);
  }
  return c >= least[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? length : 0;
}

static void pawli_put_string(const char *s) {
  pawli_put("\"");
  while (*s) {
    const int length = pawli_utf8_length(s);
    if (*s == '"' || *s == '\\') pawli_put("\\%c", *s);
    else if ((unsigned char)*s < 0x20) pawli_put("\\u%04x", *s);
    else if (!length) pawli_put("\\ufffd"); /* a message of the user's may be anything */
    else pawli_put("%.*s", length, s);
    s += length ? length : 1;
  }
  pawli_put("\"");
}

static void pawli_put_fact(const char *name, const char *value) {
  pawli_put(",\"%s\":", name);
  pawli_put_string(value);
}

static void pawli_put_number(double value) {
  const unsigned long long thousandths = (unsigned long long)(value * 1000 + 0.5);
  pawli_put("%llu", thousandths / 1000);
  if (thousandths % 1000) pawli_put(".%03llu", thousandths % 1000);
}

static void pawli_put_numbers(const char *name, const double *values, int count) {
  int i;
  pawli_put(",\"%s\":[", name);
  for (i = 0; i < count; i++) {
    if (i) pawli_put(",");
    pawli_put_number(values[i]);
  }
  pawli_put("]");
}

/* A number as it is, whatever the locale takes for a point. */
static void pawli_put_double(double value) {
  char text[40], *to = text;
  const char *from = text;
  snprintf(text, sizeof text, "%.17g", value);
  for (; *from; from++) {
    if (strchr("0123456789+-e", *from)) *to++ = *from;
    else if (to == text || to[-1] != '.') *to++ = '.';
  }
  *to = 0;
  pawli_put("%s", text);
}

static pawli_metric *pawli_find_metric(const char *name, const char *unit, int higher) {
  pawli_metric *m = pawli.metrics;
  for (; m < pawli.metrics + pawli.metric_count; m++)
    if (strcmp(m->name, name) == 0) {
      if (m->higher != higher || strcmp(m->unit, unit) != 0) pawl_fail("%s has two units or directions", name);
      return m;
    }
  if (pawli.metric_count == PAWLI_METRICS) pawl_fail("more than %d metrics are reported", (int)PAWLI_METRICS);
  pawli.metric_count++;
  memcpy(m->name, name, strlen(name) + 1);
  memcpy(m->unit, unit, strlen(unit) + 1);
  m->higher = higher;
  m->count = 0;
  return m;
}

PAWL_API void pawl_report(const char *metric, double value, const char *unit, const char *better) {
  const int higher = strcmp(better, "higher") == 0;
  uint64_t bits;
  pawli_metric *m;
  memcpy(&bits, &value, sizeof bits); /* of a NaN or an infinity, all bits of the exponent are set: also with -ffast-math */
  if ((bits >> 52 & 0x7ff) == 0x7ff) pawl_fail("the value of %s must be finite", metric);
  if (!higher && strcmp(better, "lower") != 0) pawl_fail("better of %s must be lower or higher, not %s", metric, better);
  if (!*metric || strlen(metric) >= sizeof m->name) pawl_fail("%s: the name of a metric has 1 to %d bytes", metric, (int)sizeof m->name - 1);
  if (!*unit || strlen(unit) >= sizeof m->unit) pawl_fail("%s: a unit has 1 to %d bytes", metric, (int)sizeof m->unit - 1);
  if (!pawli.reporting) return;
  if (++pawli.reports > (size_t)PAWLI_MOST_REPORTS) pawl_fail("%s is reported too often: once a run, or once in setup", metric);
  m = pawli_find_metric(metric, unit, higher);
  m->values = (double *)(void *)pawli_grow((char *)m->values, &m->room, (m->count + 1) * sizeof value);
  m->values[m->count++] = value;
}

static void pawli_forget_reports(void) {
  pawli.metric_count = 0;
  pawli.reports = 0;
}

static void pawli_put_reports(void) {
  const pawli_metric *m = pawli.metrics;
  size_t i;
  for (; m < pawli.metrics + pawli.metric_count; m++) {
    pawli_put("%s{\"metric\":", m == pawli.metrics ? ",\"values\":[" : ",");
    pawli_put_string(m->name);
    pawli_put_fact("unit", m->unit);
    pawli_put_fact("better", m->higher ? "higher" : "lower");
    for (i = 0; i < m->count; i++) {
      pawli_put("%s", i ? "," : ",\"samples\":[");
      pawli_put_double(m->values[i]);
    }
    pawli_put("]}");
  }
  if (pawli.metric_count) pawli_put("]");
  pawli_forget_reports();
}

/* Begins a reply to the request that is being answered. */
static void pawli_begin(const char *op) {
  const char *const id = pawli_member(pawli.asked, "id");
  pawli.text_length = 0;
  pawli_put("{\"id\":%.*s,\"op\":\"%s\"", (int)(pawli_skip_number(id) - id), id, op);
}

static void pawli_send(void) {
  size_t done = 0;
  pawli_put("}\n");
  while (done < pawli.text_length) {
    const ssize_t n = write(pawli.out, pawli.text + done, pawli.text_length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1); /* pawl is gone */
    done += (size_t)n;
  }
}

/* ---- clocks ---------------------------------------------------------------------------------------------------- */

static inline double pawli_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The step that two times share: their greatest common divisor in whole nanoseconds, or one of them if the other is 0. */
static inline double pawli_common_step(double a, double b) {
  uint64_t x = a > 0 ? (uint64_t)(a + 0.5) : 0, y = b > 0 ? (uint64_t)(b + 0.5) : 0;
  while (y) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return (double)x;
}

/* The shortest sample that a timer can read: so many of its steps that one of them hardly counts. */
static inline double pawli_shortest_ns(double shortest) {
  const double steps = pawli.timer == PAWLI_TIMER_DEVICE ? 200 : 20; /* some CPU clocks step by milliseconds */
  return shortest > steps * pawli.quantum_ns ? shortest : steps * pawli.quantum_ns;
}

/* The step of a host clock. Some systems count CPU time in ticks of milliseconds and do not say so. */
static double pawli_step_ns(clockid_t clock) {
  struct timespec t;
  double least = 1e18;
  int i;
  for (i = 0; i < 5; i++) {
    const double from = pawli_clock(clock), limit = pawli_clock(CLOCK_MONOTONIC) + 50e6;
    double to = from;
    while (to == from && pawli_clock(CLOCK_MONOTONIC) < limit) to = pawli_clock(clock);
    if (to > from && to - from < least) least = to - from;
  }
  clock_getres(clock, &t);
  const double claimed = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
  if (least > 100e3 && least > claimed) return least; /* below that, it is the cost of reading the clock */
  return claimed > 1 ? claimed : 1;
}

/* ---- records of kernels ---------------------------------------------------------------------------------------- */

#if defined(__CUDACC__) || defined(PAWLI_RECORDS) /* the latter is pawl's launcher */
#include <dlfcn.h>

/* The timer "kernel": when each kernel began and ended on the device, by CUPTI's activity records. The gaps between
   launches and the events around them, about 2 us, are not in it: much of a kernel that takes less than 20. It is for
   runs of one kernel: of what else a run does, the time is not known here.

   CUPTI is opened when the harness runs. Without it there is no such timer. */
enum { PAWLI_COPIES = 1, PAWLI_FILLS = 2, PAWLI_KERNELS = 10, PAWLI_FLUSH_ALL = 1, PAWLI_RECORD_BYTES = 1 << 20 };

typedef struct pawli_record { /* how CUpti_ActivityKernel4 and all later ones begin */
  uint32_t kind;
  char config[12];
  uint64_t start, end, completed; /* nanoseconds */
  uint32_t ids[3], sizes[8], local[2], correlation;
  int64_t grid;
  const char *name;
} pawli_record;
typedef char pawli_record_is_cuptis[offsetof(pawli_record, start) == 16 && offsetof(pawli_record, name) == 104 ? 1 : -1];

static struct {
  int (*subscribe)(void (*)(uint8_t **, size_t *, size_t *), void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
  int (*enable)(int);
  int (*disable)(int);
  int (*flush)(uint32_t);
  int (*next)(uint8_t *, size_t, void **);
  int (*is_run)(const char *kernel); /* else it is pawl's own */
  int looked, there, subscribed, on;
  uint64_t count, own, ns, first, last; /* since pawli_forget_records */
  double step;                          /* that the times of all kernels share */
} pawli_records;

static int pawli_records_there(void) {
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", NULL};
  static const struct {
    void **to;
    const char *name;
  } entries[] = {
      {(void **)&pawli_records.subscribe, "cuptiActivityRegisterCallbacks"},
      {(void **)&pawli_records.enable, "cuptiActivityEnable"},
      {(void **)&pawli_records.disable, "cuptiActivityDisable"},
      {(void **)&pawli_records.flush, "cuptiActivityFlushAll"},
      {(void **)&pawli_records.next, "cuptiActivityGetNextRecord"},
  };
  void *library = NULL;
  size_t i;
  if (pawli_records.looked) return pawli_records.there;
  pawli_records.looked = 1;
  for (i = 0; names[i] && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  pawli_records.there = library != NULL;
  for (i = 0; library && i < sizeof entries / sizeof *entries; i++)
    if (!(*entries[i].to = dlsym(library, entries[i].name))) pawli_records.there = 0;
  return pawli_records.there;
}

static void pawli_must_record(int error) {
  if (error) pawl_fail("recording kernels: CUPTI error %d", error);
}

static void pawli_give_room(uint8_t **to, size_t *bytes, size_t *most) {
  *to = (uint8_t *)malloc(PAWLI_RECORD_BYTES);
  *bytes = *to ? PAWLI_RECORD_BYTES : 0;
  *most = 0;
}

/* Adds up the runs. CUPTI calls this from a thread of its own, and the flush waits for it. */
static void pawli_take_records(void *context, uint32_t stream, uint8_t *from, size_t room, size_t bytes) {
  void *record = NULL;
  (void)context, (void)stream, (void)room;
  while (bytes && pawli_records.next(from, bytes, &record) == 0) {
    const pawli_record *const k = (const pawli_record *)record;
    if (k->kind == PAWLI_COPIES || k->kind == PAWLI_FILLS) pawli_records.count++;
    if (k->kind != PAWLI_KERNELS || k->end <= k->start || !k->name) continue;
    pawli_records.step = pawli_common_step(pawli_records.step, (double)(k->end - k->start));
    if (!pawli_records.is_run(k->name)) {
      pawli_records.own++;
      continue;
    }
    if (!pawli_records.ns || k->start < pawli_records.first) pawli_records.first = k->start;
    if (!pawli_records.ns || k->end > pawli_records.last) pawli_records.last = k->end;
    pawli_records.ns += k->end - k->start;
    pawli_records.count++;
  }
  free(from);
}

static void pawli_record_kernels(int on, int (*is_run)(const char *)) {
  static const int kinds[] = {PAWLI_COPIES, PAWLI_FILLS, PAWLI_KERNELS};
  size_t i;
  if (pawli_records.on == on) return;
  pawli_records.is_run = is_run;
  if (!pawli_records.subscribed) pawli_must_record(pawli_records.subscribe(pawli_give_room, pawli_take_records));
  pawli_records.subscribed = 1;
  for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
    pawli_must_record(on ? pawli_records.enable(kinds[i]) : pawli_records.disable(kinds[i]));
  pawli_records.on = on;
}

static void pawli_forget_records(void) {
  pawli_must_record(pawli_records.flush(PAWLI_FLUSH_ALL));
  pawli_records.count = pawli_records.own = pawli_records.ns = 0;
}

/* The time of so many runs. own is how many kernels of pawl are between them: a kernel must not pass for one. */
static double pawli_recorded_ns(int runs, int own) {
  pawli_must_record(pawli_records.flush(0));
  if (pawli_records.count < (uint64_t)runs || pawli_records.own < (uint64_t)own) pawli_must_record(pawli_records.flush(PAWLI_FLUSH_ALL));
  if (pawli_records.count != (uint64_t)runs || pawli_records.own != (uint64_t)own)
    pawl_fail("CUPTI recorded %llu kernels and copies in %d runs, and %llu of pawl: the timer kernel is for runs of one kernel",
              (unsigned long long)pawli_records.count, runs, (unsigned long long)pawli_records.own);
  if (pawli_records.last - pawli_records.first < pawli_records.ns)
    pawl_fail("kernels of a sample overlap, and so do their records: use the timer device");
  return (double)pawli_records.ns;
}
#endif

/* ---- the host -------------------------------------------------------------------------------------------------- */

#if !defined(PAWLI_GPU)
static size_t pawli_host_cache_bytes(void) {
  size_t most = 0;
  int i;
  for (i = 0; i < 8; i++) {
    char path[80], unit = 0;
    unsigned long size = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (fscanf(file, "%lu%c", &size, &unit) == 2) size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
    fclose(file);
    if (size > most) most = size;
  }
  return most ? most : (size_t)32 << 20;
}
#endif

#if !defined(PAWLI_GPU) && !defined(PAWL_OPENCL)

#define PAWLI_FIRST_TIMER PAWLI_TIMER_WALL
enum { PAWLI_MOST_RUNS = 1 << 20 }; /* of a batch */

static void pawli_copy_out(void *host, const void *memory, size_t offset, size_t bytes) {
  memcpy(host, (const char *)memory + offset, bytes);
}
static void pawli_copy_in(void *memory, size_t offset, const void *host, size_t bytes) {
  memcpy((char *)memory + offset, host, bytes);
}
static void pawli_poison_device(void *memory, size_t bytes, uint64_t seed) { pawli_poison_host(memory, bytes, seed); }
static void pawli_draw_device(const pawli_spec *s, void *memory, size_t count, uint64_t seed) { pawli_draw(s, seed, memory, count); }
static void pawli_warm_device(const void *memory, size_t bytes) { (void)memory, (void)bytes; }
static void *pawli_device_room(size_t bytes) { return (void)bytes, (void *)NULL; } /* all memory is the host's */
static void pawli_device_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static void pawli_device_drop(void *room) { (void)room; }
static void pawli_device_free(pawli_block *b) { (void)b; }
static void pawli_wait(void) {}
static void pawli_wait_all(void) {}
static void pawli_watch(int on) { (void)on; } /* tools find pawl_profiled by its name */
static void pawli_put_launches(void) {}

static void pawli_open(const char *device) {
  (void)device;
  snprintf(pawli.device_name, sizeof pawli.device_name, "host");
#if defined(__clang__) /* its version begins with its name */
  snprintf(pawli.runtime, sizeof pawli.runtime, "%s", __VERSION__);
#elif defined(__GNUC__)
  snprintf(pawli.runtime, sizeof pawli.runtime, "gcc %s", __VERSION__);
#endif
}

static size_t pawli_cache_bytes(void) { return pawli_host_cache_bytes(); }

/* Reads twice the last-level cache. It does not write: dirty lines would have to leave the cache during the run. */
static void pawli_flush(void) {
  static const size_t most = (size_t)1 << 30;
  static uint64_t *data;
  static size_t count;
  static volatile uint64_t sink;
  uint64_t sum = 0;
  size_t i;
  if (!data) {
    pawl_rng rng = {1};
    size_t bytes = 2 * pawli_host_cache_bytes();
    if (bytes > most) bytes = most;
    if (!(data = (uint64_t *)malloc(bytes))) pawl_fail_as("no_memory", "no memory: to sweep the cache");
    count = bytes / sizeof *data;
    for (i = 0; i < count; i++) data[i] = pawl_random(&rng); /* untouched pages would all be one page */
  }
  for (i = 0; i < count; i += 8) sum += data[i];
  sink = sum;
  (void)sink;
}

static void pawli_abandon(void) {}
static inline void pawli_before(int hold) { (void)hold; }
static inline void pawli_after(void) {}
static inline int pawli_read(pawli_reading *r) {
  (void)r;
  return 1;
}

/* The calibration kernel: two chains of dependent operations, about 200 us. A change of its time is a change of the
   machine, so its code must not depend on the user's flags: there is nothing to vectorise, to contract or to fold. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline, noclone, optimize("O2", "no-fast-math")))
#else
__attribute__((noinline))
#endif
static void pawli_calibrate(void *state, pawl_launch *l) {
  static volatile uint64_t seed = 1, sink;
  uint64_t x = seed;
  double d = (double)x;
  int i;
  (void)state;
  (void)l;
  for (i = 0; i < 34000; i++) {
    x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    d = 1.0 / (d + 1.0);
  }
  sink = x + (uint64_t)(d * 1e6);
  (void)sink;
}
static void *pawli_calibration_setup(const pawl_params *p, pawl_rng *rng) { return (void)p, (void)rng, (void *)NULL; }
static void pawli_calibration_teardown(void *state) { (void)state; }
#endif

/* ---- CUDA and HIP ---------------------------------------------------------------------------------------------- */

#if defined(PAWLI_GPU)

#define PAWLI_FIRST_TIMER PAWLI_TIMER_DEVICE
#if defined(__CUDACC__) /* how long launches are held back at most: about a quarter of a second */
#define PAWLI_CYCLES() clock64()
#define PAWLI_HOLD_CYCLES 500000000LL
#else /* HIP's clock64() has 20 bits on some devices; wall_clock64() counts at 100 MHz and does not wrap */
#define PAWLI_HOLD_CYCLES 25000000LL
#if defined(__HIP_DEVICE_COMPILE__)
#define PAWLI_CYCLES() wall_clock64()
#else
#define PAWLI_CYCLES() 0LL /* compiling for the host */
#endif
#endif
enum { PAWLI_MOST_RUNS = 64, PAWLI_MOST_UNITS = 1024 }; /* a batch must fit the launch queue, or launching blocks */
enum { PAWLI_STEP_PAIRS = 200 };                        /* event times from which their step is found */

#ifndef PAWLI_LAUNCH /* the virtual GPU has its own */
#define PAWLI_LAUNCH(kernel, grid, block, stream) kernel<<<grid, block, 0, stream>>>
#define PAWLI_REGISTER64(name, value) asm volatile("mov.u64 %0, %%" name ";" : "=l"(value))
#define PAWLI_REGISTER32(name, value) asm volatile("mov.u32 %0, %%" name ";" : "=r"(value))
#endif

typedef struct pawli_stamp { /* when a multiprocessor was seen, on two clocks */
  unsigned long long cycles, ns;
} pawli_stamp;

typedef struct pawli_mapped { /* memory that host and device both see */
  volatile int go, gave_up;
  pawli_stamp stamps[2][PAWLI_MOST_UNITS];
} pawli_mapped;

static struct {
  PAWLI_GPU(Event_t) start, stop;
  pawli_mapped *shared, *shared_on_device;
  unsigned *sweep, *sink;
  size_t cache_bytes;
  int units, held, persisting; /* persisting: the cache has lines that stay */
} pawli_gpu;

/* Whether a kernel failed in a way after which every further call fails. Nothing may still be held back. */
static int pawli_is_lost(void) {
  if (pawli_gpu.shared) pawli_gpu.shared->go = 1;
  return PAWLI_GPU(DeviceSynchronize)() != PAWLI_GPU(Success);
}

static void pawli_check(PAWLI_GPU(Error_t) error, const char *call) {
  if (error == PAWLI_GPU(Success)) return;
  const char *code = "failed";
  if (error == PAWLI_GPU(ErrorMemoryAllocation)) code = "no_memory";
  if (error == PAWLI_GPU(ErrorNoDevice) || error == PAWLI_GPU(ErrorInsufficientDriver)) code = "no_device";
  (void)PAWLI_GPU(GetLastError)(); /* else the next check reports it again */
  if (strcmp(code, "failed") == 0 && pawli.opened && pawli_is_lost()) code = "lost_device";
  pawl_fail_as(code, "%s: %s (%s)", call, PAWLI_GPU(GetErrorString)(error), PAWLI_GPU(GetErrorName)(error));
}

/* Holds the stream until the host says go. It gives up by itself: else a run that synchronises would wait for ever. */
static __global__ void pawli_hold(pawli_mapped *shared, long long cycles) {
  const long long from = PAWLI_CYCLES();
  while (!shared->go) {
    if (PAWLI_CYCLES() - from > cycles) {
      shared->gave_up = 1;
      return;
    }
  }
}

static __global__ void pawli_sweep(const unsigned *data, size_t count, unsigned *sink) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += stride) sum += data[i];
  if (sum == 1) *sink = sum; /* hardly ever, but the sum must be computed */
}

static __global__ void pawli_scatter(unsigned *data, size_t count) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += stride)
    data[i] = (unsigned)i * 2654435761u;
}

static __global__ void pawli_poison_words(unsigned char *to, size_t bytes, uint64_t seed) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i * 8 < bytes; i += stride) {
    uint64_t word = pawli_poison_word(seed, i);
    if ((size_t)to % 8 == 0 && i * 8 + 8 <= bytes) {
      *(uint64_t *)(to + i * 8) = word;
      continue;
    }
    for (size_t k = i * 8; k < bytes && k < i * 8 + 8; k++, word >>= 8) to[k] = (unsigned char)word;
  }
}

static __global__ void pawli_draw_elements(pawli_spec s, void *to, size_t count, uint64_t seed) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += stride) pawli_draw_one(&s, seed, i, to);
}

static __global__ void pawli_chain(float *out) {
  float x = threadIdx.x * 1e-3f;
  for (int i = 0; i < 4096; i++) x = x * 0.999f + 0.001f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

#if defined(__CUDACC__)
extern "C" cudaError_t cudaProfilerStart(void); /* of cuda_profiler_api.h, which some packages leave out */
extern "C" cudaError_t cudaProfilerStop(void);

/* ncu and nsys look between these two alone when they are told not to profile from the start. Without a tool they do
   nothing; what they return is then nobody's business. */
static void pawli_watch(int on) { (void)(on ? cudaProfilerStart() : cudaProfilerStop()); }

/* Every multiprocessor notes its cycle counter at the moment the global timer, which moves in steps of up to 1 us,
   moves on. Two notes of one multiprocessor give its clock. */
static __global__ void pawli_note(pawli_stamp *stamps) {
  unsigned long long from, now;
  unsigned unit;
  PAWLI_REGISTER32("smid", unit);
  PAWLI_REGISTER64("globaltimer", from);
  do PAWLI_REGISTER64("globaltimer", now);
  while (now == from);
  if (unit < PAWLI_MOST_UNITS) {
    stamps[unit].cycles = (unsigned long long)clock64();
    stamps[unit].ns = now;
  }
}

static int pawli_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median: one multiprocessor that is read at an odd moment must not move it. */
static double pawli_clock_mhz(void) {
  static double mhz[PAWLI_MOST_UNITS];
  const pawli_mapped *m = pawli_gpu.shared;
  int seen = 0;
  for (int i = 0; i < PAWLI_MOST_UNITS; i++) {
    const pawli_stamp a = m->stamps[0][i], b = m->stamps[1][i];
    if (!a.ns || b.ns <= a.ns || b.cycles <= a.cycles) continue; /* not seen by both notes */
    mhz[seen++] = (double)(b.cycles - a.cycles) * 1e3 / (double)(b.ns - a.ns);
  }
  qsort(mhz, (size_t)seen, sizeof *mhz, pawli_compare);
  return seen ? mhz[seen / 2] : 0;
}

static void pawli_choose_device(const char *uuid) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess && *uuid)
    pawl_fail_as("no_device", "CUDA does not see the device %s: %s", uuid, cudaGetErrorString(error));
  pawli_check(error, "looking for a CUDA device");
  if (strncmp(uuid, "GPU-", 4) != 0) return; /* a MIG slice is chosen by CUDA_VISIBLE_DEVICES alone */
  for (int i = 0;; i++) {
    cudaDeviceProp p;
    char name[64] = "GPU";
    if (i == count) pawl_fail_as("no_device", "CUDA does not see the device %s; it sees %d other(s)", uuid, count);
    pawli_check(cudaGetDeviceProperties(&p, i), "cudaGetDeviceProperties");
    for (int k = 0; k < 16; k++) {
      const char *dash = k == 0 || k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "";
      snprintf(name + strlen(name), sizeof name - strlen(name), "%s%02x", dash, (unsigned char)p.uuid.bytes[k]);
    }
    if (strcmp(name, uuid) != 0) continue;
    pawli_check(cudaSetDevice(i), "cudaSetDevice");
    return;
  }
}
#else
static double pawli_clock_mhz(void) { return 0; }
static void pawli_watch(int on) { (void)on; } /* the call of that kind is deprecated in HIP */
static void pawli_choose_device(const char *uuid) { (void)uuid; }
#endif

/* Event times step by about half a microsecond, as documented, and by a whole one on some cards: it is measured, with
   kernels of many lengths between two events. */
static void pawli_measure_step(void) {
  pawli_mapped *const m = pawli_gpu.shared;
  double step = 0;
  m->go = 0;
  for (int i = 0; i < PAWLI_STEP_PAIRS; i++) {
    float ms = 0;
    pawli_check(PAWLI_GPU(EventRecord)(pawli_gpu.start, pawli.launch.stream), "recording an event");
    PAWLI_LAUNCH(pawli_hold, 1, 1, pawli.launch.stream)(pawli_gpu.shared_on_device, 257LL * i);
    pawli_check(PAWLI_GPU(EventRecord)(pawli_gpu.stop, pawli.launch.stream), "recording an event");
    pawli_check(PAWLI_GPU(GetLastError)(), "measuring the step of the device's timer");
    pawli_check(PAWLI_GPU(StreamSynchronize)(pawli.launch.stream), "measuring the step of the device's timer");
    pawli_check(PAWLI_GPU(EventElapsedTime)(&ms, pawli_gpu.start, pawli_gpu.stop), "reading the events");
    step = pawli_common_step(step, ms * 1e6);
  }
  m->gave_up = 0;
  pawli.device_quantum_ns = step > 0 ? step : 500;
}

#if defined(__CUDACC__)
#define PAWLI_HAS_RECORDS pawli_records_there

/* What stands around the runs of a sample is pawl's, by the name that the compiler gave it. */
static int pawli_is_run(const char *kernel) { return !strstr(kernel, "pawli_hold") && !strstr(kernel, "pawli_note"); }

/* Records kernels or no longer. Returns the step of their times. */
static double pawli_set_records(int on) {
  pawli_record_kernels(on, pawli_is_run);
  if (!on) return 0;
  pawli_measure_step();
  pawli_forget_records();
  return pawli_records.step > 0 ? pawli_records.step : 1;
}
#endif

static void pawli_open(const char *device) {
  const char *json = pawli_member(device, "uuid");
  char uuid[80] = "";
  int version = 0, index = 0;
  if (json && *json == '"' && pawli_skip_string(json) - json < (ptrdiff_t)sizeof uuid) pawli_decode(json, uuid);
#if defined(__CUDACC__)
  if (*uuid) setenv("CUDA_VISIBLE_DEVICES", uuid, 0); /* the user's own choice stays */
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);          /* else the first run of a kernel loads it */
  cudaDeviceProp p;
#else
  if (*uuid) setenv("ROCR_VISIBLE_DEVICES", uuid, 0);
  hipDeviceProp_t p;
#endif
  pawli_choose_device(uuid);
  pawli_check(PAWLI_GPU(GetDevice)(&index), "looking for a device");
  pawli_check(PAWLI_GPU(GetDeviceProperties)(&p, index), "reading the device's properties");
  pawli_check(PAWLI_GPU(RuntimeGetVersion)(&version), "reading the runtime's version");
#if defined(__CUDACC__)
  snprintf(pawli.runtime, sizeof pawli.runtime, "CUDA %d.%d", version / 1000, version % 1000 / 10);
#else
  snprintf(pawli.runtime, sizeof pawli.runtime, "HIP %d.%d", version / 10000000, version / 100000 % 100);
#endif
  snprintf(pawli.device_name, sizeof pawli.device_name, "%s", p.name);
  pawli_gpu.units = p.multiProcessorCount;
#if defined(__CUDACC__)
  pawli_gpu.cache_bytes = p.l2CacheSize > 0 ? (size_t)p.l2CacheSize : (size_t)64 << 20;
  pawli_gpu.persisting = p.persistingL2CacheMaxSize > 0;
#else /* HIP tells the L2 cache of one die only, and nothing of the Infinity Cache of 256 MB behind it */
  pawli_gpu.cache_bytes = (size_t)256 << 20;
#endif
  /* Not a non-blocking stream: a run that forgets pawl_stream is then still ordered with the events. */
  pawli_check(PAWLI_GPU(StreamCreate)(&pawli.launch.stream), "creating a stream");
  pawli_check(PAWLI_GPU(EventCreate)(&pawli_gpu.start), "creating an event");
  pawli_check(PAWLI_GPU(EventCreate)(&pawli_gpu.stop), "creating an event");
  void *shared = NULL, *on_device = NULL;
#if defined(__CUDACC__)
  pawli_check(cudaHostAlloc(&shared, sizeof(pawli_mapped), cudaHostAllocMapped), "mapping host memory");
#else
  pawli_check(hipHostMalloc(&shared, sizeof(pawli_mapped), hipHostMallocMapped), "mapping host memory");
#endif
  pawli_check(PAWLI_GPU(HostGetDevicePointer)(&on_device, shared, 0), "mapping host memory");
  memset(shared, 0, sizeof(pawli_mapped));
  pawli_gpu.shared = (pawli_mapped *)shared;
  pawli_gpu.shared_on_device = (pawli_mapped *)on_device;
  void *sink = NULL;
  pawli_check(PAWLI_GPU(Malloc)(&sink, sizeof(unsigned)), "allocating device memory");
  pawli_gpu.sink = (unsigned *)sink;
  pawli_measure_step();
}

PAWL_API PAWLI_GPU(Stream_t) pawl_stream(const pawl_launch *l) { return l ? l->stream : pawli.launch.stream; }

/* On the own stream: a plain copy would wait for other streams too, and hide what goes on there. */
static void pawli_copy_out(void *host, const void *memory, size_t offset, size_t bytes) {
  pawli_check(PAWLI_GPU(MemcpyAsync)(host, (const char *)memory + offset, bytes, PAWLI_GPU(MemcpyDeviceToHost),
                                     pawli.launch.stream), "reading device memory");
  pawli_check(PAWLI_GPU(StreamSynchronize)(pawli.launch.stream), "reading device memory");
}

static void pawli_copy_in(void *memory, size_t offset, const void *host, size_t bytes) {
  pawli_check(PAWLI_GPU(MemcpyAsync)((char *)memory + offset, host, bytes, PAWLI_GPU(MemcpyHostToDevice),
                                     pawli.launch.stream), "writing device memory");
  pawli_check(PAWLI_GPU(StreamSynchronize)(pawli.launch.stream), "writing device memory");
}

static void pawli_poison_device(void *memory, size_t bytes, uint64_t seed) {
  const int grid = bytes / 2048 < 4096 ? (int)(bytes / 2048) + 1 : 4096;
  PAWLI_LAUNCH(pawli_poison_words, grid, 256, pawli.launch.stream)((unsigned char *)memory, bytes, seed);
}

static int pawli_grid(size_t count) { return count / 1024 < 4096 ? (int)(count / 1024) + 1 : 4096; }

static void pawli_draw_device(const pawli_spec *s, void *memory, size_t count, uint64_t seed) {
  PAWLI_LAUNCH(pawli_draw_elements, pawli_grid(count), 256, pawli.launch.stream)(*s, memory, count, seed);
}

static void *pawli_device_room(size_t bytes) {
  void *room = NULL;
  pawli_check(PAWLI_GPU(Malloc)(&room, bytes), "allocating device memory");
  return room;
}

static void pawli_device_copy(void *to, const void *from, size_t bytes) {
  pawli_check(PAWLI_GPU(MemcpyAsync)(to, from, bytes, PAWLI_GPU(MemcpyDeviceToDevice), pawli.launch.stream),
              "copying device memory");
}

/* A failure is forgotten: the next case is not to blame for it. */
static void pawli_device_drop(void *room) {
  if (PAWLI_GPU(Free)(room) != PAWLI_GPU(Success)) (void)PAWLI_GPU(GetLastError)();
}

static void pawli_wait(void) {
  pawli_check(PAWLI_GPU(GetLastError)(), "launching a run");
  pawli_check(PAWLI_GPU(StreamSynchronize)(pawli.launch.stream), "waiting for a run");
}

static void pawli_wait_all(void) { pawli_check(PAWLI_GPU(DeviceSynchronize)(), "waiting for the device"); }
static void pawli_put_launches(void) {} /* tools see them */

PAWL_API void *pawl_device_alloc(size_t bytes) {
  size_t room;
  pawli_block *b = pawli_add_block(bytes, 256, &room);
  pawli_check(PAWLI_GPU(Malloc)(&b->device, room), "allocating device memory");
  b->memory = (char *)b->device + b->origin;
  pawli_guard_device(b);
  return b->memory;
}

static void pawli_device_free(pawli_block *b) { pawli_device_drop(b->device); }

static size_t pawli_cache_bytes(void) { return pawli_gpu.cache_bytes; }

/* Lines that a run asked to stay in the cache would survive the sweep, and the run would find its inputs there. */
static void pawli_forget_persisting(void) {
#if defined(__CUDACC__)
  cudaStreamAttrValue none;
  if (!pawli_gpu.persisting) return;
  memset(&none, 0, sizeof none);
  pawli_check(cudaStreamSetAttribute(pawli.launch.stream, cudaStreamAttributeAccessPolicyWindow, &none), "sweeping the cache");
  pawli_check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "sweeping the cache");
  pawli_check(cudaCtxResetPersistingL2Cache(), "sweeping the cache");
#endif
}

static void pawli_read_device(const unsigned *data, size_t count) {
  PAWLI_LAUNCH(pawli_sweep, pawli_grid(count), 256, pawli.launch.stream)(data, count, pawli_gpu.sink);
}

static void pawli_warm_device(const void *memory, size_t bytes) {
  const size_t skipped = (4 - (uintptr_t)memory % 4) % 4;
  if (bytes < skipped + 4 || bytes > pawli_gpu.cache_bytes) return;
  pawli_read_device((const unsigned *)(const void *)((const char *)memory + skipped), (bytes - skipped) / 4);
}

static void pawli_flush(void) {
  const size_t count = 2 * pawli_gpu.cache_bytes / sizeof(unsigned);
  pawli_forget_persisting();
  if (!pawli_gpu.sweep) {
    void *memory = NULL;
    pawli_check(PAWLI_GPU(Malloc)(&memory, count * sizeof(unsigned)), "allocating memory to sweep the cache");
    pawli_gpu.sweep = (unsigned *)memory;
    PAWLI_LAUNCH(pawli_scatter, pawli_grid(count), 256, pawli.launch.stream)(pawli_gpu.sweep, count);
  }
  pawli_read_device(pawli_gpu.sweep, count);
  pawli_check(PAWLI_GPU(StreamSynchronize)(pawli.launch.stream), "sweeping the cache");
}

static void pawli_stamp_now(int which) {
#if defined(__CUDACC__)
  PAWLI_LAUNCH(pawli_note, pawli_gpu.units, 1, pawli.launch.stream)(pawli_gpu.shared_on_device->stamps[which]);
#else
  (void)which;
#endif
}

/* Ends a sample that failed half-way: the stream must not stay held. */
static void pawli_abandon(void) {
  if (!pawli_gpu.held) return;
  pawli_gpu.shared->go = 1;
  (void)PAWLI_GPU(StreamSynchronize)(pawli.launch.stream);
  pawli_gpu.held = 0;
}

/* What stands around the runs of a sample. With another timer than device nothing does: it would be measured. */
static void pawli_before(int hold) {
  if (pawli.timer != PAWLI_TIMER_DEVICE) return;
  pawli_abandon();
#if defined(__CUDACC__)
  if (pawli.by_records) {
    pawli_check(cudaStreamSynchronize(pawli.launch.stream), "waiting for the device");
    pawli_forget_records();
  }
#endif
  pawli_gpu.shared->go = pawli_gpu.shared->gave_up = 0;
  if (hold && pawli.give_ups < 3) {
    PAWLI_LAUNCH(pawli_hold, 1, 1, pawli.launch.stream)(pawli_gpu.shared_on_device, PAWLI_HOLD_CYCLES);
    pawli_gpu.held = 1;
  }
  pawli_stamp_now(0);
  pawli_check(PAWLI_GPU(EventRecord)(pawli_gpu.start, pawli.launch.stream), "recording an event");
}

static void pawli_after(void) {
  if (pawli.timer == PAWLI_TIMER_DEVICE) {
    const PAWLI_GPU(Error_t) error = PAWLI_GPU(EventRecord)(pawli_gpu.stop, pawli.launch.stream);
    pawli_stamp_now(1);
    pawli_gpu.shared->go = 1;
    pawli_check(error, "recording an event");
  }
  pawli_check(PAWLI_GPU(GetLastError)(), "launching a run");
  pawli_check(PAWLI_GPU(StreamSynchronize)(pawli.launch.stream), "waiting for a run");
}

/* Returns 0 when the sample must be taken again. */
static int pawli_read(pawli_reading *r) {
  float ms = 0;
  const int held = pawli_gpu.held;
  pawli_gpu.held = 0;
  if (pawli.timer != PAWLI_TIMER_DEVICE) return 1;
  if (held && pawli_gpu.shared->gave_up) {
    if (++pawli.give_ups == 3) {
      snprintf(pawli.note, sizeof pawli.note,
               "your run function synchronises (or launches more than the queue holds): launches are not held back, "
               "so samples contain the time the host needs to launch");
      fprintf(stderr, "pawl.h: %s\n", pawli.note);
    }
    return 0;
  }
  pawli_check(PAWLI_GPU(EventElapsedTime)(&ms, pawli_gpu.start, pawli_gpu.stop), "reading the events");
  r->by[PAWLI_TIMER_DEVICE] = ms * 1e6;
#if defined(__CUDACC__)
  if (pawli.by_records) r->by[PAWLI_TIMER_DEVICE] = pawli_recorded_ns(pawli.batch, held + 2); /* the two notes of the clock */
#endif
  const double mhz = pawli_clock_mhz();
  if (mhz > 0) r->clock_mhz = mhz; /* else the last one stays */
  return 1;
}

static void *pawli_calibration_setup(const pawl_params *p, pawl_rng *rng) {
  (void)p, (void)rng;
  return pawl_device_alloc(128 * 128 * sizeof(float));
}
static void pawli_calibration_teardown(void *state) { (void)state; }
static void pawli_calibrate(void *state, pawl_launch *l) {
  PAWLI_LAUNCH(pawli_chain, 128, 128, l->stream)((float *)state);
}

#endif

/* ---- OpenCL ---------------------------------------------------------------------------------------------------- */

#if defined(PAWL_OPENCL) && !defined(PAWLI_GPU)

#define PAWLI_FIRST_TIMER PAWLI_TIMER_DEVICE
enum { PAWLI_MOST_RUNS = 256, PAWLI_MOST_EVENTS = 4096 };

typedef struct pawli_cl_launch { /* of a watched run */
  char kernel[128];
  cl_uint dimensions;
  size_t global[3], local[3]; /* local is 0 where the driver chooses */
} pawli_cl_launch;

static struct {
  cl_device_id device;
  cl_context context;
  cl_kernel sweep, poison;
  cl_event events[PAWLI_MOST_EVENTS]; /* of the sample that is being taken */
  int event_run[PAWLI_MOST_EVENTS], event_count;
  int watching;                                /* runs are profiled: every launch has an event */
  pawli_cl_launch launches[PAWLI_MOST_EVENTS]; /* what is known of each event, when watching */
} pawli_cl;

static const char pawli_cl_source[] =
    "kernel void pawl_sweep(global ulong *data, ulong count, ulong each) {\n" /* each: words in a row, for a CPU */
    "  ulong sum = 0, i = get_global_id(0);\n"
    "  const ulong end = min(count, (i + 1) * each);\n"
    "  if (each) for (i *= each; i < end; i += 8) sum += data[i];\n"
    "  else for (; i < count; i += get_global_size(0)) sum += data[i];\n"
    "  if (sum == 1) *data = sum;\n"
    "}\n"
    "kernel void pawl_poison(global uchar *to, ulong bytes, ulong seed) {\n"
    "  for (ulong i = get_global_id(0); i * 8 < bytes; i += get_global_size(0)) {\n"
    "    ulong z = seed + (i + 1) * 0x9e3779b97f4a7c15UL;\n"
    "    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;\n"
    "    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;\n"
    "    z = 0x7ff07ff07ff07ff0UL | ((z ^ (z >> 31)) & 0x800f800f800f800fUL);\n"
    "    for (ulong k = i * 8; k < bytes && k < i * 8 + 8; k++, z >>= 8) to[k] = (uchar)z;\n"
    "  }\n"
    "}\n"
    "kernel void pawl_chain(global float *out) {\n"
    "  float x = get_local_id(0) * 1e-3f;\n"
    "  for (int i = 0; i < 2048; i++) x = x * 0.999f + 0.001f;\n"
    "  out[get_global_id(0)] = x;\n"
    "}\n";

static void pawli_check(cl_int error, const char *call) {
  if (error == CL_SUCCESS) return;
  const int memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                     error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
  pawl_fail_as(memory ? "no_memory" : "failed", "%s%s: OpenCL error %d", memory ? "no memory: " : "", call, (int)error);
}

PAWL_API cl_context pawl_context(void) { return pawli_cl.context; }
PAWL_API cl_device_id pawl_device(void) { return pawli_cl.device; }
PAWL_API cl_command_queue pawl_queue(const pawl_launch *l) { return l ? l->queue : pawli.launch.queue; }

PAWL_API cl_event *pawl_event(pawl_launch *l) {
  if (pawli.timer != PAWLI_TIMER_DEVICE && !pawli_cl.watching) return NULL; /* nobody would read it */
  if (pawli_cl.event_count == PAWLI_MOST_EVENTS) pawl_fail("one sample has more than %d events", PAWLI_MOST_EVENTS);
  pawli_cl.event_run[pawli_cl.event_count] = l->run;
  pawli_cl.events[pawli_cl.event_count] = NULL;
  return &pawli_cl.events[pawli_cl.event_count++];
}

/* Stands in for clEnqueueNDRangeKernel in what follows: no event tells of which kernel it is. */
static __attribute__((unused)) cl_int pawli_enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                                           const size_t *offset, const size_t *global,
                                                           const size_t *local, cl_uint after_count,
                                                           const cl_event *after, cl_event *event) {
  if (pawli_cl.watching && dimensions <= 3) {
    if (!event && pawli_cl.event_count < PAWLI_MOST_EVENTS) event = pawl_event(&pawli.launch);
    if (event >= pawli_cl.events && event < pawli_cl.events + PAWLI_MOST_EVENTS) {
      pawli_cl_launch *const l = &pawli_cl.launches[event - pawli_cl.events];
      memset(l, 0, sizeof *l);
      clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof l->kernel, l->kernel, NULL);
      l->dimensions = dimensions;
      memcpy(l->global, global, dimensions * sizeof *global);
      if (local) memcpy(l->local, local, dimensions * sizeof *local);
    }
  }
  return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, after_count, after, event);
}
#define clEnqueueNDRangeKernel pawli_enqueue_kernel

PAWL_API cl_kernel pawl_kernel(const char *source, const char *options, const char *name) {
  static char log[sizeof pawli.message - 64];
  cl_int error;
  cl_program program = clCreateProgramWithSource(pawli_cl.context, 1, &source, NULL, &error);
  pawli_check(error, "reading a program");
  error = clBuildProgram(program, 1, &pawli_cl.device, options, NULL, NULL);
  if (error != CL_SUCCESS) {
    size_t length = 0;
    clGetProgramBuildInfo(program, pawli_cl.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
    char *whole = (char *)calloc(length + 1, 1);
    if (whole) clGetProgramBuildInfo(program, pawli_cl.device, CL_PROGRAM_BUILD_LOG, length, whole, NULL);
    snprintf(log, sizeof log, "%s", whole ? whole : "");
    if (whole) fprintf(stderr, "%s\n", whole);
    free(whole);
    clReleaseProgram(program);
    pawl_fail("building kernel %s: OpenCL error %d: %s", name, (int)error, log);
  }
  cl_kernel kernel = clCreateKernel(program, name, &error);
  clReleaseProgram(program); /* the kernel keeps it */
  pawli_check(error, "looking for a kernel in its program");
  return kernel;
}

/* The first device of a type whose name contains part; 0 when there is none. */
static int pawli_find_device(cl_device_type type, const char *part) {
  cl_platform_id platforms[16];
  cl_uint platform_count = 0, i, k;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return 0;
  for (i = 0; i < platform_count && i < 16; i++) {
    cl_device_id devices[16];
    cl_uint count = 0;
    if (clGetDeviceIDs(platforms[i], type, 16, devices, &count) != CL_SUCCESS) continue;
    for (k = 0; k < count && k < 16; k++) {
      clGetDeviceInfo(devices[k], CL_DEVICE_NAME, sizeof pawli.device_name, pawli.device_name, NULL);
      if (!strstr(pawli.device_name, part)) continue;
      pawli_cl.device = devices[k];
      clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof pawli.runtime, pawli.runtime, NULL);
      return 1;
    }
  }
  return 0;
}

static void pawli_open(const char *device) {
  const char *part = getenv("PAWL_OPENCL_DEVICE");
  cl_int error;
  size_t step = 1;
  const int gpu_first = !pawli_is(pawli_member(device, "kind"), "cpu");
  const char *const wanted = part ? part : "";
  if (!(gpu_first && pawli_find_device(CL_DEVICE_TYPE_GPU, wanted)) && !pawli_find_device(CL_DEVICE_TYPE_ALL, wanted))
    pawl_fail_as("no_device", "there is no OpenCL device with \"%s\" in its name; clinfo -l lists them", wanted);
  clGetDeviceInfo(pawli_cl.device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof step, &step, NULL);
  pawli.device_quantum_ns = step ? (double)step : 1;
  pawli_cl.context = clCreateContext(NULL, 1, &pawli_cl.device, NULL, NULL, &error);
  pawli_check(error, "creating a context");
#ifdef CL_VERSION_2_0
  const cl_queue_properties with[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  pawli.launch.queue = clCreateCommandQueueWithProperties(pawli_cl.context, pawli_cl.device, with, &error);
#else
  pawli.launch.queue = clCreateCommandQueue(pawli_cl.context, pawli_cl.device, CL_QUEUE_PROFILING_ENABLE, &error);
#endif
  pawli_check(error, "creating a queue with profiling");
}

static void pawli_copy_out(void *host, const void *memory, size_t offset, size_t bytes) {
  pawli_check(clEnqueueReadBuffer(pawli.launch.queue, (cl_mem)memory, CL_TRUE, offset, bytes, host, 0, NULL, NULL),
              "reading a buffer");
}

static void pawli_copy_in(void *memory, size_t offset, const void *host, size_t bytes) {
  pawli_check(clEnqueueWriteBuffer(pawli.launch.queue, (cl_mem)memory, CL_TRUE, offset, bytes, host, 0, NULL, NULL),
              "writing a buffer");
}

static void pawli_poison_device(void *memory, size_t bytes, uint64_t seed) {
  const cl_mem to = (cl_mem)memory;
  const cl_ulong count = bytes, from = seed;
  const size_t items = bytes / 8 < 16384 ? bytes / 8 + 1 : 16384;
  if (!pawli_cl.poison) pawli_cl.poison = pawl_kernel(pawli_cl_source, "", "pawl_poison");
  pawli_check(clSetKernelArg(pawli_cl.poison, 0, sizeof to, &to), "poisoning an output");
  pawli_check(clSetKernelArg(pawli_cl.poison, 1, sizeof count, &count), "poisoning an output");
  pawli_check(clSetKernelArg(pawli_cl.poison, 2, sizeof from, &from), "poisoning an output");
  pawli_check(clEnqueueNDRangeKernel(pawli.launch.queue, pawli_cl.poison, 1, NULL, &items, NULL, 0, NULL, NULL),
              "poisoning an output");
}

static void pawli_draw_device(const pawli_spec *s, void *memory, size_t count, uint64_t seed) {
  const size_t bytes = count * (size_t)pawli_dtypes[s->dtype].bytes;
  pawli_draw(s, seed, pawli_scratch(bytes), count);
  pawli_copy_in(memory, 0, pawli.scratch, bytes);
}

static void pawli_warm_device(const void *memory, size_t bytes) { (void)memory, (void)bytes; }

static void *pawli_device_room(size_t bytes) {
  cl_int error;
  const cl_mem room = clCreateBuffer(pawli_cl.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  pawli_check(error, "allocating a buffer");
  return (void *)room;
}

static void pawli_device_copy(void *to, const void *from, size_t bytes) {
  pawli_check(clEnqueueCopyBuffer(pawli.launch.queue, (cl_mem)(uintptr_t)from, (cl_mem)to, 0, 0, bytes, 0, NULL, NULL),
              "copying a buffer");
}

static void pawli_device_drop(void *room) { clReleaseMemObject((cl_mem)room); }

static void pawli_wait(void) { pawli_check(clFinish(pawli.launch.queue), "waiting for a run"); }
static void pawli_wait_all(void) { pawli_wait(); } /* OpenCL cannot wait for queues it is not told of */

/* A part of a larger buffer, whose rest is the red zones. */
PAWL_API cl_mem pawl_buffer(cl_mem_flags flags, size_t bytes, const void *from) {
  cl_uint bits = 0;
  cl_int error;
  size_t room;
  clGetDeviceInfo(pawli_cl.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
  const size_t align = bits / 8 > 64 && bits / 8 <= PAWLI_ZONE ? bits / 8 : 64;
  pawli_block *b = pawli_add_block(bytes, align, &room);
  b->device = (void *)clCreateBuffer(pawli_cl.context, CL_MEM_READ_WRITE, room, NULL, &error);
  pawli_check(error, "allocating a buffer");
  const cl_buffer_region region = {b->origin, bytes};
  b->memory = (void *)clCreateSubBuffer((cl_mem)b->device, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  pawli_check(error, "allocating a part of a buffer");
  pawli_guard_device(b);
  if (from) pawli_copy_in(b->device, b->origin, from, bytes);
  return (cl_mem)b->memory;
}

static void pawli_device_free(pawli_block *b) {
  if (b->memory) clReleaseMemObject((cl_mem)b->memory);
  clReleaseMemObject((cl_mem)b->device);
}

static int pawli_cl_is_cpu(void) {
  cl_device_type type = CL_DEVICE_TYPE_GPU;
  clGetDeviceInfo(pawli_cl.device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  return type == CL_DEVICE_TYPE_CPU;
}

static size_t pawli_cache_bytes(void) {
  cl_ulong told = 0;
  clGetDeviceInfo(pawli_cl.device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof told, &told, NULL);
  if (pawli_cl_is_cpu() && told < pawli_host_cache_bytes()) told = pawli_host_cache_bytes();
  if (told < (cl_ulong)8 << 20) told = (cl_ulong)32 << 20; /* some drivers tell the size of the first level */
  return told < (cl_ulong)512 << 20 ? (size_t)told : (size_t)512 << 20;
}

static void pawli_flush(void) {
  static const size_t items = 16384;
  if (!pawli_cl.sweep) {
    const cl_ulong count = 2 * pawli_cache_bytes() / sizeof(uint64_t);
    const cl_ulong each = pawli_cl_is_cpu() ? count / items + 1 : 0;
    uint64_t *values = (uint64_t *)malloc(count * sizeof *values);
    pawl_rng rng = {1};
    cl_int error;
    cl_ulong i;
    if (!values) pawl_fail_as("no_memory", "no memory: to sweep the cache");
    for (i = 0; i < count; i++) values[i] = pawl_random(&rng);
    cl_mem data = clCreateBuffer(pawli_cl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof *values,
                                 values, &error);
    free(values);
    pawli_check(error, "allocating the sweep of the cache");
    cl_kernel sweep = pawl_kernel(pawli_cl_source, "", "pawl_sweep");
    pawli_check(clSetKernelArg(sweep, 0, sizeof data, &data), "sweeping the cache");
    pawli_check(clSetKernelArg(sweep, 1, sizeof count, &count), "sweeping the cache");
    pawli_check(clSetKernelArg(sweep, 2, sizeof each, &each), "sweeping the cache");
    pawli_cl.sweep = sweep;
  }
  pawli_check(clEnqueueNDRangeKernel(pawli.launch.queue, pawli_cl.sweep, 1, NULL, &items, NULL, 0, NULL, NULL),
              "sweeping the cache");
  pawli_check(clFinish(pawli.launch.queue), "sweeping the cache");
}

static void pawli_forget_events(void) {
  while (pawli_cl.event_count) {
    const cl_event e = pawli_cl.events[--pawli_cl.event_count];
    if (e) clReleaseEvent(e);
  }
}

static void pawli_abandon(void) { pawli_forget_events(); }
static void pawli_before(int hold) {
  (void)hold;
  pawli_abandon(); /* of a sample that failed */
}

static void pawli_after(void) { pawli_check(clFinish(pawli.launch.queue), "waiting for a run"); }

static void pawli_watch(int on) {
  if (on) memset(pawli_cl.launches, 0, sizeof pawli_cl.launches);
  pawli_cl.watching = on;
}

static cl_ulong pawli_event_ns(cl_event event, cl_profiling_info moment) {
  cl_ulong ns = 0;
  pawli_check(clGetEventProfilingInfo(event, moment, sizeof ns, &ns, NULL), "reading an event");
  return ns;
}

static void pawli_put_sizes(const char *name, const size_t *sizes, cl_uint count) {
  cl_uint i;
  if (!count || !sizes[0]) return;
  pawli_put(",\"%s\":[", name);
  for (i = 0; i < count; i++) pawli_put("%s%zu", i ? "," : "", sizes[i]);
  pawli_put("]");
}

/* The launches of the runs that were watched, in nanoseconds since the first was queued. */
static void pawli_put_launches(void) {
  static const struct {
    const char *name;
    cl_profiling_info moment;
  } moments[] = {{"queued", CL_PROFILING_COMMAND_QUEUED}, {"submit", CL_PROFILING_COMMAND_SUBMIT},
                 {"start", CL_PROFILING_COMMAND_START}, {"end", CL_PROFILING_COMMAND_END}};
  cl_ulong zero = 0;
  int i, k;
  for (i = 0; i < pawli_cl.event_count; i++) {
    const pawli_cl_launch *const l = &pawli_cl.launches[i];
    if (!pawli_cl.events[i]) pawl_fail("pawl_event(l) was called but its event was not used");
    if (i == 0) zero = pawli_event_ns(pawli_cl.events[0], CL_PROFILING_COMMAND_QUEUED);
    pawli_put("%s{\"kernel\":", i ? "," : ",\"launches\":[");
    pawli_put_string(l->kernel[0] ? l->kernel : "(a copy or a fill)");
    for (k = 0; k < 4; k++) {
      const cl_ulong ns = pawli_event_ns(pawli_cl.events[i], moments[k].moment);
      pawli_put(",\"%s\":%.0f", moments[k].name, ns > zero ? (double)(ns - zero) : 0);
    }
    pawli_put_sizes("global", l->global, l->dimensions);
    pawli_put_sizes("local", l->local, l->dimensions);
    pawli_put("}%s", i == pawli_cl.event_count - 1 ? "]" : "");
  }
  pawli_forget_events();
}

/* The device time of a run is from the first start to the last end of its events. */
static int pawli_read(pawli_reading *r) {
  double sum = 0;
  int i = 0;
  if (pawli.timer != PAWLI_TIMER_DEVICE) return 1;
  if (!pawli_cl.event_count) pawl_fail("the run enqueued nothing with pawl_event(l), so there is no device time");
  while (i < pawli_cl.event_count) {
    const int run = pawli_cl.event_run[i];
    cl_ulong first = ~(cl_ulong)0, last = 0, start, end;
    for (; i < pawli_cl.event_count && pawli_cl.event_run[i] == run; i++) {
      if (!pawli_cl.events[i]) pawl_fail("pawl_event(l) was called but its event was not used");
      pawli_check(clGetEventProfilingInfo(pawli_cl.events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
                  "reading an event");
      pawli_check(clGetEventProfilingInfo(pawli_cl.events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
                  "reading an event");
      if (start < first) first = start;
      if (end > last) last = end;
    }
    if (last > first) sum += (double)(last - first);
  }
  pawli_forget_events();
  r->by[PAWLI_TIMER_DEVICE] = sum;
  return 1;
}

typedef struct pawli_cl_calibration {
  cl_kernel kernel;
  cl_mem out;
} pawli_cl_calibration;

static void pawli_calibration_teardown(void *state) {
  pawli_cl_calibration *c = (pawli_cl_calibration *)state;
  clReleaseMemObject(c->out);
  clReleaseKernel(c->kernel);
}

static void *pawli_calibration_setup(const pawl_params *p, pawl_rng *rng) {
  pawli_cl_calibration *c = (pawli_cl_calibration *)pawl_alloc(sizeof *c);
  cl_int error;
  (void)p, (void)rng;
  c->out = clCreateBuffer(pawli_cl.context, CL_MEM_WRITE_ONLY, 64 * 64 * sizeof(cl_float), NULL, &error);
  pawli_check(error, "allocating the output of the calibration kernel");
  c->kernel = pawl_kernel(pawli_cl_source, "", "pawl_chain");
  pawli_check(clSetKernelArg(c->kernel, 0, sizeof c->out, &c->out), "preparing the calibration kernel");
  return c;
}

static void pawli_calibrate(void *state, pawl_launch *l) {
  static const size_t items = 64 * 64, group = 64;
  const cl_kernel kernel = ((pawli_cl_calibration *)state)->kernel;
  pawli_check(clEnqueueNDRangeKernel(l->queue, kernel, 1, NULL, &items, &group, 0, NULL, pawl_event(l)),
              "running the calibration kernel");
}

#endif

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static pawli_argument *pawli_find_argument(const pawli_set *set, const char *name) {
  pawli_argument *a = set->arguments;
  while (a && strcmp(a->name, name) != 0) a = a->next;
  return a;
}

/* How many elements and bytes the storage has, and whether it fits the memory. */
static void pawli_size_argument(pawli_argument *a) {
  int64_t last = 0; /* the position of the last element */
  int i;
  for (i = 0; i < a->rank; i++) {
    const int64_t most = (INT64_MAX / 16 - last) / (a->strides[i] ? a->strides[i] : 1);
    if (a->shape[i] - 1 > most) pawl_fail_as("bad_params", "the argument %s is too large", a->name);
    last += (a->shape[i] - 1) * a->strides[i];
  }
  a->length = last + 1;
  a->bytes = (size_t)a->length * (size_t)pawli_dtypes[a->dtype].bytes;
  if (!a->block) return;
  const size_t at = a->on_host ? (size_t)((char *)a->memory - (char *)a->block->memory) : 0;
  if (a->bytes > a->block->bytes - at)
    pawl_fail("the argument %s has %llu bytes, its memory %llu", a->name, (unsigned long long)a->bytes,
              (unsigned long long)(a->block->bytes - at));
}

/* Looks for the memory among what pawl.h allocated. Anything else is the device's, where there is one. */
static void pawli_place_argument(pawli_argument *a) {
  const pawli_block *b = pawli.filling->blocks;
  for (; b; b = b->next) {
    const uintptr_t from = (uintptr_t)b->memory, at = (uintptr_t)a->memory;
#if defined(PAWL_OPENCL) && !defined(PAWLI_GPU)
    const int inside = b->host ? at >= from && at - from < b->bytes : at == from;
#else
    const int inside = at >= from && at - from < b->bytes;
#endif
    if (!inside) continue;
    a->block = b;
    a->on_host = b->host != NULL;
    return;
  }
#if !defined(PAWL_OPENCL) && !defined(PAWLI_GPU)
  a->on_host = 1;
#endif
}

PAWL_API void pawl_argument(const char *role, const char *name, const void *memory, const char *dtype, int rank,
                            const int64_t *shape) {
  pawli_argument *a, **end;
  int i;
  int64_t stride = 1;
  if (!pawli.filling) pawl_fail("the argument %s must be registered in setup", name);
  if (strlen(name) >= sizeof a->name || !*name) pawl_fail("the name of the argument %.80s is too long", name);
  if (pawli_find_argument(pawli.filling, name)) pawl_fail("the argument %s is registered twice", name);
  if (rank < 1 || rank > PAWLI_RANK) pawl_fail("%s has %d dimensions, not 1 to %d", name, rank, PAWLI_RANK);
  if (!memory) pawl_fail("the argument %s has no memory", name);
  if (!(a = (pawli_argument *)calloc(1, sizeof *a))) pawl_fail_as("no_memory", "no memory for the argument %s", name);
  for (end = &pawli.filling->arguments; *end;) end = &(*end)->next;
  *end = a;
  strcpy(a->name, name);
  a->memory = (void *)(uintptr_t)memory;
  a->rank = rank;
  while (a->role < PAWLI_ROLES && strcmp(role, pawli_roles[a->role]) != 0) a->role++;
  if (a->role == PAWLI_ROLES) pawl_fail("the argument %s is in, out or inout, not %s", name, role);
  while (a->dtype < PAWLI_DTYPES && strcmp(dtype, pawli_dtypes[a->dtype].name) != 0) a->dtype++;
  if (a->dtype == PAWLI_DTYPES) pawl_fail("the argument %s has the unknown type %s", name, dtype);
  for (i = rank - 1; i >= 0; i--) {
    a->shape[i] = shape[i];
    a->strides[i] = stride;
    if (shape[i] < 1 || shape[i] > INT64_MAX / 16 / stride)
      pawl_fail_as("bad_params", "dimension %d of the argument %s is %lld", i, name, (long long)shape[i]);
    stride *= shape[i];
  }
  pawli_place_argument(a);
  pawli_size_argument(a);
}

PAWL_API void pawl_argument_strides(const char *name, int rank, const int64_t *strides) {
  pawli_argument *const a = pawli.filling ? pawli_find_argument(pawli.filling, name) : NULL;
  int i;
  if (!a) pawl_fail("strides of %s: register the argument before, in setup", name);
  if (rank != a->rank) pawl_fail("the argument %s has %d dimensions and %d strides", name, a->rank, rank);
  for (i = 0; i < rank; i++) {
    if (strides[i] < 0) pawl_fail("stride %d of the argument %s is %lld", i, name, (long long)strides[i]);
    a->strided |= a->shape[i] != 1 && strides[i] != a->strides[i]; /* that of a dimension of one is never used */
    a->strides[i] = strides[i];
  }
  pawli_size_argument(a);
}

static char *pawli_room(char *at, size_t bytes) {
  if (!at) at = (char *)malloc(bytes);
  if (!at) pawl_fail_as("no_memory", "no memory: %llu bytes to look at an argument", (unsigned long long)bytes);
  return at;
}

static char *pawli_scratch(size_t bytes) {
  if (bytes > pawli.scratch_room) {
    free(pawli.scratch);
    pawli.scratch = NULL;
    pawli.scratch_room = 0;
    pawli.scratch = pawli_room(NULL, bytes);
    pawli.scratch_room = bytes;
  }
  return pawli.scratch;
}

static void pawli_download(const pawli_argument *a, void *to) {
  if (a->on_host) memcpy(to, a->memory, a->bytes);
  else pawli_copy_out(to, a->memory, 0, a->bytes);
}

/* The hash of an argument is the sum of those of its words, so that a part of it can be changed: from is where the data
   begins in the argument, a multiple of 8. */
static uint64_t pawli_hash(const void *data, size_t from, size_t bytes) {
  uint64_t hash = 0, word;
  size_t at;
  for (at = 0; at < bytes; at += 8) {
    word = 0;
    memcpy(&word, (const char *)data + at, bytes - at < 8 ? bytes - at : 8);
    word = (word ^ (pawli.seed + (from + at) * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0x9fb21c651e98df25);
    hash += (word ^ (word >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  }
  return hash;
}

/* Keeps what an inout holds, to restore it before every run. */
static void pawli_keep_original(pawli_argument *a) {
  if (a->on_host) {
    memcpy(a->before = pawli_room(a->before, a->bytes), a->memory, a->bytes);
    return;
  }
  if (!a->original) a->original = pawli_device_room(a->bytes);
  pawli_device_copy(a->original, a->memory, a->bytes);
}

static void pawli_restore(pawli_argument *a) {
  if (a->on_host) memcpy(a->memory, a->before, a->bytes);
  else pawli_device_copy(a->memory, a->original, a->bytes);
}

/* Gives an input its contents. */
static void pawli_upload(pawli_argument *a, const void *from) {
  if (a->on_host) memcpy(a->memory, from, a->bytes);
  else pawli_copy_in(a->memory, 0, from, a->bytes);
  if (a->role == PAWLI_INOUT) {
    pawli_keep_original(a);
  } else {
    a->hash = pawli_hash(from, 0, a->bytes);
    a->hashed = 1;
  }
}

static void pawli_poison(pawli_argument *a, uint64_t seed) {
  a->poison = seed;
  a->poisoned = a->role == PAWLI_OUT;
  if (a->role == PAWLI_OUT && a->on_host) pawli_poison_host(a->memory, a->bytes, seed);
  else if (a->role == PAWLI_OUT) pawli_poison_device(a->memory, a->bytes, seed);
  else if (a->role == PAWLI_INOUT) pawli_restore(a);
}

/* What stands in the arguments before a run that is looked at. */
static void pawli_poison_set(pawli_set *set, uint64_t seed) {
  pawli_argument *a;
  for (a = set->arguments; a; a = a->next) pawli_poison(a, seed);
}

static void pawli_hash_inputs(pawli_set *set) {
  pawli_argument *a;
  for (a = set->arguments; a; a = a->next) {
    if (a->role != PAWLI_IN || a->hashed) continue;
    pawli_download(a, pawli_scratch(a->bytes));
    a->hash = pawli_hash(pawli.scratch, 0, a->bytes);
    a->hashed = 1;
  }
}

static void pawli_look_at_inputs(const pawli_set *set) {
  const pawli_argument *a;
  for (a = set->arguments; a; a = a->next) {
    if (a->role != PAWLI_IN || !a->hashed) continue;
    pawli_download(a, pawli_scratch(a->bytes));
    if (pawli_hash(pawli.scratch, 0, a->bytes) != a->hash)
      pawl_fail_as("integrity", "the kernel changed its input %s", a->name);
  }
}

static void pawli_read_window(const pawli_argument *a, void *to, size_t at, size_t bytes) {
  if (a->on_host) memcpy(to, (const char *)a->memory + at, bytes);
  else pawli_copy_out(to, a->memory, at, bytes);
}

/* Some place for a window in an argument: a multiple of 8 bytes, which hold whole elements. */
static size_t pawli_some_place(const pawli_argument *a, size_t bytes) {
  return (size_t)(pawl_random(&pawli.draws) % ((a->bytes - bytes) / 8 + 1)) * 8;
}

/* Streams of pawli.key, beside those of the arguments: which are numbered from 1, and once more for untimed runs. */
enum { PAWLI_UNTIMED = 1 << 16 };

/* Draws an input for a run. All its elements are new, and no run has those of another. */
static void pawli_draw_argument(pawli_argument *a, uint64_t run, int timed) {
  const uint64_t seed = pawli_secret(&pawli.key, (uint64_t)a->declared + (timed ? 0 : PAWLI_UNTIMED), run);
  if (a->role == PAWLI_OUT || !a->spec.drawn) return;
  if (a->on_host) pawli_draw(&a->spec, seed, a->role == PAWLI_INOUT ? a->before : a->memory, (size_t)a->length);
  else pawli_draw_device(&a->spec, a->role == PAWLI_INOUT ? a->original : a->memory, (size_t)a->length, seed);
  a->hashed = 0;
}

/* What stands in the arguments before a sample, whether anybody will look at it or not: in outputs poison, or what the
   last run left. A kernel that tells the two apart gains nothing by it. */
static void pawli_lay_out(pawli_set *set, uint64_t run, int timed) {
  const int poisoned = (int)(pawl_random(&pawli.draws) >> 63);
  pawli_argument *a;
  for (a = set->arguments; a; a = a->next) {
    if (pawli.drawing) pawli_draw_argument(a, run, timed);
    a->poisoned = 0;
    if (poisoned || a->role == PAWLI_INOUT) pawli_poison(a, pawl_random(&pawli.draws));
  }
}

/* What a run reads is in the cache before a hot sample, whether its outputs were poisoned or not: poison evicts it. */
static void pawli_warm(const pawli_set *set) {
  const pawli_argument *a;
  for (a = set->arguments; a; a = a->next)
    if (a->role != PAWLI_OUT && !a->on_host) pawli_warm_device(a->memory, a->bytes);
}

static void pawli_lay_out_untimed(pawli_set *set) { pawli_lay_out(set, pawli.untimed++, 0); }

/* Adds the outputs of one of runs to the sums of a sample. */
static void pawli_sum_outputs(const pawli_set *set, uint64_t run, int runs, pawli_sum *sums) {
  const pawli_argument *a;
  int declared, n = 0;
  for (declared = 1; n < pawli.verify.outputs && declared < PAWLI_UNTIMED; declared++)
    for (a = set->arguments; a; a = a->next) {
      if (a->declared != declared || a->role == PAWLI_IN) continue;
      const void *from = a->memory;
      const uint64_t length = (uint64_t)a->length * pawli_lanes(a->dtype);
      if (!a->on_host) pawli_copy_out(pawli_scratch(a->bytes), a->memory, 0, a->bytes), from = pawli.scratch;
      pawli_add_sums(sums + n * PAWLI_BLOCKS, a->dtype, from, (size_t)length, run * length, (uint64_t)runs * length,
                     pawli.verify.key + (uint64_t)declared);
      n++;
    }
}

/* After a sample: looks at some of each output for what stood there before. */
static void pawli_look_at_outputs(const pawli_set *set) {
  const pawli_argument *a;
  for (a = set->arguments; a; a = a->next) {
    const size_t bytes = a->bytes < PAWLI_WINDOW ? a->bytes / 8 * 8 : PAWLI_WINDOW;
    uint64_t is[PAWLI_WINDOW / 8];
    size_t i = 0;
    if (!a->poisoned || a->strided || !bytes) continue;
    const size_t at = pawli_some_place(a, bytes);
    pawli_read_window(a, is, at, bytes);
    while (i < bytes / 8 && is[i] == pawli_poison_word(a->poison, at / 8 + i)) i++;
    if (i == bytes / 8)
      pawl_fail_as("integrity", "the output %s was never written in a timed run: bytes %llu to %llu", a->name,
                   (unsigned long long)at, (unsigned long long)(at + bytes - 1));
  }
}

/* Compares one red zone of a block with what was written there. */
static void pawli_look_at_zone(const pawli_set *set, const pawli_block *b, int behind) {
  char is[PAWLI_ZONE], was[PAWLI_ZONE], whose[96] = "memory of setup";
  const size_t offset = behind ? b->origin + b->bytes : b->origin - PAWLI_ZONE;
  const pawli_argument *a;
  int first = 0, last = PAWLI_ZONE - 1;
  if (b->host) memcpy(is, (char *)b->host + offset, sizeof is);
  else pawli_copy_out(is, b->device, offset, sizeof is);
  pawli_poison_host(was, sizeof was, b->seed);
  if (memcmp(is, was, sizeof is) == 0) return;
  while (is[first] == was[first]) first++;
  while (is[last] == was[last]) last--;
  for (a = set->arguments; a; a = a->next)
    if (a->block == b) snprintf(whose, sizeof whose, "the argument %s", a->name);
  if (behind)
    pawl_fail_as("integrity", "the kernel wrote behind the end of %s: from byte %d to %d", whose, first, last);
  pawl_fail_as("integrity", "the kernel wrote before the start of %s: from byte -%d to -%d", whose,
               PAWLI_ZONE - first, PAWLI_ZONE - last);
}

static void pawli_look_at_zones(const pawli_set *set) {
  const pawli_block *b;
  for (b = set->blocks; b; b = b->next) {
    pawli_look_at_zone(set, b, 0);
    pawli_look_at_zone(set, b, 1);
  }
}

/* Whether a JSON list has exactly these numbers. */
static int pawli_same_sizes(const char *list, const int64_t *want, int count) {
  const char *json;
  double value = 0;
  int i;
  if (!list || *list != '[') return 0;
  for (i = 0; pawli_next_value(&list, &json); i++)
    if (i == count || !pawli_number(json, &value) || value != (double)want[i]) return 0;
  return i == count;
}

static void pawli_match_argument(const char *declared, const pawli_set *set) {
  const char *const role = pawli_member(declared, "role"), *const strides = pawli_member(declared, "strides");
  const pawli_argument *a = set->arguments;
  const char *differs = NULL;
  int k = 0;
  if (pawli_is(role, "value")) return;
  while (a && !pawli_is(pawli_member(declared, "name"), a->name)) a = a->next;
  if (!a)
    pawl_fail_as("bad_params", "the suite declares the argument %s, which the harness does not register",
                 pawli_quote(pawli_member(declared, "name")));
  if (!pawli_is(role, pawli_roles[a->role])) differs = "role";
  while (k < PAWLI_DTYPES && !pawli_is(pawli_member(declared, "dtype"), pawli_dtypes[k].name)) k++;
  if (k == PAWLI_DTYPES || strcmp(pawli_dtypes[k].stored, pawli_dtypes[a->dtype].stored) != 0) differs = "type";
  if (!pawli_same_sizes(pawli_member(declared, "shape"), a->shape, a->rank)) differs = "shape";
  if (strides ? !pawli_same_sizes(strides, a->strides, a->rank) : a->strided) differs = "strides";
  if (differs) pawl_fail_as("bad_params", "the argument %s differs in %s between suite and harness", a->name, differs);
}

/* How the suite wants an argument to be drawn. Whole numbers without bounds stay as setup made them: they may be
   indices. */
static pawli_spec pawli_read_spec(const char *declared, const pawli_argument *a) {
  const char *const fill = pawli_member(declared, "fill"), *const kind = pawli_member(fill, "kind");
  const int real = pawli_dtypes[a->dtype].real;
  pawli_spec s;
  memset(&s, 0, sizeof s);
  s.dtype = a->dtype;
  s.uniform = kind ? pawli_is(kind, "uniform") : !real;
  if (pawli_member(fill, "low") && !pawli_number(pawli_member(fill, "low"), &s.low)) pawl_fail_as("bad_params", "%s: fill.low", a->name);
  if (pawli_member(fill, "high") && !pawli_number(pawli_member(fill, "high"), &s.high)) pawl_fail_as("bad_params", "%s: fill.high", a->name);
  s.drawn = real || s.low < s.high;
  return s;
}

/* Remembers what the suite says of the arguments of a set. */
static void pawli_adopt_specs(pawli_set *set) {
  const char *list = pawli_member(pawli.request, "arguments"), *declared;
  char name[sizeof set->arguments->name];
  pawli_argument *a;
  int n = 0;
  pawli.verify.outputs = 0;
  if (!list || *list != '[') return;
  while (pawli_next_value(&list, &declared)) {
    const char *const json = pawli_member(declared, "name");
    n++;
    if (!json || *json != '"' || pawli_skip_string(json) - json > (ptrdiff_t)sizeof name) continue;
    pawli_decode(json, name);
    if (!(a = pawli_find_argument(set, name))) continue;
    a->declared = n;
    a->spec = pawli_read_spec(declared, a);
    pawli.verify.outputs += a->role != PAWLI_IN;
  }
}

/* The arguments of the prepare request must be those that setup registered, if it did. */
static void pawli_match_arguments(void *list) {
  const char *s = (const char *)list, *declared;
  if (!s || *s != '[' || !pawli.sets[0].arguments) return;
  while (pawli_next_value(&s, &declared)) pawli_match_argument(declared, &pawli.sets[0]);
}

/* ---- safetensors ----------------------------------------------------------------------------------------------- */

static void pawli_close_file(void) {
  if (pawli.file) fclose(pawli.file);
  pawli.file = NULL;
}

/* "8,64", as metadata has it. */
static void pawli_join(char *to, size_t room, const int64_t *values, int count) {
  int i;
  for (*to = 0, i = 0; i < count; i++)
    snprintf(to + strlen(to), room - strlen(to), "%s%lld", i ? "," : "", (long long)values[i]);
}

/* Whether a tensor of a file has the type, the shape and the strides of an argument. */
static int pawli_fits(const pawli_argument *a, const char *tensor, const char *metadata) {
  static const char *const facts[] = {"shape", "strides", "offset"};
  const char *const shape = pawli_member(tensor, "shape");
  int i;
  if (!pawli_is(pawli_member(tensor, "dtype"), pawli_dtypes[a->dtype].stored)) return 0;
  if (!pawli_same_sizes(shape, a->strided ? &a->length : a->shape, a->strided ? 1 : a->rank)) return 0;
  for (i = 0; i < 3; i++) {
    char name[sizeof a->name + 16], text[PAWLI_RANK * 24] = "0";
    snprintf(name, sizeof name, "%s.%s", a->name, facts[i]);
    const char *const json = pawli_member(metadata, name);
    if (i < 2) pawli_join(text, sizeof text, i ? a->strides : a->shape, a->rank);
    if (json ? !pawli_is(json, text) : a->strided && i < 2) return 0;
  }
  return 1;
}

/* Reads one tensor from the file into its argument. data is where the data begins, length how much there is. */
static void pawli_load_tensor(pawli_set *set, const char *key, const char *tensor, const char *metadata, double data,
                              double length) {
  const char *offsets = pawli_member(tensor, "data_offsets"), *json;
  char name[sizeof set->arguments->name] = "";
  double at[2] = {-1, -1};
  int i;
  if (pawli_skip_string(key) - key <= (ptrdiff_t)sizeof name) pawli_decode(key, name);
  pawli_argument *const a = pawli_find_argument(set, name);
  if (!a) pawl_fail_as("bad_params", "there is no argument %s here to take a tensor of the file", pawli_quote(key));
  if (a->role == PAWLI_OUT || a->loaded)
    pawl_fail_as("bad_params", "the tensor %s is not an input, or is there twice", name);
  if (!pawli_fits(a, tensor, metadata))
    pawl_fail_as("bad_params", "the tensor %s of the file has another type, shape or strides than the argument", name);
  for (i = 0; offsets && *offsets != ']' && i < 2 && pawli_next_value(&offsets, &json); i++)
    if (!pawli_number(json, &at[i])) at[i] = -1;
  if (!(at[0] >= 0 && at[1] <= length && at[1] - at[0] == (double)a->bytes))
    pawl_fail_as("bad_params", "the tensor %s of the file has the wrong number of bytes", name);
  if (fseeko(pawli.file, (off_t)(data + at[0]), SEEK_SET) != 0 ||
      fread(pawli_scratch(a->bytes), 1, a->bytes, pawli.file) != a->bytes)
    pawl_fail("the tensor %s cannot be read: %s", name, strerror(errno));
  pawli_upload(a, pawli.scratch);
  a->loaded = 1;
}

/* Reads the inputs of a set from a file. */
static void pawli_load(pawli_set *set, const char *path) {
  unsigned char size[8];
  uint64_t header = 0;
  const char *s, *key, *value;
  pawli_argument *a;
  int i;
  pawli_close_file();
  if (!(pawli.file = fopen(path, "rb"))) pawl_fail("cannot open %s: %s", path, strerror(errno));
  if (fseeko(pawli.file, 0, SEEK_END) != 0) pawl_fail("cannot read %s: %s", path, strerror(errno));
  const double all = (double)ftello(pawli.file);
  rewind(pawli.file);
  if (fread(size, 1, 8, pawli.file) == 8)
    for (i = 7; i >= 0; i--) header = header << 8 | size[i];
  if (header < 2 || header > PAWLI_HEADER || (double)header > all - 8)
    pawl_fail_as("bad_params", "%s is no safetensors file: its header has %llu bytes", path,
                 (unsigned long long)header);
  pawli.header = pawli_grow(pawli.header, &pawli.header_room, (size_t)header + 1);
  if (fread(pawli.header, 1, (size_t)header, pawli.file) != header)
    pawl_fail("cannot read %s: %s", path, strerror(errno));
  pawli.header[header] = 0;
  s = *pawli.header == '{' ? pawli_skip(pawli.header, 0) : NULL;
  if (!s || (size_t)(pawli_space(s) - pawli.header) != (size_t)header)
    pawl_fail_as("bad_params", "%s is no safetensors file: its header is not a JSON object", path);
  for (a = set->arguments; a; a = a->next) a->loaded = 0;
  const char *const metadata = pawli_member(pawli.header, "__metadata__");
  for (s = pawli.header; pawli_next_member(&s, &key, &value);)
    if (!pawli_is(key, "__metadata__"))
      pawli_load_tensor(set, key, value, metadata, 8 + (double)header, all - 8 - (double)header);
  for (a = set->arguments; a; a = a->next)
    if (a->role != PAWLI_OUT && !a->loaded)
      pawl_fail_as("bad_params", "%s has no tensor for the argument %s", path, a->name);
  pawli_close_file();
}

static void pawli_put_header(const pawli_set *set, pawli_role not_this) {
  const pawli_argument *a;
  const char *separator = "";
  char text[PAWLI_RANK * 24];
  unsigned long long at = 0;
  pawli.text_length = 0;
  pawli_put("{\"__metadata__\":{");
  for (a = set->arguments; a; a = a->next) {
    if (a->role == (int)not_this || !a->strided) continue;
    pawli_join(text, sizeof text, a->shape, a->rank);
    pawli_put("%s\"%s.shape\":\"%s\",", separator, a->name, text);
    pawli_join(text, sizeof text, a->strides, a->rank);
    pawli_put("\"%s.strides\":\"%s\",\"%s.offset\":\"0\"", a->name, text, a->name);
    separator = ",";
  }
  pawli_put("}");
  for (a = set->arguments; a; a = a->next) {
    if (a->role == (int)not_this) continue;
    if (a->strided) pawli_join(text, sizeof text, &a->length, 1);
    else pawli_join(text, sizeof text, a->shape, a->rank);
    pawli_put(",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}", a->name,
              pawli_dtypes[a->dtype].stored, text, at, at + a->bytes);
    at += a->bytes;
  }
  pawli_put("}");
  while (pawli.text_length % 8) pawli_put(" ");
}

/* Writes the inputs of a set (not_this is PAWLI_OUT) as they were before a run, or its outputs (PAWLI_IN) as they
   were after it. */
static void pawli_save(const pawli_set *set, pawli_role not_this, const char *path) {
  char part[PAWLI_PATH + 8];
  unsigned char size[8];
  const pawli_argument *a;
  int i, failed = 0;
  snprintf(part, sizeof part, "%s.part", path);
  pawli_close_file();
  if (!(pawli.file = fopen(part, "wb"))) pawl_fail("cannot write %s: %s", part, strerror(errno));
  pawli_put_header(set, not_this);
  for (i = 0; i < 8; i++) size[i] = (unsigned char)((uint64_t)pawli.text_length >> (8 * i));
  failed |= fwrite(size, 1, 8, pawli.file) != 8;
  failed |= fwrite(pawli.text, 1, pawli.text_length, pawli.file) != pawli.text_length;
  for (a = set->arguments; a; a = a->next) {
    const char *from = not_this == PAWLI_OUT ? a->before : a->copy;
    if (a->role == (int)not_this) continue;
    if (a->role == PAWLI_IN) pawli_download(a, pawli_scratch(a->bytes)), from = pawli.scratch;
    else if (!from) pawli_copy_out(pawli_scratch(a->bytes), a->original, 0, a->bytes), from = pawli.scratch;
    failed |= fwrite(from, 1, a->bytes, pawli.file) != a->bytes;
  }
  failed |= fflush(pawli.file) != 0;
  pawli_close_file();
  if (failed || rename(part, path) != 0) pawl_fail("cannot write %s: %s", path, strerror(errno));
}

/* Looks at what a run left: outputs as they are at its return, and again when all is done; what it must not touch. */
static void pawli_examine(pawli_set *set, const char *inputs, const char *outputs) {
  pawli_argument *a;
  for (a = set->arguments; a; a = a->next)
    if (a->role != PAWLI_IN) pawli_download(a, a->copy = pawli_room(a->copy, a->bytes));
  pawli_wait_all();
  pawli_look_at_zones(set);
  pawli_look_at_inputs(set);
  if (inputs) pawli_save(set, PAWLI_OUT, inputs);
  pawli_save(set, PAWLI_IN, outputs);
  poll(NULL, 0, PAWLI_LINGER_MS);
  for (a = set->arguments; a; a = a->next) {
    if (a->role == PAWLI_IN) continue;
    pawli_download(a, pawli_scratch(a->bytes));
    if (memcmp(pawli.scratch, a->copy, a->bytes) != 0)
      pawl_fail_as("integrity", "the output %s changed after the run had returned", a->name);
  }
}

/* ---- a prepared case ------------------------------------------------------------------------------------------- */

static const pawl_benchmark pawli_calibration = {PAWLI_CALIBRATION, NULL, pawli_calibration_setup, pawli_calibrate,
                                                 pawli_calibration_teardown, NULL, NULL, NULL};

static const char *pawli_implementation(const pawl_benchmark *b) {
  return b->implementation ? b->implementation : "candidate";
}

static void pawli_fill(void *with) {
  pawli_set *set = (pawli_set *)with;
  pawli_argument *a;
  pawl_rng rng;
  rng.state = pawli.seed + UINT64_C(0xd1342543de82ef95) * pawli.filled; /* sets differ, sides do not */
  pawli.places.state = ~rng.state;
  pawli.filling = set;
  if (pawli.prepared->setup) set->state = pawli.prepared->setup(&pawli.params, &rng);
  for (a = set->arguments; a; a = a->next)
    if (a->role == PAWLI_INOUT) pawli_keep_original(a);
  pawli_adopt_specs(set);
}

/* Calls setup. Returns 1 when it failed. */
static int pawli_make_set(pawli_set *set) {
  memset(set, 0, sizeof *set);
  const int failed = pawli_try(pawli_fill, set);
  pawli.filling = NULL;
  pawli.filled++;
  if (failed) pawli_free_set(set);
  return failed;
}

static int pawli_add_set(void) {
  const int failed = pawli_make_set(&pawli.sets[pawli.set_count]);
  pawli.set_count += !failed;
  return failed;
}

static void pawli_teardown(void *state) { pawli.prepared->teardown(state); }

/* The failure that is being reported, if any, stays: a teardown that fails is told on stderr only. */
static void pawli_free_made_set(pawli_set *set) {
  char code[sizeof pawli.code], message[sizeof pawli.message];
  memcpy(code, pawli.code, sizeof code);
  memcpy(message, pawli.message, sizeof message);
  if (pawli.prepared->teardown && pawli_try(pawli_teardown, set->state)) /* the next case is not to blame */
    fprintf(stderr, "pawl.h: teardown of %s: %s\n", pawli.prepared->name, pawli.message);
  memcpy(pawli.code, code, sizeof code);
  memcpy(pawli.message, message, sizeof message);
  pawli_free_set(set);
}

static void pawli_release(void) {
  pawli_abandon();
  while (pawli.set_count) pawli_free_made_set(&pawli.sets[--pawli.set_count]);
  pawli.prepared = NULL;
}

/* The sets of the next sample. No sample differs from another in what it finds, warm-up included. */
static void pawli_lay_out_sample(void) {
  int i;
  if (!pawli.sets[0].arguments) return;
  for (i = 0; i < pawli.batch && i < pawli.set_count; i++) {
    pawli_set *const set = &pawli.sets[(pawli.next_set + i) % pawli.set_count];
    if (pawli.verify.on) pawli_lay_out(set, pawli.verify.run + (uint64_t)i, 1);
    else pawli_lay_out_untimed(set);
    if (pawli.keep.now) pawli_hash_inputs(set);
  }
  for (i = 0; !pawli.cold && i < pawli.batch && i < pawli.set_count; i++)
    pawli_warm(&pawli.sets[(pawli.next_set + i) % pawli.set_count]);
  pawli_wait(); /* it must not be measured */
}

/* Sums of what the runs of a sample left, when they are done. */
static void pawli_sum_sample(void) {
  const size_t more = (size_t)pawli.verify.outputs * PAWLI_BLOCKS, need = (pawli.verify.count + more) * sizeof(pawli_sum);
  int i;
  if (!pawli.verify.on) return;
  pawli.verify.sums = (pawli_sum *)(void *)pawli_grow((char *)pawli.verify.sums, &pawli.verify.room, need);
  pawli_sum *const sums = pawli.verify.sums + pawli.verify.count;
  memset(sums, 0, more * sizeof *sums);
  for (i = 0; i < pawli.batch; i++)
    pawli_sum_outputs(&pawli.sets[(pawli.next_set + pawli.set_count - pawli.batch + i) % pawli.set_count], (uint64_t)i, pawli.batch, sums);
  pawli.verify.count += more;
  pawli.verify.run += (uint64_t)pawli.batch;
}

/* Takes one sample. The CPU clock is read outside of the wall clock, because reading it is a system call. */
static void pawli_take(int hold, pawli_reading *r) {
  int i;
  do {
    pawli_lay_out_sample();
    if (pawli.cold) pawli_flush();
    pawli_before(hold);
    const double cpu = pawli_clock(CLOCK_THREAD_CPUTIME_ID);
    const double wall = pawli_clock(CLOCK_MONOTONIC);
    for (i = 0; i < pawli.batch; i++) {
      pawli.launch.run = i;
      pawli.prepared->run(pawli.sets[pawli.next_set].state, &pawli.launch);
      if (++pawli.next_set >= pawli.set_count) pawli.next_set = 0;
    }
    pawli_after();
    r->by[PAWLI_TIMER_WALL] = pawli_clock(CLOCK_MONOTONIC) - wall;
    r->by[PAWLI_TIMER_CPU] = pawli_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
  } while (!pawli_read(r));
  for (i = 0; i < PAWLI_TIMERS; i++) r->by[i] /= pawli.batch;
  pawli_look_at_outputs(&pawli.sets[(pawli.next_set + pawli.set_count - 1) % pawli.set_count]);
}

/* Adds sets until there are so many, or no memory for more. */
static void pawli_add_sets(double wanted) {
  while (pawli.set_count < wanted && pawli.set_count < PAWLI_SETS) {
    if (!pawli_add_set()) continue;
    if (strcmp(pawli.code, "no_memory") != 0) pawli_raise();
    return; /* fewer sets have to do */
  }
}

/* Adds sets for so many runs, or so many that they exceed the cache. Returns how many that would be. */
static double pawli_add_cold_sets(double runs) {
  const double exceeds_cache = pawli.bytes > 0 ? 2 * (double)pawli_cache_bytes() / pawli.bytes + 1 : 1e18;
  const double sets = runs < exceeds_cache ? runs : exceeds_cache;
  pawli_add_sets(sets);
  return exceeds_cache;
}

/* Makes the batch as large as wanted. No run of a cold batch may find its inputs in the cache: each has a set of its
   own, or there are so many that a set is out of the cache when its turn comes again. Where inputs are drawn, each run
   has a set of its own always: what it leaves is looked at, and what another left does not help it. */
static void pawli_set_batch(double wanted) {
  if (wanted > (double)PAWLI_MOST_RUNS) wanted = (double)PAWLI_MOST_RUNS;
  if (pawli.cold) {
    const double exceeds_cache = pawli_add_cold_sets(wanted);
    if (pawli.set_count < exceeds_cache && wanted > pawli.set_count) wanted = pawli.set_count;
  }
  if (pawli.drawing) {
    pawli_add_sets(wanted);
    if (wanted > pawli.set_count) wanted = pawli.set_count;
  }
  pawli.batch = (int)wanted;
}

static void pawli_choose_batch(void) {
  const double shortest = pawli_shortest_ns(PAWLI_SHORT_NS);
  const double target = shortest * (PAWLI_SAMPLE_NS / PAWLI_SHORT_NS);
  const double until = pawli_clock(CLOCK_MONOTONIC) + PAWLI_SETTLE_NS;
  pawli_reading r = {{0, 0, 0}, 0};
  int tries, i;
  pawli.batch = 1;
  do pawli_take(0, &r);
  while (pawli_clock(CLOCK_MONOTONIC) < until);
  for (tries = 0; tries < 6; tries++) {
    const int before = pawli.batch;
    double least = 1e18;
    for (i = 0; i < 3; i++) {
      pawli_take(0, &r);
      if (r.by[pawli.timer] * before < least) least = r.by[pawli.timer] * before;
    }
    if (least >= (before == 1 ? shortest : 0.8 * target)) break;
    pawli_set_batch(before * (least > target / 100 ? target / least : 100) + 0.99);
    if (pawli.batch <= before) break; /* as large as it may become */
  }
}

/* ---- the protocol ---------------------------------------------------------------------------------------------- */

/* Exits when pawl has closed its end of the pipe. */
static void pawli_look(void) {
  struct pollfd p;
  p.fd = pawli.in;
  p.events = POLLIN;
  p.revents = 0;
  if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR))) _exit(0);
}

static void pawli_open_once(const char *device) {
  if (!pawli.opened) pawli_open(device);
  pawli.opened = 1;
}

#ifndef PAWLI_HAS_RECORDS /* CUDA alone has them */
#define PAWLI_HAS_RECORDS() 0
static double pawli_set_records(int on) { return on; }
#endif

static void pawli_answer_hello(const char *request) {
  const char *versions = pawli_member(request, "protocol"), *s = versions;
  double version = 0;
  int i;
  if (s && *s == '[') {
    for (s = pawli_space(s + 1); *s != ']' && version != 1; s = pawli_space(*s == ',' ? s + 1 : s)) {
      pawli_number(s, &version);
      s = pawli_space(pawli_skip(s, 0));
    }
  }
  if (version != 1)
    pawl_fail_as("unsupported", "this harness speaks protocol [1], pawl speaks %s: update the older of the two",
                 pawli_quote(versions));
  pawli_open_once(pawli_member(request, "device"));
  pawli_begin("hello");
  pawli_put(",\"protocol\":1,\"sdk\":\"pawl.h " PAWL_VERSION "\",\"calibration\":true,"
            "\"features\":[\"check\",\"run\",\"keep\",\"verify\",\"profile\"],\"timers\":");
  for (i = PAWLI_FIRST_TIMER; i < PAWLI_TIMERS; i++)
    pawli_put("%s\"%s\"", i == PAWLI_FIRST_TIMER ? "[" : ",", pawli_timer_names[i]);
  if (PAWLI_HAS_RECORDS()) pawli_put(",\"" PAWLI_KERNEL_TIMER "\"");
  pawli_put("],\"device\":{\"name\":");
  pawli_put_string(pawli.device_name);
  pawli_put_fact("runtime", pawli.runtime);
  pawli_put("}");
  pawli_send();
}

#define PAWLI_BLANK " ,;\t\n"

/* Writes the first config of "N=256; N=512" as a JSON object and returns what follows it. */
static const char *pawli_put_config(const char *configs, const char *benchmark) {
  const char *s = configs + strspn(configs, PAWLI_BLANK), *separator = "{";
  while (*s && *s != ';') {
    char name[128], value[256];
    const size_t length = strcspn(s, "=" PAWLI_BLANK);
    const size_t value_length = s[length] == '=' ? strcspn(s + length + 1, PAWLI_BLANK) : 0;
    if (!length || !value_length || length >= sizeof name || value_length >= sizeof value)
      pawl_fail("the configs of %s: want NAME=VALUE at \"%.40s\"", benchmark, s);
    snprintf(name, sizeof name, "%.*s", (int)length, s);
    snprintf(value, sizeof value, "%.*s", (int)value_length, s + length + 1);
    pawli_put("%s", separator);
    pawli_put_string(name);
    pawli_put(":");
    const char *end = strchr("-0123456789tf", *value) ? pawli_skip(value, 0) : NULL;
    if (end && !*end) pawli_put("%s", value); /* a number, true or false */
    else pawli_put_string(value);
    separator = ",";
    s += length + 1 + value_length;
    s += strspn(s, " ,\t\n");
  }
  pawli_put("}");
  return s;
}

/* The facts of a benchmark, which may stand with any of its implementations. */
static pawl_benchmark pawli_facts(const char *name) {
  pawl_benchmark facts;
  int i;
  memset(&facts, 0, sizeof facts);
  for (i = 0; i < pawli.count; i++) {
    const pawl_benchmark *const b = &pawli.benchmarks[i];
    if (strcmp(b->name, name) != 0) continue;
    if (!facts.name) facts = *b;
    if (!facts.configs) facts.configs = b->configs;
    if (!facts.flops) facts.flops = b->flops;
    if (!facts.bytes) facts.bytes = b->bytes;
  }
  if (!facts.configs) facts.configs = "";
  return facts;
}

static void pawli_put_benchmark(const char *name) {
  const pawl_benchmark facts = pawli_facts(name);
  const char *configs = facts.configs, *separator = "";
  int i;
  pawli_put("{\"name\":");
  pawli_put_string(name);
  pawli_put(",\"implementations\":[");
  for (i = 0; i < pawli.count; i++) {
    if (strcmp(pawli.benchmarks[i].name, name) != 0) continue;
    pawli_put("%s", separator);
    pawli_put_string(pawli_implementation(&pawli.benchmarks[i]));
    separator = ",";
  }
  pawli_put("]");
  if (facts.flops) pawli_put_fact("flops", facts.flops);
  if (facts.bytes) pawli_put_fact("bytes", facts.bytes);
  pawli_put(",\"configs\":[");
  for (separator = ""; configs[strspn(configs, PAWLI_BLANK)]; separator = ",") {
    pawli_put("%s", separator);
    configs = pawli_put_config(configs, name);
  }
  pawli_put("]}");
}

static void pawli_answer_cases(const char *request) {
  const char *separator = "";
  int i, k;
  (void)request;
  pawli_begin("cases");
  pawli_put(",\"benchmarks\":[");
  for (i = 0; i < pawli.count; i++) {
    for (k = 0; strcmp(pawli.benchmarks[k].name, pawli.benchmarks[i].name) != 0;) k++;
    if (k < i) continue; /* was written with its first implementation */
    pawli_put("%s", separator);
    pawli_put_benchmark(pawli.benchmarks[i].name);
    separator = ",";
  }
  pawli_put("]");
  pawli_send();
}

static const pawl_benchmark *pawli_find(const char *benchmark, const char *implementation) {
  const pawl_benchmark *found = NULL;
  int i;
  if (pawli_is(benchmark, PAWLI_CALIBRATION)) return &pawli_calibration;
  for (i = 0; i < pawli.count; i++) {
    if (!pawli_is(benchmark, pawli.benchmarks[i].name)) continue;
    found = &pawli.benchmarks[i];
    if (pawli_is(implementation ? implementation : "\"candidate\"", pawli_implementation(found))) return found;
  }
  if (!found) pawl_fail_as("no_such_benchmark", "there is no benchmark %s here", pawli_quote(benchmark));
  pawl_fail_as("no_such_implementation", "%s has no implementation %s", found->name, pawli_quote(implementation));
}

static uint64_t pawli_seed(const char *json) {
  char text[24] = "0", *end;
  if (json && *json == '"' && pawli_skip_string(json) - json <= (ptrdiff_t)sizeof text) pawli_decode(json, text);
  else if (json) text[0] = 0;
  errno = 0;
  const unsigned long long seed = strtoull(text, &end, 10);
  if (!pawli_digit(text[0]) || *end || errno)
    pawl_fail_as("bad_params", "seed %s is not a decimal string of 64 bits", pawli_quote(json));
  return seed;
}

/* Reads a key of 64 hexadecimal digits. Returns 0 when there is none. */
static int pawli_read_key(const char *json, pawli_key *to) {
  char text[72] = "";
  int i, k;
  if (!json) return 0;
  if (*json == '"' && pawli_skip_string(json) - json <= (ptrdiff_t)sizeof text) pawli_decode(json, text);
  if (strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
    pawl_fail_as("bad_params", "key is not a string of 64 hexadecimal digits");
  for (i = 0; i < 8; i++)
    for (to->word[i] = 0, k = 0; k < 8; k++) {
      const char c = text[8 * i + k];
      to->word[i] = to->word[i] << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
  return 1;
}

static void pawli_prepare(const char *request) {
  const char *timer = pawli_member(request, "timer"), *cache = pawli_member(request, "cache"), *params;
  int i = PAWLI_FIRST_TIMER;
  pawli_release();
  pawli_open_once(NULL);
  pawli.batch = pawli.next_set = pawli.give_ups = 0;
  pawli.filled = 0;
  pawli.note[0] = 0;
  pawli_forget_reports();
  free(pawli.request);
  pawli.request = (char *)malloc(strlen(request) + 1);
  if (!pawli.request) pawl_fail_as("no_memory", "no memory for the request");
  strcpy(pawli.request, request); /* params point into it, and the line will be overwritten */
  params = pawli_member(pawli.request, "params");
  pawli.params.json = params ? params : "{}";
  if (*pawli.params.json != '{') pawl_fail_as("bad_params", "params is not an object");
  pawli.by_records = timer && pawli_is(timer, PAWLI_KERNEL_TIMER) && PAWLI_HAS_RECORDS();
  while (timer && !pawli.by_records && i < PAWLI_TIMERS && !pawli_is(timer, pawli_timer_names[i])) i++;
  if (i == PAWLI_TIMERS) pawl_fail_as("unsupported", "there is no timer %s here", pawli_quote(timer));
  pawli.timer = (pawli_timer)i;
  pawli.cold = pawli_is(cache, "cold");
  if (cache && !pawli.cold && !pawli_is(cache, "hot"))
    pawl_fail_as("unsupported", "cache is hot or cold, not %s", pawli_quote(cache));
  pawli.seed = pawli_seed(pawli_member(request, "seed"));
  pawli.draws.state = ~pawli.seed ^ UINT64_C(0xa0761d6478bd642f);
  pawli.bytes = pawli_amount(request, "bytes", 0);
  pawli.drawing = pawli_read_key(pawli_member(request, "key"), &pawli.key);
  pawli.untimed = 0;
  const double step = pawli_set_records(pawli.by_records);
  if (i == PAWLI_TIMER_DEVICE) pawli.quantum_ns = pawli.by_records ? step : pawli.device_quantum_ns;
  else pawli.quantum_ns = pawli_step_ns(i == PAWLI_TIMER_CPU ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
  pawli.prepared = pawli_find(pawli_member(request, "benchmark"), pawli_member(request, "implementation"));
  pawli.reporting = 1;
  const int failed = pawli_add_set();
  pawli.reporting = 0;
  if (failed) {
    pawli.prepared = NULL;
    pawli_raise();
  }
  if (pawli_try(pawli_match_arguments, (void *)(uintptr_t)pawli_member(pawli.request, "arguments"))) {
    pawli_release();
    pawli_raise();
  }
  if (!pawli.sets[0].arguments) pawli.drawing = 0;
}

static void pawli_answer_prepare(const char *request) {
  pawli_prepare(request);
  pawli_begin("prepare");
  pawli_put(",\"timer\":\"%s\",\"quantum_ns\":", pawli.by_records ? PAWLI_KERNEL_TIMER : pawli_timer_names[pawli.timer]);
  pawli_put_number(pawli.quantum_ns);
  pawli_send();
}

/* The sums as bytes in hexadecimal: they must arrive as they are, and no locale may change a point. */
static void pawli_put_sums(void) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *const from = (const unsigned char *)pawli.verify.sums;
  const size_t bytes = pawli.verify.count * sizeof(pawli_sum);
  size_t i;
  if (!pawli.verify.on) return;
  pawli_put(",\"sums\":\"");
  pawli.text = pawli_grow(pawli.text, &pawli.text_room, pawli.text_length + 2 * bytes + 2);
  for (i = 0; i < bytes; i++) {
    pawli.text[pawli.text_length++] = digits[from[i] >> 4];
    pawli.text[pawli.text_length++] = digits[from[i] & 15];
  }
  pawli_put("\"");
  pawli.verify.count = 0;
}

static void pawli_put_readings(int count, int clock) {
  int i;
  pawli_put_numbers("samples", pawli.part[pawli.timer], count);
  for (i = PAWLI_TIMER_WALL; i < PAWLI_TIMERS; i++)
    if (i != (int)pawli.timer) pawli_put_numbers(pawli_timer_names[i], pawli.part[i], count);
  if (clock) pawli_put_numbers("clock_mhz", pawli.part[PAWLI_TIMERS], count);
  pawli_put_sums();
}

/* Reads a path or another text of a request. */
static void pawli_text(const char *json, const char *what, char *to, size_t room) {
  if (!json || *json != '"' || pawli_skip_string(json) - json > (ptrdiff_t)room)
    pawl_fail_as("bad_params", "%s is not a text of less than %d bytes", what, (int)room);
  pawli_decode(json, to);
}

/* Chooses the samples that are kept: each of them is as likely as any other. */
static void pawli_choose_kept(const char *keep, double samples) {
  pawl_rng rng;
  double left, need = pawli_amount(keep, "count", 0);
  memset(&pawli.keep, 0, sizeof pawli.keep);
  if (!keep || *keep != '{' || need == 0) return;
  if (samples == 0) pawl_fail_as("bad_params", "keep needs a number of samples");
  if (need > (double)PAWLI_KEPT) need = (double)PAWLI_KEPT;
  rng.state = pawli_seed(pawli_member(keep, "seed"));
  pawli_text(pawli_member(keep, "dir"), "dir", pawli.keep.dir, sizeof pawli.keep.dir - 32);
  for (left = samples; left > 0 && need > 0; left--) {
    if ((double)(pawl_random(&rng) >> 11) / 9007199254740992.0 * left >= need) continue;
    pawli.keep.samples[pawli.keep.count++] = samples - left;
    need--;
  }
}

/* Before the measurement: nothing is kept of what has no arguments. */
static void pawli_begin_keeping(void) {
  int i;
  const pawli_argument *a = pawli.sets[0].arguments;
  if (!a) pawli.keep.count = 0;
  for (; a && pawli.batch > pawli.set_count; a = a->next) {
    if (a->role != PAWLI_INOUT) continue;
    pawli.keep.count = 0; /* nobody knows what the last run of a batch began with */
    snprintf(pawli.note, sizeof pawli.note, "%s is read and written, and a sample is a batch: none can be checked",
             a->name);
  }
  pawli.keep.on = pawli.keep.count > 0;
  for (i = 0; pawli.keep.on && i < pawli.set_count; i++) pawli_hash_inputs(&pawli.sets[i]);
}

/* Before a sample: whether it is one that is kept. */
static void pawli_before_sample(double sample) {
  pawli.keep.now = pawli.keep.next < pawli.keep.count && pawli.keep.samples[pawli.keep.next] == sample;
}

static void pawli_after_sample(void) {
  const int n = pawli.keep.next;
  char in[PAWLI_PATH], out[PAWLI_PATH];
  if (!pawli.keep.now) return;
  pawli.keep.now = 0;
  pawli.keep.next++;
  snprintf(in, sizeof in, "%.*s/%d-in.safetensors", PAWLI_PATH - 40, pawli.keep.dir, n);
  snprintf(out, sizeof out, "%.*s/%d-out.safetensors", PAWLI_PATH - 40, pawli.keep.dir, n);
  pawli_examine(&pawli.sets[(pawli.next_set + pawli.set_count - 1) % pawli.set_count], in, out);
}

static void pawli_put_kept(void) {
  char path[PAWLI_PATH];
  int n, k;
  for (n = 0; n < pawli.keep.count; n++) {
    pawli_put("%s{\"sample\":%.0f", n ? "," : ",\"kept\":[", pawli.keep.samples[n]);
    for (k = 0; k < 2; k++) {
      snprintf(path, sizeof path, "%.*s/%d-%s.safetensors", PAWLI_PATH - 40, pawli.keep.dir, n, k ? "out" : "in");
      pawli_put_fact(k ? "outputs" : "inputs", path);
    }
    pawli_put("}%s", n == pawli.keep.count - 1 ? "]" : "");
  }
}

/* What a measurement is told of the sums that it is to give. A batch that another side needs is taken over, so that
   both sides' samples are of the same runs. */
static void pawli_begin_verifying(const char *verify, double batch) {
  pawli.verify.count = 0;
  pawli.verify.on = verify && *verify == '{' && pawli.drawing && pawli.verify.outputs;
  if (batch > 0 && batch != pawli.batch) pawli_set_batch(batch);
  if (!pawli.verify.on) return;
  pawli.verify.key = pawli_seed(pawli_member(verify, "key"));
  pawli.verify.run = (uint64_t)pawli_amount(verify, "first", 0) * (uint64_t)pawli.batch;
}

static void pawli_answer_measure(const char *request) {
  const double samples = pawli_amount(request, "samples", 0), busy_ns = pawli_amount(request, "busy_ns", 0);
  const char *const warmup = pawli_member(request, "warmup");
  const int timed = !(warmup && *warmup == 't');
  pawli_reading r = {{0, 0, 0}, 0};
  double count = 0, now, start, sent, looked;
  int i, kept = 0, clock = 0;
  if (samples == 0 && busy_ns == 0) pawl_fail_as("bad_params", "measure needs a number of samples, a time, or both");
  if (!pawli.prepared) pawl_fail("nothing is prepared: ask for prepare first");
  memset(&pawli.keep, 0, sizeof pawli.keep);
  pawli.verify.on = 0;
  if (!pawli.batch) pawli_choose_batch();
  pawli_begin_verifying(pawli_member(request, "verify"), pawli_amount(request, "batch", 0));
  pawli_choose_kept(pawli_member(request, "keep"), samples);
  pawli_begin_keeping();
  now = start = sent = looked = pawli_clock(CLOCK_MONOTONIC);
  while (count < samples || now - start < busy_ns) {
    if (kept == PAWLI_PART || now - sent > PAWLI_LIFE_NS || pawli.reports > (size_t)PAWLI_REPORTS) {
      pawli_begin("samples");
      pawli_put_readings(kept, clock);
      if (timed) pawli_put_reports();
      pawli_send();
      kept = 0;
      sent = now;
    }
    if (now - looked > PAWLI_LOOK_NS) pawli_look(), looked = now;
    if (pawli.keep.on) pawli_before_sample(count);
    /* A virtual machine that stalls can leave the CPU clock standing for a while. */
    pawli.reporting = timed;
    do pawli_take(timed, &r);
    while (!(r.by[pawli.timer] > 0) && pawli_clock(CLOCK_MONOTONIC) - now < PAWLI_STALL_NS);
    pawli.reporting = 0;
    if (!(r.by[pawli.timer] > 0)) pawl_fail("the timer %s did not move for a second", pawli_timer_names[pawli.timer]);
    for (i = 0; i < PAWLI_TIMERS; i++) pawli.part[i][kept] = r.by[i];
    pawli.part[PAWLI_TIMERS][kept++] = r.clock_mhz;
    pawli_sum_sample();
    if (pawli.keep.on) pawli_after_sample();
    if (count++ == 0) clock = r.clock_mhz > 0; /* all parts have it, or none */
    now = pawli_clock(CLOCK_MONOTONIC);
  }
  for (i = 0; i < pawli.set_count && timed; i++) pawli_look_at_zones(&pawli.sets[i]);
  pawli_begin("measure");
  pawli_put(",\"count\":%.0f,\"batch\":%d", count, pawli.batch);
  pawli_put_readings(kept, clock);
  if (pawli.note[0]) pawli_put_fact("note", pawli.note);
  if (timed) pawli_put_reports();
  pawli_put_kept();
  pawli_send();
}

/* Runs without a reading of any clock. */
typedef struct pawli_plain {
  double runs, warmup;
  const char *inputs, *outputs; /* lists of paths, or NULL: as many checks */
  uint64_t poison;
} pawli_plain;

static inline void pawli_run_next(double runs) {
  for (; runs > 0; runs--) {
    pawli.launch.run = 0;
    pawli.prepared->run(pawli.sets[pawli.next_set].state, &pawli.launch);
    if (++pawli.next_set >= pawli.set_count) pawli.next_set = 0;
  }
}

static void pawli_run_plainly(void *with) {
  pawli_lay_out_untimed(&pawli.sets[pawli.next_set]);
  if (pawli.cold) pawli_flush();
  pawli_run_next(((const pawli_plain *)with)->runs);
  pawli_wait();
  pawli_wait_all();
}

/* What a profiler is to look at, and nothing else. Tools that know functions find it by this name. */
static PAWLI_APART void pawl_profiled(double runs) {
  pawli_run_next(runs);
  pawli_wait();
}

static void pawli_run_watched(void *with) {
  pawl_profiled(((const pawli_plain *)with)->runs);
  pawli_wait_all();
}

/* The runs that are profiled find what a sample finds; what comes before them is not looked at. */
static void pawli_run_profiled(void *with) {
  const pawli_plain *const plain = (const pawli_plain *)with;
  pawli_run_next(plain->warmup);
  pawli_wait();
  pawli_lay_out_untimed(&pawli.sets[pawli.next_set]);
  if (pawli.cold) pawli_flush();
  else pawli_warm(&pawli.sets[pawli.next_set]);
  pawli_wait_all();
  pawli_watch(1);
  const int failed = pawli_try(pawli_run_watched, with);
  pawli_watch(0);
  if (failed) pawli_raise();
}

static void pawli_check_plainly(void *with) {
  const pawli_plain *const plain = (const pawli_plain *)with;
  const char *inputs = plain->inputs, *outputs = plain->outputs, *in, *out;
  char path[PAWLI_PATH];
  uint64_t i;
  for (i = 0; i < plain->runs; i++) {
    if (!pawli_next_value(&inputs, &in) || !pawli_next_value(&outputs, &out))
      pawl_fail_as("bad_params", "run needs one path for each iteration");
    pawli_text(in, "inputs", path, sizeof path);
    pawli_load(&pawli.sets[0], path);
    pawli_text(out, "outputs", path, sizeof path);
    pawli_poison_set(&pawli.sets[0], plain->poison + i);
    pawli_wait();
    pawli.launch.run = 0;
    pawli.prepared->run(pawli.sets[0].state, &pawli.launch);
    pawli_wait();
    pawli_examine(&pawli.sets[0], NULL, path);
  }
}

/* With another timer than device nobody reads events, so nothing else than the runs is launched. */
static void pawli_without_timer(void (*step)(void *), pawli_plain *with) {
  const pawli_timer timer = pawli.timer;
  pawli_abandon();
  pawli.timer = PAWLI_TIMER_WALL;
  const int failed = pawli_try(step, with);
  pawli.timer = timer;
  if (failed) pawli_raise();
}

static void pawli_answer_check(const char *request) {
  pawli_plain plain = {1, 0, NULL, NULL, 0};
  const int supported = pawli.prepared && pawli.sets[0].arguments;
  if (!pawli.prepared) pawl_fail("nothing is prepared: ask for prepare first");
  if (supported) {
    plain.inputs = pawli_member(request, "inputs");
    plain.outputs = pawli_member(request, "outputs");
    plain.poison = pawli_seed(pawli_member(request, "poison"));
    if (!plain.inputs || !plain.outputs) pawl_fail_as("bad_params", "check needs inputs and outputs");
    pawli_without_timer(pawli_check_plainly, &plain);
  }
  pawli_begin("check");
  pawli_put(",\"supported\":%s", supported ? "true" : "false");
  pawli_send();
}

static double pawli_iterations(const char *request, const char *op) {
  const double runs = pawli_amount(request, "iterations", 0);
  if (!(runs >= 1 && runs <= 1e9 && runs == (double)(int64_t)runs))
    pawl_fail_as("bad_params", "%s needs a whole number of iterations, from 1 to a billion", op);
  if (!pawli.prepared) pawl_fail("nothing is prepared: ask for prepare first");
  return runs;
}

static void pawli_answer_run(const char *request) {
  pawli_plain plain = {pawli_iterations(request, "run"), 0, NULL, NULL, 0};
  if (!pawli.batch) pawli_choose_batch();
  if (pawli.cold && pawli.bytes > 0) pawli_add_cold_sets(plain.runs);
  plain.inputs = pawli_member(request, "inputs");
  plain.outputs = pawli_member(request, "outputs");
  plain.poison = pawli_seed(pawli_member(request, "poison"));
  if (plain.inputs || plain.outputs) {
    if (!pawli.sets[0].arguments) pawl_fail_as("unsupported", "%s registers no arguments", pawli.prepared->name);
    if (!plain.inputs || !plain.outputs || *plain.inputs != '[' || *plain.outputs != '[')
      pawl_fail_as("bad_params", "inputs and outputs of run are lists of paths");
  }
  pawli_without_timer(plain.inputs ? pawli_check_plainly : pawli_run_plainly, &plain);
  pawli_begin("run");
  pawli_put(",\"iterations\":%.0f", plain.runs);
  pawli_send();
}

static void pawli_answer_profile(const char *request) {
  pawli_plain plain = {pawli_iterations(request, "profile"), pawli_amount(request, "warmup", 0), NULL, NULL, 0};
  if (pawli.cold && pawli.bytes > 0) pawli_add_cold_sets(plain.runs);
  pawli_without_timer(pawli_run_profiled, &plain);
  pawli_begin("profile");
  pawli_put(",\"iterations\":%.0f", plain.runs);
  pawli_put_launches();
  pawli_send();
}

static void pawli_answer_bye(const char *request) {
  (void)request;
  pawli_release();
  pawli_begin("bye");
  pawli_send();
}

static const struct {
  const char *op;
  void (*answer)(const char *request);
} pawli_ops[] = {{"hello", pawli_answer_hello},     {"cases", pawli_answer_cases}, {"prepare", pawli_answer_prepare},
                 {"measure", pawli_answer_measure}, {"check", pawli_answer_check}, {"run", pawli_answer_run},
                 {"profile", pawli_answer_profile}, {"bye", pawli_answer_bye}};

static void pawli_answer(void *unused) {
  const char *op = pawli_member(pawli.asked, "op");
  size_t i;
  (void)unused;
  pawli.reporting = 0; /* a run that failed may have left it */
  for (i = 0; i < sizeof pawli_ops / sizeof *pawli_ops; i++) {
    if (!pawli_is(op, pawli_ops[i].op)) continue;
    pawli_ops[i].answer(pawli.asked);
    return;
  }
  pawl_fail_as("unsupported", "this harness does not know the request %s", pawli_quote(op));
}

static void pawli_answer_failure(void) {
  const char *id = pawli_member(pawli.asked, "id"), *op = pawli_member(pawli.asked, "op");
  pawli_close_file();
  pawli.text_length = 0;
  pawli_put("{\"id\":%.*s,\"op\":%.*s,\"error\":{\"code\":", (int)(pawli_skip_number(id) - id), id,
            (int)(pawli_skip_string(op) - op), op);
  pawli_put_string(pawli.code);
  pawli_put_fact("message", pawli.message);
  pawli_put("}");
  pawli_send();
}

/* Brings the next line to the front of pawli.line and returns its length; used is the length of the last one. */
static size_t pawli_next_line(size_t used) {
  char *end;
  memmove(pawli.line, pawli.line + used, pawli.line_length -= used);
  while (!(end = (char *)memchr(pawli.line, '\n', pawli.line_length))) {
    if (pawli.line_length > PAWLI_LINE) pawli_die("pawl sent a line above 64 MiB");
    pawli.line = pawli_grow(pawli.line, &pawli.line_room, pawli.line_length + 4096);
    const ssize_t n = read(pawli.in, pawli.line + pawli.line_length, pawli.line_room - pawli.line_length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) { /* pawl is gone: do not wait for a teardown that may hang */
      fflush(NULL);
      _exit(0);
    }
    pawli.line_length += (size_t)n;
  }
  *end = 0;
  return (size_t)(end - pawli.line) + 1;
}

static int pawli_is_request(const char *text, size_t length) {
  const char *end = *text == '{' ? pawli_skip(text, 0) : NULL, *id, *op;
  if (!end || *(end = pawli_space(end)) || (size_t)(end - pawli.line) != length) return 0;
  id = pawli_member(text, "id");
  op = pawli_member(text, "op");
  return id && op && (*id == '-' || pawli_digit(*id)) && *op == '"';
}

static int pawli_serve(void) {
  size_t used = 0;
  pawli.line = pawli_grow(pawli.line, &pawli.line_room, 4096);
  for (;;) {
    used = pawli_next_line(used);
    pawli.asked = pawli_space(pawli.line);
    if (!pawli_is_request(pawli.asked, used - 1)) {
      fprintf(stderr, "pawl.h: pawl sent a line that is not a request: %.80s\n", pawli.line);
      return 1;
    }
    if (pawli_try(pawli_answer, NULL)) pawli_answer_failure();
    else if (pawli_is(pawli_member(pawli.asked, "op"), "bye")) return 0;
  }
}

/* ---- started by hand ------------------------------------------------------------------------------------------- */

static int pawli_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void pawli_print_time(double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  int i = 0;
  for (; i < 3 && ns >= 1000; i++) ns /= 1000;
  printf("%8.2f %-2s", ns, units[i]);
}

/* Measures one case for about a fifth of a second and ends its row of the table. */
static void pawli_try_case(void *prepare_request) {
  double *const samples = pawli.part[PAWLI_TIMERS];
  pawli_reading r = {{0, 0, 0}, 0};
  int n = 0;
  pawli_prepare((const char *)prepare_request);
  pawli_choose_batch();
  const double until = pawli_clock(CLOCK_MONOTONIC) + 200e6;
  while (n < 10 || (n < PAWLI_PART && pawli_clock(CLOCK_MONOTONIC) < until)) {
    pawli_take(1, &r);
    samples[n++] = r.by[pawli.timer];
  }
  qsort(samples, (size_t)n, sizeof *samples, pawli_order);
  pawli_print_time(samples[n / 2]);
  printf("  +-%4.1f%%  %5d x %d\n", 50 * (samples[n * 3 / 4] - samples[n / 4]) / samples[n / 2], n, pawli.batch);
}

static void pawli_try_benchmark(void *benchmark) {
  const pawl_benchmark *const b = (const pawl_benchmark *)benchmark;
  const char *configs = pawli_facts(b->name).configs;
  if (!*configs) printf("%-16s %-12s has no configs of its own\n", b->name, pawli_implementation(b));
  while (configs[strspn(configs, PAWLI_BLANK)]) {
    const char *const config = configs + strspn(configs, PAWLI_BLANK);
    pawli.text_length = 0;
    pawli_put("{\"benchmark\":");
    pawli_put_string(b->name);
    pawli_put_fact("implementation", pawli_implementation(b));
    pawli_put(",\"seed\":\"1\",\"params\":");
    configs = pawli_put_config(configs, b->name);
    pawli_put("}");
    printf("%-16s %-12s %-28.*s ", b->name, pawli_implementation(b), (int)(configs - config), config);
    fflush(stdout);
    if (pawli_try(pawli_try_case, pawli.text)) printf("%s: %s\n", pawli.code, pawli.message);
  }
}

static void pawli_try_device(void *unused) {
  (void)unused;
  pawli_open_once(NULL);
}

static int pawli_by_hand(int argc, char **argv) {
  int i;
  if (argc > 1) {
    printf("usage: %s\n\n"
           "A harness for pawl (pawl.h " PAWL_VERSION "). Started by hand it measures its configs briefly.\n"
           "To judge a change, name this program as harness.command in pawl.yaml and run: pawl bench\n", argv[0]);
    return strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ? 0 : 4;
  }
  if (pawli_try(pawli_try_device, NULL)) {
    fprintf(stderr, "pawl.h: %s\n", pawli.message);
    return 3;
  }
  printf("on %s (%s), timer %s, hot cache\n", pawli.device_name, pawli.runtime, pawli_timer_names[PAWLI_FIRST_TIMER]);
  printf("%-16s %-12s %-28s %11s  %7s  %s\n", "benchmark", "impl.", "config", "median", "spread", "samples x batch");
  for (i = 0; i < pawli.count; i++)
    if (pawli_try(pawli_try_benchmark, (void *)&pawli.benchmarks[i]))
      printf("%s: %s\n", pawli.benchmarks[i].name, pawli.message);
  pawli_release();
  printf("A quick look, not a measurement: to judge a change, run `pawl bench`.\n");
  return 0;
}

/* ---- main ------------------------------------------------------------------------------------------------------ */

static int pawli_descriptor(const char *variable) {
  const char *text = getenv(variable);
  char *end = NULL;
  const long fd = text && pawli_digit(*text) ? strtol(text, &end, 10) : -1;
  if (fd < 0 || fd > 1 << 20 || *end || fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0) {
    fprintf(stderr, "pawl.h: %s=%s is not an open descriptor\n", variable, text ? text : "");
    exit(1);
  }
  unsetenv(variable); /* programs that the harness starts are not harnesses */
  return (int)fd;
}

PAWL_API int pawl_main(int argc, char **argv, const pawl_benchmark *benchmarks, int count) {
  int i;
  pawli.benchmarks = benchmarks;
  pawli.count = count;
  for (i = 0; i < count; i++)
    if (!benchmarks[i].name || !benchmarks[i].run) pawli_die("a benchmark needs a name and a run function");
  if (!getenv("PAWL_IN")) return pawli_by_hand(argc, argv);
  pawli.in = pawli_descriptor("PAWL_IN");
  pawli.out = pawli_descriptor("PAWL_OUT");
  return pawli_serve();
}

#endif
