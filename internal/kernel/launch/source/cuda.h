/* CUDA kernels: a cubin, PTX or fatbin, loaded and launched through the driver API. Poison and fingerprints are made on
   the device (device.cu), since every output would else cross the bus twice a sample.

   Not yet run on a GPU: it has run on the virtual GPU (sdk/virtualgpu) only. */

#include "library.h"

#define DEVICE_KIND "cuda"
#define DEVICE_FIRST_TIMER PAWLI_TIMER_DEVICE
#define DEVICE_LAST_TIMER PAWLI_TIMER_WALL
#define DEVICE_SHORT_NS 25e3 /* shorter runs are batched */
#define HOLD_CYCLES 500000000LL   /* how long launches are held back at most: about a third of a second */
#define MOST_HELD 512             /* launches that surely fit the queue behind the kernel that holds them */
#define MOST_GIVEN_UP 3           /* samples in a row in which the host let launches wait for too long */
#define STEP_PAIRS 200            /* event times from which their step is found */
#define MOST_SCRATCH 2            /* pointers that Triton's kernels take beside their arguments */

#include "device_ptx.h" /* own_ptx: device.ptx as a string */

typedef void *handle;
typedef uint64_t address;

enum { /* names and numbers of the CUDA driver API that are used here */
  ATTRIBUTE_L2_BYTES = 38, ATTRIBUTE_MAJOR = 75, ATTRIBUTE_SHARED_OPT_IN = 97, ATTRIBUTE_PERSISTING_BYTES = 108, FUNCTION_SHARED_BYTES = 1,
  FUNCTION_MOST_DYNAMIC_SHARED = 8, FUNCTION_NEEDS_CLUSTER = 10, FUNCTION_LARGE_CLUSTER = 14, LAUNCH_COOPERATIVE = 2,
  LAUNCH_CLUSTER = 4, LAUNCH_DEPENDENT = 6, PORTABLE_CLUSTER = 8, LIMIT_PERSISTING_BYTES = 6, HOST_ALLOC_MAPPED = 2,
  ERROR_INVALID_VALUE = 1, ERROR_OUT_OF_MEMORY = 2, ERROR_NO_DEVICE = 100
};

typedef struct launch_attribute { /* as cuda.h has it: a number, and 64 bytes with its value */
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
  handle stream;
  launch_attribute *attributes;
  unsigned count;
} launch_config;

static struct {
  int (*init)(unsigned);
  int (*error_name)(int, const char **);
  int (*error_string)(int, const char **);
  int (*driver_version)(int *);
  int (*device_count)(int *);
  int (*device_get)(int *, int);
  int (*device_name)(char *, int, int);
  int (*device_uuid)(unsigned char *, int);
  int (*device_attribute)(int *, int, int);
  int (*context_create)(handle *, unsigned, int);
  int (*context_destroy)(handle);
  int (*context_synchronize)(void);
  int (*context_limit)(int, size_t);
  int (*forget_persisting)(void);
  int (*stream_create)(handle *, unsigned);
  int (*stream_synchronize)(handle);
  int (*event_create)(handle *, unsigned);
  int (*event_record)(handle, handle);
  int (*event_elapsed)(float *, handle, handle);
  int (*module_load)(handle *, const void *);
  int (*module_unload)(handle);
  int (*module_function)(handle *, handle, const char *);
  int (*function_attribute)(int *, int, handle);
  int (*function_set)(handle, int, int);
  int (*parameter_info)(handle, size_t, size_t *, size_t *);
  int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **);
  int (*launch_with)(const launch_config *, handle, void **, void **);
  int (*alloc)(address *, size_t);
  int (*release)(address);
  int (*to_device)(address, const void *, size_t);
  int (*to_host)(void *, address, size_t);
  int (*set_bytes)(address, unsigned char, size_t);
  int (*host_alloc)(void **, size_t, unsigned);
  int (*host_address)(address *, void *, unsigned);
  int (*profiler_start)(void);
  int (*profiler_stop)(void);
  int (*encode_map)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int, int, int, int);
} cu;

static struct {
  int number, l2_bytes, shared_most, persisting_bytes;
  int scratch; /* parameters of the kernel behind its arguments */
  launch_attribute attributes[3];
  unsigned attribute_count;
  handle context, stream, start, stop, own, module, kernel, poison, print, hold;
  address sums, swept, go_on_device;
  volatile int *go; /* mapped: go, gave up */
  int given_up;     /* samples in a row whose hold gave up */
} device;

