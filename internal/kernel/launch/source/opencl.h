/* OpenCL kernels: the driver compiles the change's source, and device events are the clock. On a GPU a kernel cannot
   reach this process. On a CPU runtime it runs inside of it, and could, so that is refused. */

#include "library.h"

#define DEVICE_KIND "opencl"
#define DEVICE_FIRST_TIMER PAWLI_TIMER_DEVICE
#define DEVICE_LAST_TIMER PAWLI_TIMER_WALL
#define DEVICE_SHORT_NS 25e3 /* shorter runs are batched */

typedef void *handle;
typedef uint64_t cl_bits;

enum { /* names and numbers of the OpenCL specification that are used here */
  CL_PLATFORM_VERSION = 0x0901, CL_DEVICE_TYPE = 0x1000, CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019,
  CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e, CL_DEVICE_PROFILING_TIMER_RESOLUTION = 0x1025, CL_DEVICE_NAME = 0x102b,
  CL_MEM_READ_WRITE = 1, CL_MEM_READ_ONLY = 4, CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
  CL_QUEUE_PROFILING_ENABLE = 2, CL_PROGRAM_BUILD_LOG = 0x1183, CL_KERNEL_NUM_ARGS = 0x1191,
  CL_PROFILING_COMMAND_QUEUED = 0x1280, CL_PROFILING_COMMAND_SUBMIT = 0x1281, CL_PROFILING_COMMAND_START = 0x1282, CL_PROFILING_COMMAND_END = 0x1283, CL_TYPE_GPU = 4, CL_TYPE_CPU = 2
};
#define CL_TYPE_ALL ((cl_bits)0xffffffff)

static struct {
  int32_t (*get_platforms)(uint32_t, handle *, uint32_t *);
  int32_t (*get_platform_info)(handle, uint32_t, size_t, void *, size_t *);
  int32_t (*get_devices)(handle, cl_bits, uint32_t, handle *, uint32_t *);
  int32_t (*get_device_info)(handle, uint32_t, size_t, void *, size_t *);
  handle (*create_context)(const intptr_t *, uint32_t, const handle *, void *, void *, int32_t *);
  handle (*create_queue)(handle, handle, cl_bits, int32_t *);
  handle (*create_program)(handle, uint32_t, const char **, const size_t *, int32_t *);
  handle (*create_program_il)(handle, const void *, size_t, int32_t *);
  int32_t (*build_program)(handle, uint32_t, const handle *, const char *, void *, void *);
  int32_t (*get_build_info)(handle, handle, uint32_t, size_t, void *, size_t *);
  int32_t (*release_program)(handle);
  handle (*create_kernel)(handle, const char *, int32_t *);
  int32_t (*get_kernel_info)(handle, uint32_t, size_t, void *, size_t *);
  int32_t (*set_argument)(handle, uint32_t, size_t, const void *);
  int32_t (*release_kernel)(handle);
  handle (*create_buffer)(handle, cl_bits, size_t, void *, int32_t *);
  handle (*create_sub_buffer)(handle, cl_bits, uint32_t, const void *, int32_t *);
  int32_t (*release_memory)(handle);
  int32_t (*read)(handle, handle, uint32_t, size_t, size_t, void *, uint32_t, const handle *, handle *);
  int32_t (*write)(handle, handle, uint32_t, size_t, size_t, const void *, uint32_t, const handle *, handle *);
  int32_t (*launch)(handle, handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const handle *, handle *);
  int32_t (*finish)(handle);
  int32_t (*get_event_times)(handle, uint32_t, size_t, void *, size_t *);
  int32_t (*release_event)(handle);
} cl;

static struct {
  handle device, context, queue, kernel, sweep;
  memory swept;
  cl_bits type;
  handle events[MOST_SETS]; /* of the sample that is being taken */
  int watching, watched;    /* runs are profiled; how many of them have an event */
} device;

static const char own_source[] =
    "kernel void pawl_sweep(global ulong *data, ulong count, ulong each) {\n" /* each: words in a row, for a CPU */
    "  ulong sum = 0, i = get_global_id(0);\n"
    "  const ulong end = min(count, (i + 1) * each);\n"
    "  if (each) for (i *= each; i < end; i += 8) sum += data[i];\n"
    "  else for (; i < count; i += get_global_size(0)) sum += data[i];\n"
    "  if (sum == 1) *data = sum;\n"
    "}\n"
    "kernel void pawl_chain(global float *out) {\n"
    "  float x = get_local_id(0) * 1e-3f;\n"
    "  for (int i = 0; i < 2048; i++) x = x * 0.999f + 0.001f;\n"
    "  out[get_global_id(0)] = x;\n"
    "}\n";

