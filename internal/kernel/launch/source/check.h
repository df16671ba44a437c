/* What pawl doctor --gpu measures without a suite: facts about the device, one JSON line each on stdout. pawl judges them.
   The launcher runs a group of facts and ends:  launcher check UUID GROUP

   It uses the launcher's own context, step of events, hold and sweep, since these are what is to be checked.
   Not yet run on a GPU: it has run on the virtual GPU (sdk/virtualgpu) only. */

#include "check_ptx.h" /* check_ptx: check.ptx as a string */

enum { TRIES = 5, EMPTIES = 50, HOTS = 101, TICKS = 64, OCCUPANCIES = 200, STARTS = 20, TURNS = 6, A_TURN = 10, MOST_QUEUED = 4096, FMA_BLOCK = 256 };

enum { ATTRIBUTE_UNITS = 16, ATTRIBUTE_MINOR = 76, FUNCTION_REGISTERS = 4, STREAM_WINDOW = 1, WINDOW_PERSISTS = 2 };

static struct {
  int (*total_memory)(size_t *, int);
  int (*occupancy)(int *, handle, int, size_t);
  int (*set_current)(handle);
  int (*set_stream)(handle, int, const void *);
} more;

static struct {
  int (*init)(void);
  int (*by_uuid)(const char *, handle *);
  int (*clock)(handle, unsigned, unsigned *);
  int (*power)(handle, unsigned *);
  int (*temperature)(handle, unsigned, unsigned *);
  int (*energy)(handle, unsigned long long *);
  int (*reasons)(handle, unsigned long long *);
  handle card;
} nv;

static struct {
  handle module, empty, spin, read, timer, clock, fma;
  address x, out;
  size_t bytes; /* of x */
  int units;
} checked;

static void put_fact(const char *name, const double *values, int count) {
  int i;
  printf("{\"fact\":\"%s\",\"values\":[", name);
  for (i = 0; i < count; i++) printf("%s%.10g", i ? "," : "", values[i]);
  printf("]}\n");
  fflush(stdout);
}

static void put_number(const char *name, double value) { put_fact(name, &value, 1); }