/* After some failures of a kernel, such as an illegal address, every further call of the process fails. */
static int is_lost(void) {
  if (!device.context) return 0;
  if (device.go) device.go[0] = 1;
  return cu.context_synchronize() != 0;
}

static void must(int error, const char *doing) {
  const char *name = "?", *text = "?", *code = "failed";
  if (error == 0) return;
  if (cu.error_name) cu.error_name(error, &name), cu.error_string(error, &text);
  if (error == ERROR_OUT_OF_MEMORY) code = "no_memory";
  else if (error == ERROR_NO_DEVICE) code = "no_device";
  else if (is_lost()) code = "lost_device";
  pawl_fail_as(code, "%s: %s (%s)", doing, text, name);
}

static void open_driver(void) {
  static const char *const names[] = {"libcuda.so.1", NULL};
  static const entry entries[] = {
      {(void **)&cu.init, "cuInit"}, {(void **)&cu.error_name, "cuGetErrorName"}, {(void **)&cu.error_string, "cuGetErrorString"},
      {(void **)&cu.driver_version, "cuDriverGetVersion"}, {(void **)&cu.device_count, "cuDeviceGetCount"},
      {(void **)&cu.device_get, "cuDeviceGet"}, {(void **)&cu.device_name, "cuDeviceGetName"},
      {(void **)&cu.device_uuid, "cuDeviceGetUuid"}, {(void **)&cu.device_attribute, "cuDeviceGetAttribute"},
      {(void **)&cu.context_create, "cuCtxCreate_v2"}, {(void **)&cu.context_destroy, "cuCtxDestroy_v2"},
      {(void **)&cu.context_synchronize, "cuCtxSynchronize"}, {(void **)&cu.stream_create, "cuStreamCreate"},
      {(void **)&cu.stream_synchronize, "cuStreamSynchronize"}, {(void **)&cu.event_create, "cuEventCreate"},
      {(void **)&cu.event_record, "cuEventRecord"}, {(void **)&cu.event_elapsed, "cuEventElapsedTime"},
      {(void **)&cu.module_load, "cuModuleLoadData"}, {(void **)&cu.module_unload, "cuModuleUnload"},
      {(void **)&cu.module_function, "cuModuleGetFunction"}, {(void **)&cu.function_attribute, "cuFuncGetAttribute"},
      {(void **)&cu.function_set, "cuFuncSetAttribute"}, {(void **)&cu.launch, "cuLaunchKernel"},
      {(void **)&cu.context_limit, "cuCtxSetLimit"}, {(void **)&cu.forget_persisting, "cuCtxResetPersistingL2Cache", 1},
      {(void **)&cu.launch_with, "cuLaunchKernelEx", 1}, {(void **)&cu.parameter_info, "cuFuncGetParamInfo", 1}, {(void **)&cu.alloc, "cuMemAlloc_v2"}, {(void **)&cu.release, "cuMemFree_v2"},
      {(void **)&cu.to_device, "cuMemcpyHtoD_v2"}, {(void **)&cu.to_host, "cuMemcpyDtoH_v2"},
      {(void **)&cu.set_bytes, "cuMemsetD8_v2"}, {(void **)&cu.host_alloc, "cuMemHostAlloc"},
      {(void **)&cu.host_address, "cuMemHostGetDevicePointer_v2"}, {(void **)&cu.profiler_start, "cuProfilerStart"},
      {(void **)&cu.profiler_stop, "cuProfilerStop"}, {(void **)&cu.encode_map, "cuTensorMapEncodeTiled", 1},
  };
  open_library(names, entries, sizeof entries / sizeof *entries, "CUDA driver (libcuda.so.1)");
}