static void must(int32_t error, const char *doing) {
  if (error == 0) return;
  const int room = error == -4 || error == -5 || error == -6 || error == -61;
  pawl_fail_as(room ? "no_memory" : "failed", "%s%s: OpenCL error %d", room ? "no memory: " : "", doing, error);
}

static void open_opencl(void) {
  static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
  static const entry entries[] = {
      {(void **)&cl.get_platforms, "clGetPlatformIDs"}, {(void **)&cl.get_platform_info, "clGetPlatformInfo"},
      {(void **)&cl.get_devices, "clGetDeviceIDs"}, {(void **)&cl.get_device_info, "clGetDeviceInfo"},
      {(void **)&cl.create_context, "clCreateContext"}, {(void **)&cl.create_queue, "clCreateCommandQueue"},
      {(void **)&cl.create_program, "clCreateProgramWithSource"}, {(void **)&cl.create_program_il, "clCreateProgramWithIL"},
      {(void **)&cl.build_program, "clBuildProgram"}, {(void **)&cl.get_build_info, "clGetProgramBuildInfo"},
      {(void **)&cl.release_program, "clReleaseProgram"}, {(void **)&cl.create_kernel, "clCreateKernel"},
      {(void **)&cl.get_kernel_info, "clGetKernelInfo"}, {(void **)&cl.set_argument, "clSetKernelArg"},
      {(void **)&cl.release_kernel, "clReleaseKernel"}, {(void **)&cl.create_buffer, "clCreateBuffer"},
      {(void **)&cl.create_sub_buffer, "clCreateSubBuffer"}, {(void **)&cl.release_memory, "clReleaseMemObject"},
      {(void **)&cl.read, "clEnqueueReadBuffer"}, {(void **)&cl.write, "clEnqueueWriteBuffer"},
      {(void **)&cl.launch, "clEnqueueNDRangeKernel"}, {(void **)&cl.finish, "clFinish"},
      {(void **)&cl.get_event_times, "clGetEventProfilingInfo"}, {(void **)&cl.release_event, "clReleaseEvent"},
  };
  open_library(names, entries, sizeof entries / sizeof *entries, "OpenCL (libOpenCL.so.1)");
}

/* The first device of a type whose name contains part; 0 when there is none. */
static int find_device(cl_bits type, const char *part) {
  handle platforms[16], devices[16];
  uint32_t platform_count = 0, count, i, k;
  if (cl.get_platforms(16, platforms, &platform_count) != 0) return 0;
  for (i = 0; i < platform_count && i < 16; i++) {
    count = 0;
    if (cl.get_devices(platforms[i], type, 16, devices, &count) != 0) continue;
    for (k = 0; k < count && k < 16; k++) {
      cl.get_device_info(devices[k], CL_DEVICE_NAME, sizeof pawli.device_name, pawli.device_name, NULL);
      if (!strstr(pawli.device_name, part)) continue;
      device.device = devices[k];
      cl.get_platform_info(platforms[i], CL_PLATFORM_VERSION, sizeof pawli.runtime, pawli.runtime, NULL);
      return 1;
    }
  }
  return 0;
}

static void refuse_cpu(void) {
  const char *const how = getenv("PAWL_OPENCL_CPU");
  if (!(device.type & CL_TYPE_CPU) || (how && strcmp(how, "unprotected") == 0)) return;
  pawl_fail_as("no_device",
               "checked does not run OpenCL on a CPU (%s): kernels run inside the launcher there, and could change its times; "
               "use trust: trusted, or a GPU. To try it out nevertheless: PAWL_OPENCL_CPU=unprotected",
               pawli.device_name);
}

