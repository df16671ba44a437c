/* The timer "kernel": when each kernel began and ended on the device, by CUPTI's activity records. The gaps between launches and
   the events around them, about 2 us, are not in it: much of a kernel that takes less than 20.

   CUPTI is opened when the launcher runs. Without it there is no such timer. */

enum { RECORDS_OF_KERNELS = 10, FLUSH_ALL = 1, RECORD_BYTES = 1 << 20 }; /* the first is CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL */

typedef struct kernel_record { /* how CUpti_ActivityKernel4 and all later ones begin */
  uint32_t kind;
  char config[12];
  uint64_t start, end, completed; /* nanoseconds */
  uint32_t ids[3], sizes[8], local[2], correlation;
  int64_t grid;
  const char *name;
} kernel_record;
_Static_assert(offsetof(kernel_record, start) == 16 && offsetof(kernel_record, name) == 104, "a record of CUPTI");

static struct {
  int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *), void (*)(handle, uint32_t, uint8_t *, size_t, size_t));
  int (*enable)(int);
  int (*disable)(int);
  int (*flush)(uint32_t);
  int (*next)(uint8_t *, size_t, void **);
  int looked, there, registered, on;
  uint64_t ns, count; /* of the runs since forget_records */
  double step;        /* that the times of all kernels share */
} records;

static int records_there(void) {
  static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", NULL};
  static const entry entries[] = {
      {(void **)&records.register_callbacks, "cuptiActivityRegisterCallbacks"}, {(void **)&records.enable, "cuptiActivityEnable"},
      {(void **)&records.disable, "cuptiActivityDisable"}, {(void **)&records.flush, "cuptiActivityFlushAll"},
      {(void **)&records.next, "cuptiActivityGetNextRecord"},
  };
  void *library = NULL;
  size_t i;
  if (records.looked) return records.there;
  records.looked = 1;
  for (i = 0; names[i] && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  records.there = library != NULL;
  for (i = 0; library && i < sizeof entries / sizeof *entries; i++)
    if (!(*entries[i].to = dlsym(library, entries[i].name))) records.there = 0;
  return records.there;
}

static void must_record(int error) {
  if (error) pawl_fail("recording kernels: CUPTI error %d", error);
}

static void give_room(uint8_t **to, size_t *bytes, size_t *most) {
  *to = (uint8_t *)malloc(RECORD_BYTES);
  *bytes = *to ? RECORD_BYTES : 0;
  *most = 0;
}

/* Adds up the runs of the kernel. CUPTI calls this from a thread of its own, and the flush waits for it. */
static void take_records(handle context, uint32_t stream, uint8_t *from, size_t room, size_t bytes) {
  const char *const name = launching.calibration ? "pawl_chain" : launching.kernel;
  void *record = NULL;
  (void)context, (void)stream, (void)room;
  while (bytes && records.next(from, bytes, &record) == 0) {
    const kernel_record *const k = (const kernel_record *)record;
    if (k->kind != RECORDS_OF_KERNELS || k->end <= k->start || !k->name) continue;
    records.step = pawli_common_step(records.step, (double)(k->end - k->start));
    if (strcmp(k->name, name) != 0) continue;
    records.ns += k->end - k->start;
    records.count++;
  }
  free(from);
}

static void record_kernels(int on) {
  if (records.on == on) return;
  if (!records.registered) must_record(records.register_callbacks(give_room, take_records));
  records.registered = 1;
  must_record(on ? records.enable(RECORDS_OF_KERNELS) : records.disable(RECORDS_OF_KERNELS));
  records.on = on;
}

static void forget_records(void) {
  must_record(records.flush(FLUSH_ALL));
  records.ns = records.count = 0;
}

static double recorded_ns(int runs) {
  must_record(records.flush(0));
  if (records.count < (uint64_t)runs) must_record(records.flush(FLUSH_ALL));
  if (records.count != (uint64_t)runs) pawl_fail("CUPTI recorded %llu runs of %d: use another timer", (unsigned long long)records.count, runs);
  return (double)records.ns;
}

/* Finds the step with kernels of many lengths, as that of events is found. */
static double record_step(void) {
  int i;
  for (i = 0; i < STEP_PAIRS; i++) {
    long long cycles = 257LL * i;
    void *parameters[] = {&device.go_on_device, &cycles};
    device.go[0] = device.go[1] = 0;
    must(cu.launch(device.hold, 1, 1, 1, 1, 1, 1, 0, device.stream, parameters, NULL), "measuring the step of the device's timer");
    must(cu.stream_synchronize(device.stream), "measuring the step of the device's timer");
  }
  forget_records();
  return records.step > 0 ? records.step : 1;
}