static void open_more(const char *uuid) {
  static const char *const cuda[] = {"libcuda.so.1", NULL};
  static const entry cuda_entries[] = {
      {(void **)&more.total_memory, "cuDeviceTotalMem_v2"}, {(void **)&more.set_current, "cuCtxSetCurrent"},
      {(void **)&more.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor"}, {(void **)&more.set_stream, "cuStreamSetAttribute", 1},
  };
  static const entry nvml_entries[] = {
      {(void **)&nv.init, "nvmlInit_v2"}, {(void **)&nv.by_uuid, "nvmlDeviceGetHandleByUUID"}, {(void **)&nv.clock, "nvmlDeviceGetClockInfo"},
      {(void **)&nv.power, "nvmlDeviceGetPowerUsage"}, {(void **)&nv.temperature, "nvmlDeviceGetTemperature"},
      {(void **)&nv.energy, "nvmlDeviceGetTotalEnergyConsumption", 1}, {(void **)&nv.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", 1},
  };
  const char *const named = getenv("PAWL_NVML_LIBRARY");
  const char *const nvml[] = {named && *named ? named : "libnvidia-ml.so.1", NULL};
  open_library(cuda, cuda_entries, sizeof cuda_entries / sizeof *cuda_entries, "CUDA driver (libcuda.so.1)");
  open_library(nvml, nvml_entries, sizeof nvml_entries / sizeof *nvml_entries, "management library (libnvidia-ml.so.1)");
  if (!nv.reasons) { /* the function was renamed */
    void *const library = dlopen(nvml[0], RTLD_NOW | RTLD_LOCAL);
    *(void **)&nv.reasons = library ? dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons") : NULL;
  }
  if (nv.init() || nv.by_uuid(uuid, &nv.card)) pawl_fail_as("no_device", "NVML does not see the device %s", uuid);
}

static handle check_function(const char *name) {
  handle f = NULL;
  must(cu.module_function(&f, checked.module, name), name);
  return f;
}

static void load_checks(void) {
  must(cu.module_load(&checked.module, check_ptx), "loading the kernels of the checks");
  checked.empty = check_function("check_empty");
  checked.spin = check_function("check_spin");
  checked.read = check_function("check_read");
  checked.timer = check_function("check_timer");
  checked.clock = check_function("check_clock");
  checked.fma = check_function("check_fma");
}

static void open_checks(void) {
  size_t total = 0;
  make_context();
  load_checks();
  must(cu.device_attribute(&checked.units, ATTRIBUTE_UNITS, device.number), "asking for the multiprocessors");
  must(more.total_memory(&total, device.number), "asking for the memory");
  checked.bytes = 8 * (size_t)device.l2_bytes;
  if (checked.bytes < (size_t)256 << 20) checked.bytes = (size_t)256 << 20;
  if (checked.bytes > total / 4) checked.bytes = total / 4;
  must(cu.alloc(&checked.x, checked.bytes), "allocating memory");
  must(cu.alloc(&checked.out, (size_t)checked.units * 64 * FMA_BLOCK * sizeof(float)), "allocating memory");
}

/* ---- time ---- */

static double now_ns(void) { return pawli_clock(CLOCK_MONOTONIC_RAW); }

static void check_launch(handle f, int grid, int block, void **parameters) {
  must(cu.launch(f, (unsigned)grid, 1, 1, (unsigned)block, 1, 1, 0, device.stream, parameters, NULL), "launching a check");
}

/* Time of so many launches between two events, held back as in a sample. host_ns is what the host does meanwhile. */
static double held_ns(handle f, int grid, int block, void **parameters, int count, double host_ns) {
  float ms = 0;
  int i;
  must(cu.context_synchronize(), "waiting for the device");
  hold_back(count);
  must(cu.event_record(device.start, device.stream), "recording an event");
  for (const double until = now_ns() + host_ns; host_ns > 0 && now_ns() < until;) {}
  for (i = 0; i < count; i++) check_launch(f, grid, block, parameters);
  must(cu.event_record(device.stop, device.stream), "recording an event");
  device.go[0] = 1;
  must(cu.stream_synchronize(device.stream), "running a check");
  must(cu.event_elapsed(&ms, device.start, device.stop), "reading the events");
  return ms * 1e6;
}

static double spin_ns(int ns, int count) {
  void *parameters[] = {&checked.x, &checked.out, &ns};
  return held_ns(checked.spin, 1, 1, parameters, count, 0);
}

static void check_card(void) {
  double v[3 * OCCUPANCIES], since = now_ns();
  int registers = 0, fixed = 0, blocks = 0, i, major = 0, minor = 0;
  size_t total = 0;
  make_context();
  put_number("own_load_ns", now_ns() - since);
  since = now_ns();
  open_checks();
  put_number("check_load_ns", now_ns() - since);
  must(more.total_memory(&total, device.number), "asking for the memory");
  must(cu.device_attribute(&major, ATTRIBUTE_MAJOR, device.number), "asking for the compute capability");
  must(cu.device_attribute(&minor, ATTRIBUTE_MINOR, device.number), "asking for the compute capability");
  put_number("units", checked.units);
  put_number("l2_bytes", device.l2_bytes);
  put_number("shared_bytes", device.shared_most);
  put_number("memory_bytes", (double)total);
  put_number("capability", 10 * major + minor);
  must(cu.function_attribute(&registers, FUNCTION_REGISTERS, checked.read), "asking for registers");
  must(cu.function_attribute(&fixed, FUNCTION_SHARED_BYTES, checked.read), "asking for shared memory");
  v[0] = registers, v[1] = fixed;
  put_fact("kernel", v, 2);
  for (i = 0; i < OCCUPANCIES; i++) {
    const int threads = 32 * (1 + i % 32), shared = i / 32 * 7168;
    must(more.occupancy(&blocks, checked.read, threads, (size_t)shared), "asking for the occupancy");
    v[3 * i] = threads, v[3 * i + 1] = shared, v[3 * i + 2] = blocks;
  }
  put_fact("occupancy", v, 3 * OCCUPANCIES);
}

static void check_times(void) {
  static const int lengths[] = {10000, 100000, 1000000, 10000000, 100000000}, batches[] = {1, 8, 64};
  double v[2 * EMPTIES];
  uint64_t ticks[TICKS];
  int i, k, n = TICKS;
  void *parameters[] = {&checked.out, &n};
  open_checks();
  put_number("step_ns", pawli.device_quantum_ns);
  for (i = 0; i < EMPTIES; i++) v[i] = held_ns(checked.empty, 1, 1, NULL, 1, 0);
  put_fact("empty_ns", v, EMPTIES);
  check_launch(checked.timer, 1, 1, parameters);
  must(cu.stream_synchronize(device.stream), "reading the timer");
  must(cu.to_host(ticks, checked.out, sizeof ticks), "reading the timer");
  double step = 0;
  for (i = 1; i < TICKS; i++) step = pawli_common_step(step, (double)(ticks[i] - ticks[i - 1]));
  put_number("timer_step_ns", step);
  for (i = 0; i < 5; i++) v[2 * i] = lengths[i], v[2 * i + 1] = spin_ns(lengths[i], 1);
  put_fact("spin_ns", v, 10);
  for (i = 0; i < 3; i++) {
    v[2 * i] = batches[i], v[2 * i + 1] = 1e18;
    for (k = 0; k < TRIES; k++) {
      const double ns = spin_ns(50000, batches[i]) / batches[i];
      if (ns < v[2 * i + 1]) v[2 * i + 1] = ns;
    }
  }
  put_fact("batch_ns", v, 6);
}

static void check_hold(void) {
  long long cycles = HOLD_CYCLES;
  void *parameters[] = {&device.go_on_device, &cycles};
  int n;
  open_checks();
  put_number("held_ns", held_ns(checked.empty, 1, 1, NULL, 1, 5e6));
  device.go[0] = device.go[1] = 0;
  check_launch(device.hold, 1, 1, parameters);
  double since = now_ns();
  must(cu.stream_synchronize(device.stream), "waiting for the hold");
  put_number("give_up_ns", now_ns() - since);
  put_number("gave_up", device.go[1]);
  device.go[0] = device.go[1] = 0;
  check_launch(device.hold, 1, 1, parameters);
  for (n = 0; n < MOST_QUEUED; n++) {
    since = now_ns();
    check_launch(checked.empty, 1, 1, NULL);
    if (now_ns() - since > 5e6) break;
  }
  device.go[0] = 1;
  must(cu.stream_synchronize(device.stream), "emptying the queue");
  put_number("queue", n);
}

/* ---- memory ---- */

static double read_ns(size_t bytes, int cold) {
  int n = (int)(bytes / 4);
  void *parameters[] = {&checked.x, &checked.out, &n};
  if (cold) device_chill(NULL, 0);
  return held_ns(checked.read, checked.units * 8, FMA_BLOCK, parameters, 1, 0);
}

static void put_reads(const char *name, size_t bytes, int cold) {
  double v[TRIES];
  int i;
  for (i = 0; i < TRIES; i++) v[i] = read_ns(bytes, cold);
  put_fact(name, v, TRIES);
}

/* Hot reads as the launcher takes hot samples: outputs are poisoned or not, then inputs are touched. */
static void put_hot_reads(size_t bytes) {
  static double v[HOTS];
  uint64_t count = bytes, seed = 1, none = 0;
  address poisoned = checked.x + bytes;
  void *poison[] = {&poisoned, &count, &seed}, *touch[] = {&checked.x, &count, &none, &none, &device.sums};
  int i;
  for (i = 0; i < HOTS; i++) {
    if (i * 2654435761u >> 16 & 1) launch_own(device.poison, bytes / 8, poison, "poisoning an output");
    launch_own(device.print, bytes / 8, touch, "warming the cache");
    v[i] = read_ns(bytes, 0);
  }
  put_fact("hot_ns", v, HOTS);
}

static void check_memory(void) {
  open_checks();
  const size_t quarter = (size_t)device.l2_bytes / 4;
  put_number("read_bytes", (double)checked.bytes);
  put_reads("cold_ns", checked.bytes, 1);
  put_number("quarter_bytes", (double)quarter);
  put_reads("quarter_cold_ns", quarter, 1);
  read_ns(quarter, 0);
  put_reads("quarter_hot_ns", quarter, 0);
  put_hot_reads(quarter);
  if (!more.set_stream || device.persisting_bytes <= 0) return;
  struct {
    address from;
    size_t bytes;
    float share;
    int hit, miss;
    char rest[40]; /* of a union of 64 bytes */
  } attack = {checked.x, quarter, 1, WINDOW_PERSISTS, 0, {0}};
  must(cu.context_limit(LIMIT_PERSISTING_BYTES, (size_t)device.persisting_bytes), "setting lines aside");
  must(more.set_stream(device.stream, STREAM_WINDOW, &attack), "asking for lines that persist");
  read_ns(quarter, 0);
  read_ns(quarter, 0);
  put_reads("quarter_attacked_ns", quarter, 1);
}

/* ---- clocks and load ---- */

/* Keeps the device busy with multiply-adds, one launch of about 10 ms after the other. Returns the operations a second. */
static double load_ns(double ns, void (*look)(void)) {
  static int n;
  const int grid = checked.units * 64;
  void *parameters[] = {&checked.out, &n};
  const double from = now_ns();
  double last = 0, looked = from;
  if (!n) {
    n = 1024;
    held_ns(checked.fma, grid, FMA_BLOCK, parameters, 1, 0);
    n = (int)(n * 1e7 / held_ns(checked.fma, grid, FMA_BLOCK, parameters, 1, 0)) + 1;
  }
  while (now_ns() - from < ns) {
    last = held_ns(checked.fma, grid, FMA_BLOCK, parameters, 1, 0);
    if (look && now_ns() - looked >= 1e8) looked = now_ns(), look();
  }
  return 16.0 * n * grid * FMA_BLOCK / last * 1e9;
}

static int by_size(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* The clock of the multiprocessors: the median over blocks of cycles by time. */
static double clock_mhz(void) {
  static uint64_t seen[4 * 1024];
  static double mhz[1024];
  const int blocks = checked.units < 1024 ? checked.units : 1024;
  int i, n = 4000000;
  void *parameters[] = {&checked.out, &n};
  check_launch(checked.clock, blocks, 128, parameters);
  must(cu.stream_synchronize(device.stream), "measuring the clock");
  must(cu.to_host(seen, checked.out, (size_t)blocks * 4 * sizeof *seen), "measuring the clock");
  for (i = 0; i < blocks; i++) mhz[i] = (double)(seen[4 * i + 1] - seen[4 * i]) * 1e3 / (double)(seen[4 * i + 3] - seen[4 * i + 2]);
  qsort(mhz, (size_t)blocks, sizeof *mhz, by_size);
  return mhz[blocks / 2];
}

static double nvml_clock(void) {
  unsigned mhz = 0;
  return nv.clock(nv.card, 1, &mhz) ? 0 : mhz;
}

static unsigned long long nvml_reasons(void) {
  unsigned long long now = 0, again = 0;
  if (!nv.reasons || nv.reasons(nv.card, &now) || nv.reasons(nv.card, &again)) return 0;
  return now & again; /* a slowdown is also told for a moment while the clocks change */
}

static void check_clocks(void) {
  open_checks();
  const double flops = load_ns(2e9, NULL);
  put_number("sm_mhz", clock_mhz());
  put_number("nvml_mhz", nvml_clock());
  put_number("reasons", (double)nvml_reasons());
  put_number("fma_flops", flops);
}

static void check_starts(void) {
  double v[STARTS];
  int i;
  for (i = 0; i < STARTS; i++) {
    open_checks();
    spin_ns(1000000, 5);
    v[i] = (double)nvml_reasons();
    device_unload();
  }
  put_fact("start_reasons", v, STARTS);
}

static void put_state(void) {
  unsigned watts = 0, celsius = 0;
  unsigned long long millijoules = 0;
  double v[5];
  v[0] = now_ns() / 1e9;
  v[1] = nvml_clock();
  v[2] = nv.power(nv.card, &watts) ? 0 : watts / 1e3;
  v[3] = nv.temperature(nv.card, 0, &celsius) ? 0 : celsius;
  v[4] = nv.energy && !nv.energy(nv.card, &millijoules) ? (double)millijoules / 1e3 : -1;
  put_fact("load", v, 5);
}

static void check_load(void) {
  open_checks();
  load_ns(1e8, NULL);
  put_state();
  load_ns(1e10, put_state);
}

/* ---- turns of two contexts ---- */

static void check_turns(void) {
  handle contexts[2], streams[2], starts[2], stops[2], spins[2];
  address x[2], out[2];
  double v[TURNS * A_TURN];
  int i, k, ns = 1000000;
  for (k = 0; k < 2; k++) {
    must(cu.context_create(&contexts[k], 0, device.number), "creating a context");
    must(cu.stream_create(&streams[k], 1), "creating a stream");
    must(cu.event_create(&starts[k], 0), "creating an event");
    must(cu.event_create(&stops[k], 0), "creating an event");
    load_checks();
    spins[k] = checked.spin;
    must(cu.alloc(&x[k], 4096), "allocating memory");
    must(cu.alloc(&out[k], 4096), "allocating memory");
  }
  for (i = 0; i < TURNS * A_TURN; i++) {
    float ms = 0;
    k = i / A_TURN % 2;
    void *parameters[] = {&x[k], &out[k], &ns};
    if (i % A_TURN == 0) must(more.set_current(contexts[k]), "taking turns");
    must(cu.event_record(starts[k], streams[k]), "recording an event");
    must(cu.launch(spins[k], 1, 1, 1, 1, 1, 1, 0, streams[k], parameters, NULL), "taking turns");
    must(cu.event_record(stops[k], streams[k]), "recording an event");
    must(cu.stream_synchronize(streams[k]), "taking turns");
    must(cu.event_elapsed(&ms, starts[k], stops[k]), "reading the events");
    v[i] = ms * 1e6;
  }
  put_fact("turn_ns", v, TURNS * A_TURN);
}

static int run_check(const char *uuid, const char *group) {
  static const struct {
    const char *name;
    void (*run)(void);
  } groups[] = {{"card", check_card}, {"times", check_times}, {"hold", check_hold}, {"memory", check_memory},
                {"clocks", check_clocks}, {"starts", check_starts}, {"load", check_load}, {"turns", check_turns}};
  char asked[128];
  size_t i;
  if (strlen(uuid) > 60 || strchr(uuid, '"') || strchr(uuid, '\\')) return 4;
  snprintf(asked, sizeof asked, "{\"uuid\":\"%s\"}", uuid);
  for (i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (strcmp(groups[i].name, group) != 0) continue;
    pawli.timer = PAWLI_TIMER_DEVICE;
    device_open(asked);
    open_more(uuid);
    groups[i].run();
    return 0;
  }
  fprintf(stderr, "there is no group of checks %s\n", group);
  return 4;
}

/* The launcher without a protocol: launcher check UUID GROUP. */
static int device_main(int argc, char **argv) { return argc == 4 && strcmp(argv[1], "check") == 0 ? run_check(argv[2], argv[3]) : -1; }