static void device_open(const char *asked) {
  const char *const part = getenv("PAWL_OPENCL_DEVICE"), *const wanted = part ? part : "";
  const int gpu_first = !pawli_is(pawli_member(asked, "kind"), "cpu");
  size_t step = 1;
  uint32_t align_bits = 0;
  int32_t error;
  open_opencl();
  if (!(gpu_first && find_device(CL_TYPE_GPU, wanted)) && !find_device(CL_TYPE_ALL, wanted))
    pawl_fail_as("no_device", "there is no OpenCL device with \"%s\" in its name; clinfo -l lists them", wanted);
  cl.get_device_info(device.device, CL_DEVICE_TYPE, sizeof device.type, &device.type, NULL);
  refuse_cpu();
  cl.get_device_info(device.device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof step, &step, NULL);
  cl.get_device_info(device.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits, NULL);
  if (align_bits / 8 > ALIGN) pawl_fail_as("unsupported", "the device wants buffers at multiples of %u bytes", align_bits / 8);
  pawli.device_quantum_ns = step ? (double)step : 1;
  device.context = cl.create_context(NULL, 1, &device.device, NULL, NULL, &error);
  must(error, "creating a context");
  device.queue = cl.create_queue(device.context, device.device, CL_QUEUE_PROFILING_ENABLE, &error);
  must(error, "creating a queue with profiling");
}

static double device_quantum(pawli_timer timer) {
  return timer == PAWLI_TIMER_DEVICE ? pawli.device_quantum_ns : pawli_step_ns(CLOCK_MONOTONIC_RAW);
}

/* ---- the program ---- */