/* Chooses the device pawl names by its UUID, else the first. */
static void choose_device(const char *asked) {
  char uuid[80] = "";
  int count = 0, i, k;
  must(cu.device_count(&count), "looking for a CUDA device");
  if (!count) pawl_fail_as("no_device", "CUDA sees no device");
  if (asked) text_member(asked, "uuid", uuid, sizeof uuid);
  must(cu.device_get(&device.number, 0), "choosing a device");
  if (strncmp(uuid, "GPU-", 4) != 0) return; /* a MIG slice is chosen by CUDA_VISIBLE_DEVICES alone */
  for (i = 0; i < count; i++) {
    unsigned char bytes[16];
    char name[64] = "GPU";
    must(cu.device_get(&device.number, i), "choosing a device");
    must(cu.device_uuid(bytes, device.number), "asking for a device's UUID");
    for (k = 0; k < 16; k++)
      snprintf(name + strlen(name), sizeof name - strlen(name), "%s%02x", k == 0 || k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", bytes[k]);
    if (strcmp(name, uuid) == 0) return;
  }
  pawl_fail_as("no_device", "CUDA does not see the device %s; it sees %d other(s)", uuid, count);
}

/* Event times step by about half a microsecond, as documented, and by a whole one on some cards: it is measured, with
   kernels of many lengths between two events. */
static void measure_step(void) {
  double step = 0;
  int i;
  for (i = 0; i < STEP_PAIRS; i++) {
    long long cycles = 257LL * i;
    void *parameters[] = {&device.go_on_device, &cycles};
    float ms = 0;
    device.go[0] = device.go[1] = 0;
    must(cu.event_record(device.start, device.stream), "recording an event");
    must(cu.launch(device.hold, 1, 1, 1, 1, 1, 1, 0, device.stream, parameters, NULL), "measuring the step of the device's timer");
    must(cu.event_record(device.stop, device.stream), "recording an event");
    must(cu.stream_synchronize(device.stream), "measuring the step of the device's timer");
    must(cu.event_elapsed(&ms, device.start, device.stop), "reading the events");
    step = pawli_common_step(step, ms * 1e6);
  }
  pawli.device_quantum_ns = step > 0 ? step : 500;
}

static void make_context(void) {
  void *mapped = NULL;
  if (device.context) return;
  must(cu.context_create(&device.context, 0, device.number), "creating a context");
  must(cu.stream_create(&device.stream, 1), "creating a stream");
  must(cu.event_create(&device.start, 0), "creating an event");
  must(cu.event_create(&device.stop, 0), "creating an event");
  must(cu.host_alloc(&mapped, 64, HOST_ALLOC_MAPPED), "mapping host memory");
  device.go = (volatile int *)mapped;
  must(cu.host_address(&device.go_on_device, mapped, 0), "mapping host memory");
  must(cu.alloc(&device.sums, 3 * sizeof(uint64_t)), "allocating memory");
  must(cu.module_load(&device.own, own_ptx), "loading the launcher's own kernels");
  must(cu.module_function(&device.poison, device.own, "pawl_poison"), "pawl_poison");
  must(cu.module_function(&device.print, device.own, "pawl_print"), "pawl_print");
  must(cu.module_function(&device.hold, device.own, "pawl_hold"), "pawl_hold");
  if (!pawli.device_quantum_ns) measure_step();
}

static void device_open(const char *asked) {
  int version = 0;
  open_driver();
  setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* else the first run of a kernel loads it */
  must(cu.init(0), "starting CUDA");
  choose_device(asked);
  must(cu.driver_version(&version), "asking for the driver's version");
  must(cu.device_name(pawli.device_name, (int)sizeof pawli.device_name, device.number), "asking for the device's name");
  must(cu.device_attribute(&device.l2_bytes, ATTRIBUTE_L2_BYTES, device.number), "asking for the size of the cache");
  if (cu.device_attribute(&device.persisting_bytes, ATTRIBUTE_PERSISTING_BYTES, device.number)) device.persisting_bytes = 0;
  must(cu.device_attribute(&device.shared_most, ATTRIBUTE_SHARED_OPT_IN, device.number), "asking for shared memory");
  snprintf(pawli.runtime, sizeof pawli.runtime, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

#include "records.h"
#define DEVICE_HAS_RECORDS pawli_records_there

static double device_quantum(pawli_timer timer) {
  if (pawli.by_records) return record_step();
  return timer == PAWLI_TIMER_DEVICE ? pawli.device_quantum_ns : pawli_step_ns(CLOCK_MONOTONIC_RAW);
}

#include "map.h"

/* ---- the kernel ---- */

static void device_calibration(void) {
  static const argument out = {.name = "out", .role = ROLE_OUT, .type = F32, .rank = 1, .shape = {128 * 128}, .strides = {1},
                               .dense = 1, .count = 128 * 128, .bytes = 128 * 128 * 4};
  arguments.all[arguments.count++] = out;
  launching.grid[0] = launching.block[0] = 128;
  launching.grid[1] = launching.grid[2] = launching.block[1] = launching.block[2] = 1;
}

/* A kernel that asks for more shared memory than there is would not run at all, which is fast. */
static void set_shared(void) {
  int fixed = 0;
  must(cu.function_attribute(&fixed, FUNCTION_SHARED_BYTES, device.kernel), "asking for the kernel's shared memory");
  if (fixed + launching.shared > device.shared_most)
    pawl_fail("%s needs %lld bytes of shared memory, %d of them its own; the device allows %d", launching.kernel,
              fixed + launching.shared, fixed, device.shared_most);
  if (launching.shared) must(cu.function_set(device.kernel, FUNCTION_MOST_DYNAMIC_SHARED, (int)launching.shared), "allowing shared memory");
}

static size_t size_of_argument(int i) {
  const argument *const a = &arguments.all[i];
  if (i < arguments.count && a->mapped) return MAP_BYTES;
  return i >= arguments.count || is_tensor(a) ? sizeof(address) : dtypes[a->type].size;
}

/* Compares what the kernel takes with what it is given: a launch reads as many parameters as the kernel takes. Triton's
   kernels take pointers to scratch memory at the end. Those that use it need a harness; the others get zeros. */
static void check_parameters(void) {
  size_t at = 0, size = 0;
  int i, error = 0, cluster = 0;
  device.scratch = 0;
  if (!launching.cluster[0] && cu.function_attribute(&cluster, FUNCTION_NEEDS_CLUSTER, device.kernel) == 0 && cluster)
    pawl_fail("%s must be launched in clusters: say launch.cluster in the suite", launching.kernel);
  for (i = 0; cu.parameter_info && !(error = cu.parameter_info(device.kernel, (size_t)i, &at, &size)); i++)
    if (size != size_of_argument(i) || i == arguments.count + MOST_SCRATCH)
      pawl_fail("parameter %d of %s has %zu bytes and is given %zu%s: compare the suite's arguments with the kernel's", i + 1, launching.kernel,
                size, i < arguments.count ? size_of_argument(i) : 0, size == MAP_BYTES ? " (a tensor map: say map in the suite's arguments)" : "");
  if (!cu.parameter_info) return; /* before CUDA 12.4 the driver does not tell */
  if (error != ERROR_INVALID_VALUE) must(error, "asking for the kernel's parameters");
  if (i < arguments.count) pawl_fail("%s takes %d arguments, the suite declares %d", launching.kernel, i, arguments.count);
  device.scratch = i - arguments.count;
}

/* What the suite asks of a launch beside its sizes. */
static void set_attributes(void) {
  const long long *const c = launching.cluster, *const g = launching.grid;
  launch_attribute *next = device.attributes;
  int i;
  memset(device.attributes, 0, sizeof device.attributes);
  if (c[0]) {
    for (i = 0; i < 3; i++) {
      if (g[i] % c[i]) pawl_fail("a grid of %lld x %lld x %lld blocks is no multiple of the cluster", g[0], g[1], g[2]);
      next->value.size[i] = (unsigned)c[i];
    }
    if (c[0] * c[1] * c[2] > PORTABLE_CLUSTER) must(cu.function_set(device.kernel, FUNCTION_LARGE_CLUSTER, 1), "allowing large clusters");
    next++->id = LAUNCH_CLUSTER;
  }
  if (launching.cooperative) next->value.on = 1, next++->id = LAUNCH_COOPERATIVE;
  if (launching.dependent && pawli.by_records) pawl_fail_as("unsupported", "dependent launches overlap, and so do their records: use the timer device");
  if (launching.dependent) next->value.on = 1, next++->id = LAUNCH_DEPENDENT;
  device.attribute_count = (unsigned)(next - device.attributes);
  if (device.attribute_count && !cu.launch_with)
    pawl_fail_as("unsupported", "clusters, cooperative and dependent launches need a driver of CUDA 11.8 or newer");
}

static void device_load(void) {
  size_t length = 0;
  pawli_record_kernels(pawli.by_records, is_launched);
  make_context();
  device.scratch = 0;
  device.attribute_count = 0;
  if (launching.calibration) {
    must(cu.module_function(&device.kernel, device.own, "pawl_chain"), "pawl_chain");
    return;
  }
  const char *const image = read_kernel_file(&length);
  if (length < 16) pawl_fail("cannot launch %s: it is empty", launching.file);
  must(cu.module_load(&device.module, image), launching.file);
  must(cu.module_function(&device.kernel, device.module, launching.kernel), launching.kernel);
  check_parameters();
  check_maps();
  set_shared();
  set_attributes();
}

/* The context goes with the case: what a kernel did to it is gone with it. It may be there without the mapped memory,
   when making it failed half-way. */
static void device_unload(void) {
  if (!device.context) return;
  if (device.go) device.go[0] = 1;
  cu.context_destroy(device.context);
  device.context = device.module = device.kernel = device.own = NULL;
  device.go = NULL;
  device.swept = 0;
}

/* ---- memory ---- */

static void device_alloc(memory *m, size_t bytes, int input) {
  (void)input;
  must(cu.alloc(&m->from, bytes), "allocating a buffer");
}

static void device_free(memory *m) {
  free(m->view);
  m->in = m->view = NULL;
  m->from = 0; /* went with the context */
}

static void device_write(memory *m, size_t at, const void *from, size_t bytes) {
  must(cu.to_device(m->from + at, from, bytes), "writing a buffer");
}

static const unsigned char *device_look(memory *m, size_t at, size_t bytes) {
  unsigned char *const to = transit_room(bytes);
  must(cu.to_host(to, m->from + at, bytes), "reading a buffer");
  return to;
}

static void launch_own(handle function, size_t words, void **parameters, const char *doing) {
  const size_t blocks = (words + 255) / 256;
  must(cu.launch(function, (unsigned)(blocks < 1024 ? blocks : 1024), 1, 1, 256, 1, 1, 0, device.stream, parameters, NULL), doing);
}

static void device_place(memory *m, size_t at, size_t bytes, const unsigned char *contents, uint64_t seed) {
  address to = m->from + at;
  uint64_t count = bytes;
  void *parameters[] = {&to, &count, &seed};
  device_write(m, at - BAND, sets.band, BAND);
  if (contents) device_write(m, at, contents, bytes);
  else launch_own(device.poison, (bytes + 7) / 8, parameters, "poisoning an output");
  device_write(m, at + bytes, sets.band, BAND);
}

static print print_on_device(memory *m, size_t at, size_t bytes, uint64_t seed) {
  address from = m->from + at;
  uint64_t count = bytes, key = print_key, sums[3];
  void *parameters[] = {&from, &count, &seed, &key, &device.sums};
  print p = {0, (bytes + 7) / 8, 0};
  must(cu.set_bytes(device.sums, 0, sizeof sums), "looking at a buffer");
  must(cu.context_synchronize(), "looking at a buffer");
  launch_own(device.print, p.words, parameters, "looking at a buffer");
  must(cu.stream_synchronize(device.stream), "looking at a buffer");
  must(cu.to_host(sums, device.sums, sizeof sums), "looking at a buffer");
  p.hash = sums_hash(sums[0], sums[1]);
  p.unwritten = sums[2];
  return p;
}

static sight device_inspect(memory *m, size_t at, size_t bytes, uint64_t seed) {
  static unsigned char bands[2][BAND];
  const sight seen = {bands[0], bands[1], print_on_device(m, at, bytes, seed)};
  must(cu.to_host(bands[0], m->from + at - BAND, BAND), "reading a buffer");
  must(cu.to_host(bands[1], m->from + at + bytes, BAND), "reading a buffer");
  return seen;
}

static int device_same(memory *m, size_t at, size_t bytes, const unsigned char *as) {
  return print_on_device(m, at, bytes, 0).hash == take_print(as, bytes, 0).hash;
}

/* ---- running ---- */

static void start_run(set *of) {
  void *parameters[MOST_ARGUMENTS + MOST_SCRATCH + 1] = {NULL};
  address at[MOST_ARGUMENTS], none = 0;
  int i;
  for (i = 0; i < device.scratch; i++) parameters[arguments.count + i] = &none;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    at[i] = of->slots[i].m.from + of->slots[i].window;
    parameters[i] = a->mapped ? of->slots[i].m.view : is_tensor(a) ? (void *)&at[i] : (void *)&arguments.all[i].value;
  }
  const launch_config with = {
      .grid = {(unsigned)launching.grid[0], (unsigned)launching.grid[1], (unsigned)launching.grid[2]},
      .block = {(unsigned)launching.block[0], (unsigned)launching.block[1], (unsigned)launching.block[2]},
      .shared = (unsigned)launching.shared, .stream = device.stream, .attributes = device.attributes, .count = device.attribute_count};
  if (with.count) must(cu.launch_with(&with, device.kernel, parameters, NULL), "launching the kernel");
  else must(cu.launch(device.kernel, with.grid[0], with.grid[1], with.grid[2], with.block[0], with.block[1], with.block[2], with.shared,
                      with.stream, parameters, NULL), "launching the kernel");
}

/* Launches wait behind a kernel of ours until all are queued: the time the host needs to launch is not in the sample. */
static void hold_back(int count) {
  long long cycles = HOLD_CYCLES;
  void *parameters[] = {&device.go_on_device, &cycles};
  device.go[0] = device.go[1] = 0;
  if (pawli.timer == PAWLI_TIMER_DEVICE && count <= MOST_HELD)
    must(cu.launch(device.hold, 1, 1, 1, 1, 1, 1, 0, device.stream, parameters, NULL), "holding launches back");
}

static void device_queue(set *const *of, int count) {
  int i;
  make_maps(of, count);
  for (i = 0; i < count; i++) start_run(of[i]);
}

/* A sample whose hold gave up has launches in it. Its reading stays 0, so that it is taken again. */
static void device_run(set *const *of, int count, pawli_reading *r) {
  float ms = 0;
  make_maps(of, count);
  must(cu.context_synchronize(), "waiting for the device");
  if (pawli.by_records) pawli_forget_records();
  hold_back(count);
  const double wall = pawli_clock(CLOCK_MONOTONIC_RAW);
  must(cu.event_record(device.start, device.stream), "recording an event");
  device_queue(of, count);
  must(cu.event_record(device.stop, device.stream), "recording an event");
  device.go[0] = 1;
  must(cu.stream_synchronize(device.stream), "running the kernel");
  r->by[PAWLI_TIMER_WALL] = pawli_clock(CLOCK_MONOTONIC_RAW) - wall;
  must(cu.event_elapsed(&ms, device.start, device.stop), "reading the events");
  device.given_up = device.go[1] ? device.given_up + 1 : 0;
  if (device.given_up == MOST_GIVEN_UP) pawl_fail("the host let launches wait too long, %d times in a row: is it overloaded?", MOST_GIVEN_UP);
  r->by[PAWLI_TIMER_DEVICE] = device.given_up ? 0 : pawli.by_records ? pawli_recorded_ns(count, count <= MOST_HELD) : ms * 1e6;
}

/* ncu and nsys look between these two alone when they are told not to profile from the start. */
static void device_watch(int on) { (void)(on ? cu.profiler_start() : cu.profiler_stop()); }
static void device_put_launches(void) {} /* tools see them */

static void device_hold(void) {}
static void device_settle(void) { must(cu.context_synchronize(), "waiting for the device"); }

/* Fills the cache with something else, by reading it: what was written would be written back during the run. */
static void device_chill(set *const *of, int count) {
  uint64_t bytes = 2 * (uint64_t)(device.l2_bytes > 0 ? device.l2_bytes : 64 << 20), none = 0;
  void *parameters[] = {&device.swept, &bytes, &none, &none, &device.sums};
  (void)of, (void)count;
  if (device.persisting_bytes > 0 && cu.forget_persisting) { /* lines that a run asked to stay would survive the sweep */
    must(cu.context_limit(LIMIT_PERSISTING_BYTES, 0), "sweeping the cache");
    must(cu.forget_persisting(), "sweeping the cache");
  }
  if (!device.swept) {
    must(cu.alloc(&device.swept, bytes), "allocating memory to sweep the cache");
    must(cu.set_bytes(device.swept, 1, bytes), "sweeping the cache");
    must(cu.context_synchronize(), "sweeping the cache");
  }
  launch_own(device.print, bytes / 8, parameters, "sweeping the cache");
  must(cu.context_synchronize(), "sweeping the cache");
}

/* What a run reads is in the cache before a hot sample: placing outputs evicts it. */
static void device_warm(set *const *of, int count) {
  int i, k;
  for (k = 0; k < count; k++)
    for (i = 0; i < arguments.count; i++) {
      address from = of[k]->slots[i].m.from + of[k]->slots[i].window;
      uint64_t bytes = arguments.all[i].bytes, none = 0;
      void *parameters[] = {&from, &bytes, &none, &none, &device.sums};
      if (is_read(&arguments.all[i]) && (int64_t)bytes <= device.l2_bytes) launch_own(device.print, (bytes + 7) / 8, parameters, "warming the cache");
    }
  must(cu.context_synchronize(), "warming the cache");
}

/* A tensor map that the driver refuses is refused before anything is measured. */
static void device_begin(void) {
  set *const first = &sets.all[0];
  if (sets.count) make_maps(&first, 1);
}

#include "check.h"