static __attribute__((noreturn)) void build_failed(handle program, int32_t error) {
  static char log[sizeof pawli.message - 128];
  size_t length = 0;
  cl.get_build_info(program, device.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
  char *const whole = (char *)calloc(length + 1, 1);
  if (whole) cl.get_build_info(program, device.device, CL_PROGRAM_BUILD_LOG, length, whole, NULL);
  snprintf(log, sizeof log, "%s", whole ? whole : "");
  if (whole) fprintf(stderr, "%s\n", whole);
  free(whole);
  cl.release_program(program);
  pawl_fail("the OpenCL driver cannot compile it (error %d): %s", error, log);
}

static handle make_kernel(const char *text, size_t length, const char *options, const char *name) {
  const int il = length >= 4 && memcmp(text, "\x03\x02\x23\x07", 4) == 0; /* SPIR-V */
  int32_t error;
  handle program = il ? cl.create_program_il(device.context, text, length, &error)
                      : cl.create_program(device.context, 1, &text, &length, &error);
  must(error, "reading the program");
  error = cl.build_program(program, 1, &device.device, options, NULL, NULL);
  if (error) build_failed(program, error);
  handle kernel = cl.create_kernel(program, name, &error);
  cl.release_program(program); /* the kernel keeps it */
  if (error) pawl_fail("there is no kernel %s in %s: OpenCL error %d", name, launching.file, error);
  return kernel;
}

static void device_calibration(void) {
  static const argument out = {.name = "out", .role = ROLE_OUT, .type = F32, .rank = 1, .shape = {4096}, .strides = {1},
                               .dense = 1, .count = 4096, .bytes = 4096 * 4};
  arguments.all[arguments.count++] = out;
  launching.grid[0] = launching.block[0] = 64;
  launching.grid[1] = launching.grid[2] = launching.block[1] = launching.block[2] = 1;
}

static void device_load(void) {
  uint32_t count = 0;
  size_t length = 0;
  if (launching.shared) pawl_fail_as("unsupported", "launch.shared is for CUDA: declare local memory in the OpenCL kernel");
  if (launching.calibration) {
    device.kernel = make_kernel(own_source, sizeof own_source - 1, "", "pawl_chain");
    return;
  }
  const char *const text = read_kernel_file(&length);
  device.kernel = make_kernel(text, length, launching.options, launching.kernel);
  must(cl.get_kernel_info(device.kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL), "asking for the kernel's arguments");
  if ((int)count != arguments.count)
    pawl_fail_as("bad_params", "%s takes %u arguments, the suite declares %d", launching.kernel, count, arguments.count);
}

static void forget_events(void) {
  int i;
  for (i = 0; i < MOST_SETS; i++) {
    if (device.events[i]) cl.release_event(device.events[i]);
    device.events[i] = NULL;
  }
}

static void device_unload(void) {
  if (!device.context) return;
  forget_events();
  if (device.kernel) cl.release_kernel(device.kernel);
  device.kernel = NULL;
}

/* ---- memory ---- */

static void device_alloc(memory *m, size_t bytes, int input) {
  int32_t error;
  (void)input; /* a view of it is read-only, the buffer is filled from here */
  m->in = cl.create_buffer(device.context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  must(error, "allocating a buffer");
}

static void device_free(memory *m) {
  if (m->view) cl.release_memory(m->view);
  if (m->in) cl.release_memory(m->in);
  m->in = m->view = NULL;
}

static void device_write(memory *m, size_t at, const void *from, size_t bytes) {
  must(cl.write(device.queue, m->in, 1, at, bytes, from, 0, NULL, NULL), "writing a buffer");
}

static const unsigned char *device_look(memory *m, size_t at, size_t bytes) {
  unsigned char *const to = transit_room(bytes);
  must(cl.read(device.queue, m->in, 1, at, bytes, to, 0, NULL, NULL), "reading a buffer");
  return to;
}

static void device_place(memory *m, size_t at, size_t bytes, const unsigned char *contents, uint64_t seed) {
  unsigned char *const from = transit_room(bytes + 2 * BAND);
  place_here(from, bytes, contents, seed);
  device_write(m, at - BAND, from, bytes + 2 * BAND);
}

static sight device_inspect(memory *m, size_t at, size_t bytes, uint64_t seed) {
  return inspect_here(device_look(m, at - BAND, bytes + 2 * BAND), bytes, seed);
}

static int device_same(memory *m, size_t at, size_t bytes, const unsigned char *as) {
  enum { PART = 1 << 19 }; /* stays in the cache until it is compared */
  size_t done, n;
  for (done = 0; done < bytes; done += n) {
    n = bytes - done < PART ? bytes - done : PART;
    if (memcmp(device_look(m, at + done, n), as + done, n) != 0) return 0;
  }
  return 1;
}

/* ---- running ---- */

/* A window as a buffer of its own, made anew when it has moved. */
static void make_view(slot *s, const argument *a) {
  const struct {
    size_t origin, size;
  } region = {s->window, a->bytes};
  int32_t error = 0;
  if (s->m.view && s->m.from == s->window) return;
  if (s->m.view) cl.release_memory(s->m.view);
  s->m.from = s->window;
  s->m.view = cl.create_sub_buffer(s->m.in, a->role == ROLE_IN ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE,
                                   CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  must(error, "placing a buffer");
}

static void start_run(set *of, handle *event) {
  size_t all[3], group[3];
  int i;
  for (i = 0; i < arguments.count; i++) {
    const argument *const a = &arguments.all[i];
    if (is_tensor(a)) must(cl.set_argument(device.kernel, (uint32_t)i, sizeof(handle), &of->slots[i].m.view), a->name);
    else must(cl.set_argument(device.kernel, (uint32_t)i, dtypes[a->type].size, &a->value), a->name);
  }
  for (i = 0; i < 3; i++) {
    group[i] = (size_t)launching.block[i];
    all[i] = (size_t)launching.grid[i] * group[i];
  }
  must(cl.launch(device.queue, device.kernel, 3, NULL, all, group, 0, NULL, event), "launching the kernel");
}

static double event_ns(handle event) {
  uint64_t start = 0, end = 0;
  must(cl.get_event_times(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "reading an event");
  must(cl.get_event_times(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "reading an event");
  return end > start ? (double)(end - start) : 0;
}

static void make_views(set *const *of, int count) {
  int i, k;
  for (i = 0; i < count; i++)
    for (k = 0; k < arguments.count; k++)
      if (is_tensor(&arguments.all[k])) make_view(&of[i]->slots[k], &arguments.all[k]);
}

static void device_queue(set *const *of, int count) {
  int i;
  make_views(of, count);
  for (i = 0; i < count; i++)
    start_run(of[i], device.watching && device.watched < MOST_SETS ? &device.events[device.watched++] : NULL);
}

static void device_watch(int on) {
  if (on) {
    forget_events();
    device.watched = 0;
  }
  device.watching = on;
}

static uint64_t event_moment(handle event, uint32_t moment) {
  uint64_t ns = 0;
  must(cl.get_event_times(event, moment, sizeof ns, &ns, NULL), "reading an event");
  return ns;
}

/* In nanoseconds since the first was queued. */
static void device_put_launches(void) {
  static const struct {
    const char *name;
    uint32_t moment;
  } moments[] = {{"queued", CL_PROFILING_COMMAND_QUEUED}, {"submit", CL_PROFILING_COMMAND_SUBMIT},
                 {"start", CL_PROFILING_COMMAND_START}, {"end", CL_PROFILING_COMMAND_END}};
  const long long *const g = launching.grid, *const b = launching.block;
  uint64_t zero = 0;
  int i, k;
  for (i = 0; i < device.watched; i++) {
    if (i == 0) zero = event_moment(device.events[0], CL_PROFILING_COMMAND_QUEUED);
    pawli_put("%s{\"kernel\":", i ? "," : ",\"launches\":[");
    pawli_put_string(launching.calibration ? "pawl_chain" : launching.kernel);
    for (k = 0; k < 4; k++) {
      const uint64_t ns = event_moment(device.events[i], moments[k].moment);
      pawli_put(",\"%s\":%.0f", moments[k].name, ns > zero ? (double)(ns - zero) : 0);
    }
    pawli_put(",\"global\":[%lld,%lld,%lld],\"local\":[%lld,%lld,%lld]}%s", g[0] * b[0], g[1] * b[1], g[2] * b[2],
              b[0], b[1], b[2], i == device.watched - 1 ? "]" : "");
  }
  forget_events();
}

static void device_run(set *const *of, int count, pawli_reading *r) {
  const int by_events = pawli.timer == PAWLI_TIMER_DEVICE;
  int i;
  forget_events();
  make_views(of, count);
  const double wall = pawli_clock(CLOCK_MONOTONIC_RAW);
  for (i = 0; i < count; i++) start_run(of[i], by_events ? &device.events[i] : NULL);
  must(cl.finish(device.queue), "running the kernel");
  r->by[PAWLI_TIMER_WALL] = pawli_clock(CLOCK_MONOTONIC_RAW) - wall;
  r->by[PAWLI_TIMER_DEVICE] = 0;
  for (i = 0; i < count && by_events; i++) r->by[PAWLI_TIMER_DEVICE] += event_ns(device.events[i]);
}

static void device_hold(void) {}
static void device_settle(void) { must(cl.finish(device.queue), "waiting for the device"); }

static size_t device_cache_bytes(void) {
  uint64_t bytes = 0;
  cl.get_device_info(device.device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof bytes, &bytes, NULL);
  if (device.type == CL_TYPE_CPU && bytes < pawli_host_cache_bytes()) bytes = pawli_host_cache_bytes();
  if (bytes < (uint64_t)8 << 20) bytes = (uint64_t)32 << 20; /* some drivers tell the size of the first level */
  return bytes < (uint64_t)512 << 20 ? (size_t)bytes : (size_t)512 << 20;
}

static void device_warm(set *const *of, int count) { (void)of, (void)count; }

/* Reads twice the cache. It does not write: dirty lines would have to leave the cache during the run. */
static void device_chill(set *const *of, int count) {
  static const size_t items = 16384;
  (void)of, (void)count;
  if (!device.sweep) {
    const uint64_t words = 2 * device_cache_bytes() / 8, each = device.type == CL_TYPE_CPU ? words / items + 1 : 0;
    unsigned char *const bytes = transit_room(words * 8);
    device_alloc(&device.swept, words * 8, 1);
    poison(bytes, 1, words * 8);
    device_write(&device.swept, 0, bytes, words * 8);
    handle sweep = make_kernel(own_source, sizeof own_source - 1, "", "pawl_sweep");
    must(cl.set_argument(sweep, 0, sizeof(handle), &device.swept.in), "sweeping the cache");
    must(cl.set_argument(sweep, 1, sizeof words, &words), "sweeping the cache");
    must(cl.set_argument(sweep, 2, sizeof each, &each), "sweeping the cache");
    device.sweep = sweep;
  }
  must(cl.launch(device.queue, device.sweep, 1, NULL, &items, NULL, 0, NULL, NULL), "sweeping the cache");
  must(cl.finish(device.queue), "sweeping the cache");
}

static void device_begin(void) {
  if (device.type == CL_TYPE_CPU)
    snprintf(pawli.note, sizeof pawli.note, "a CPU runs OpenCL kernels inside the launcher's process, which they could reach");
}
