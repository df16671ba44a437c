// A stand-in for libnvidia-ml.so.1, for tests on machines without a GPU.
//
// Everything it answers comes from a text file named by PAWL_NVML_STUB, one
// "key value" a line, read anew on every call; setters write it back in one
// rename, so that a process killed at any moment leaves a whole file. A process
// that dies keeps nothing: as with a real driver, what it set stays set.
//
//   init 9                     return code of nvmlInit
//   driver 550.54.15           cuda 12040
//   gpus 2                     then, for each GPU n:
//   n.name NVIDIA L4           n.uuid GPU-...      n.sm_clock 1500      ...
//   n.slices 1                 n.0.uuid MIG-...    n.0.name ...         n.0.sms 14
//   n.processes 1              n.processes.0 4711 1048576 (pid, bytes); mps alike
//   n.reasons 0                n.reasons_at 5 0x40: from this process's fifth reading on
//   n.reasons_after 200 0x40: from 200 ms after the first call on
//   denied 1                   setters answer "no permission"
//   no_tdp 1                   the symbolic TDP clock is refused
//   fail.nvmlDeviceGetX 999    return code of one function
//   pause_us 500               setters take that long, before and after they act
//   die 17                     the process kills itself at its 17th call
//
// Compiled with -DSTUB_OLD it lacks the functions an old driver lacks.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

typedef struct { void *p; } dev;
typedef unsigned int u32;
typedef unsigned long long u64;

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, UNSUPPORTED = 3, DENIED = 4, NOT_FOUND = 6, TOO_SMALL = 7, UNKNOWN = 999 };
enum { TDP = 0xffffff01u, UNLIMITED = 0xffffff02u };
enum { MAX_FILE = 1 << 16 };

// ---- the state file ----

static const char *state_path(void) { return getenv("PAWL_NVML_STUB"); }

static size_t load(char *buf) {
  size_t n = 0;
  buf[0] = 0;
  const char *path = state_path();
  FILE *f = path ? fopen(path, "re") : NULL;
  if (f) {
    n = fread(buf, 1, MAX_FILE - 1, f);
    fclose(f);
  }
  buf[n] = 0;
  return n;
}

// find returns the start of the line that begins with "key ", or NULL.
static char *find(char *buf, const char *key) {
  size_t k = strlen(key);
  for (char *line = buf; line && *line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, k) == 0 && line[k] == ' ') return line;
  }
  return NULL;
}

static int get_text(const char *key, char *out, size_t size) {
  char buf[MAX_FILE];
  load(buf);
  char *line = find(buf, key);
  if (!line) return 0;
  const char *v = line + strlen(key) + 1;
  size_t n = strcspn(v, "\n");
  if (n >= size) n = size - 1;
  memcpy(out, v, n);
  out[n] = 0;
  return 1;
}

static int get(const char *key, u64 *out) {
  char text[64];
  if (!get_text(key, text, sizeof text)) return 0;
  *out = strtoull(text, NULL, 0);
  return 1;
}

static u64 number(const char *key, u64 otherwise) {
  u64 v;
  return get(key, &v) ? v : otherwise;
}

static void set(const char *key, u64 value) {
  char path[4096], buf[MAX_FILE];
  snprintf(path, sizeof path, "%s.lock", state_path());
  int lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) abort();
  load(buf);
  char *line = find(buf, key);
  snprintf(path, sizeof path, "%s.%d", state_path(), (int)getpid());
  FILE *f = fopen(path, "we");
  if (!f) abort();
  if (line) {
    const char *rest = strchr(line, '\n');
    fwrite(buf, 1, (size_t)(line - buf), f);
    fprintf(f, "%s %llu%s", key, value, rest ? rest : "\n");
  } else {
    fprintf(f, "%s%s %llu\n", buf, key, value);
  }
  if (fclose(f) != 0 || rename(path, state_path()) != 0) abort();
  close(lock);
}

// ---- calls ----

static u64 millis(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

static u64 first_call;

// enter counts a call and answers what the script says of this function.
static int enter(const char *function) {
  static u64 calls;
  u64 now = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (now == 1) first_call = millis();
  if (number("die", 0) == now) raise(SIGKILL);
  char key[128];
  snprintf(key, sizeof key, "fail.%s", function);
  return (int)number(key, OK);
}

#define ENTER                   \
  do {                          \
    int r = enter(__func__);    \
    if (r != OK) return r;      \
  } while (0)

// A handle is the GPU's number + 1 in the high byte, the slice's + 1 in the low.
static dev handle(u32 gpu, int slice) { return (dev){(void *)(((size_t)gpu + 1) << 8 | (size_t)(slice + 1))}; }

static const char *key_of(dev d, const char *name) {
  static __thread char key[128];
  size_t h = (size_t)d.p;
  if (h & 0xff)
    snprintf(key, sizeof key, "%zu.%zu.%s", (h >> 8) - 1, (h & 0xff) - 1, name);
  else
    snprintf(key, sizeof key, "%zu.%s", (h >> 8) - 1, name);
  return key;
}

static int is_slice(dev d) { return ((size_t)d.p & 0xff) != 0; }

static int read_u32(dev d, const char *name, u32 *out) {
  u64 v;
  if (!get(key_of(d, name), &v)) return UNSUPPORTED;
  *out = (u32)v;
  return OK;
}

static int read_text(dev d, const char *name, char *out, u32 size) {
  return get_text(key_of(d, name), out, size) ? OK : UNSUPPORTED;
}

int nvmlInit_v2(void) {
  ENTER;
  return (int)number("init", OK);
}
int nvmlShutdown(void) {
  ENTER;
  return OK;
}
const char *nvmlErrorString(int r) {
  (void)r;
  return "an error of the NVML stub";
}
int nvmlSystemGetDriverVersion(char *out, u32 size) {
  ENTER;
  return get_text("driver", out, size) ? OK : UNKNOWN;
}
int nvmlSystemGetCudaDriverVersion_v2(int *out) {
  ENTER;
  *out = (int)number("cuda", 0);
  return OK;
}
int nvmlDeviceGetCount_v2(u32 *out) {
  ENTER;
  *out = (u32)number("gpus", 0);
  return OK;
}
int nvmlDeviceGetHandleByIndex_v2(u32 index, dev *out) {
  ENTER;
  if (index >= number("gpus", 0)) return INVALID;
  *out = handle(index, -1);
  return (int)number(key_of(*out, "lost"), OK);
}

// ---- identity ----

int nvmlDeviceGetUUID(dev d, char *out, u32 size) {
  ENTER;
  return read_text(d, "uuid", out, size);
}
int nvmlDeviceGetName(dev d, char *out, u32 size) {
  ENTER;
  return read_text(d, "name", out, size);
}
int nvmlDeviceGetVbiosVersion(dev d, char *out, u32 size) {
  ENTER;
  return read_text(d, "vbios", out, size);
}
int nvmlDeviceGetCudaComputeCapability(dev d, int *major, int *minor) {
  ENTER;
  char text[16];
  if (read_text(d, "capability", text, sizeof text) != OK) return UNSUPPORTED;
  return sscanf(text, "%d.%d", major, minor) == 2 ? OK : UNKNOWN;
}
int nvmlDeviceGetNumGpuCores(dev d, u32 *out) {
  ENTER;
  return is_slice(d) ? UNSUPPORTED : read_u32(d, "cores", out);
}
int nvmlDeviceGetMemoryInfo(dev d, u64 *out) {
  ENTER;
  out[1] = out[2] = 0;
  return get(key_of(d, "memory"), &out[0]) ? OK : UNSUPPORTED;
}

// ---- MIG ----

#ifndef STUB_OLD
int nvmlDeviceGetMigMode(dev d, u32 *current, u32 *pending) {
  ENTER;
  *pending = 0;
  return read_u32(d, "mig", current);
}
int nvmlDeviceGetMaxMigDeviceCount(dev d, u32 *out) {
  ENTER;
  *out = (u32)number(key_of(d, "max_slices"), 7);
  return OK;
}
int nvmlDeviceGetMigDeviceHandleByIndex(dev d, u32 index, dev *out) {
  ENTER;
  if (index >= number(key_of(d, "slices"), 0)) return NOT_FOUND;
  *out = handle((u32)(((size_t)d.p >> 8) - 1), (int)index);
  return OK;
}
int nvmlDeviceGetAttributes_v2(dev d, u32 *out) {
  ENTER;
  if (!is_slice(d)) return UNSUPPORTED;
  memset(out, 0, 40);
  return read_u32(d, "sms", out);
}
#endif

// ---- state; a slice has none of its own ----

#define STATE \
  ENTER;      \
  if (is_slice(d)) return UNSUPPORTED

int nvmlDeviceGetClockInfo(dev d, int type, u32 *out) {
  STATE;
  return read_u32(d, type == 2 ? "memory_clock" : "sm_clock", out);
}
int nvmlDeviceGetMaxClockInfo(dev d, int type, u32 *out) {
  STATE;
  return type == 1 ? read_u32(d, "max_clock", out) : type == 2 ? read_u32(d, "max_memory_clock", out) : UNSUPPORTED;
}
int nvmlDeviceGetMemoryBusWidth(dev d, u32 *out) {
  STATE;
  return read_u32(d, "bus_width", out);
}
int nvmlDeviceGetClock(dev d, int type, int id, u32 *out) {
  STATE;
  return type == 1 && id == 2 ? read_u32(d, "default_clock", out) : UNSUPPORTED;
}
int nvmlDeviceGetTemperature(dev d, int sensor, u32 *out) {
  STATE;
  return sensor == 0 ? read_u32(d, "temperature", out) : UNSUPPORTED;
}
int nvmlDeviceGetPowerUsage(dev d, u32 *out) {
  STATE;
  return read_u32(d, "power", out);
}
int nvmlDeviceGetEnforcedPowerLimit(dev d, u32 *out) {
  STATE;
  return read_u32(d, "power_cap", out);
}
int nvmlDeviceGetEccMode(dev d, u32 *current, u32 *pending) {
  STATE;
  *pending = 0;
  return read_u32(d, "ecc", current);
}
int nvmlDeviceGetPersistenceMode(dev d, u32 *out) {
  STATE;
  return read_u32(d, "persistence", out);
}

static int reasons(dev d, u64 *out) {
  static char counted[4096]; // the state file whose readings are counted
  static u64 readings;
  if (strcmp(counted, state_path()) != 0) {
    snprintf(counted, sizeof counted, "%s", state_path());
    readings = 0;
  }
  u64 n = __atomic_add_fetch(&readings, 1, __ATOMIC_SEQ_CST);
  char text[64];
  u64 from, bits;
  if (!get(key_of(d, "reasons"), out)) return UNSUPPORTED;
  if (get_text(key_of(d, "reasons_at"), text, sizeof text) && sscanf(text, "%llu %llx", &from, &bits) == 2 && n >= from)
    *out |= bits;
  if (get_text(key_of(d, "reasons_after"), text, sizeof text) && sscanf(text, "%llu %llx", &from, &bits) == 2 &&
      millis() - first_call >= from)
    *out |= bits;
  return OK;
}
#ifndef STUB_OLD
int nvmlDeviceGetCurrentClocksEventReasons(dev d, u64 *out) {
  STATE;
  return reasons(d, out);
}
#endif
int nvmlDeviceGetCurrentClocksThrottleReasons(dev d, u64 *out) {
  STATE;
  return reasons(d, out);
}

struct process { u32 pid; u64 memory; u32 gi, ci; };
struct process_v1 { u32 pid; u64 memory; };

// processes fills entries of the given size; both versions begin alike.
static int processes(dev d, const char *kind, u32 *count, void *out, size_t size) {
  char key[160], text[256];
  snprintf(key, sizeof key, "%s", key_of(d, kind));
  u32 have = (u32)number(key, 0);
  if (have > *count) {
    *count = have;
    return TOO_SMALL;
  }
  for (u32 i = 0; i < have; i++) {
    struct process_v1 *p = (struct process_v1 *)((char *)out + i * size);
    char one[176];
    snprintf(one, sizeof one, "%s.%u", key, i);
    if (!get_text(one, text, sizeof text) || sscanf(text, "%u %llu", &p->pid, &p->memory) != 2) return UNKNOWN;
  }
  *count = have;
  return OK;
}
#ifdef STUB_OLD
int nvmlDeviceGetComputeRunningProcesses(dev d, u32 *count, struct process_v1 *out) {
  ENTER;
  return processes(d, "processes", count, out, sizeof *out);
}
#else
int nvmlDeviceGetComputeRunningProcesses_v3(dev d, u32 *count, struct process *out) {
  ENTER;
  return processes(d, "processes", count, out, sizeof *out);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(dev d, u32 *count, struct process *out) {
  ENTER;
  return processes(d, "mps", count, out, sizeof *out);
}
#endif

// ---- control ----

static int change(dev d, const char *what, u64 value) {
  if (number("denied", 0)) return DENIED;
  u32 pause = (u32)number("pause_us", 0);
  if (pause) usleep(pause);
  set(key_of(d, what), value);
  if (pause) usleep(pause);
  return OK;
}

int nvmlDeviceSetPersistenceMode(dev d, u32 mode) {
  STATE;
  return change(d, "persistence", mode);
}
int nvmlDeviceSetGpuLockedClocks(dev d, u32 min, u32 max) {
  STATE;
  if ((min == TDP) != (max == TDP) || min > max) return INVALID;
  if (min == TDP && number("no_tdp", 0)) return INVALID;
  return change(d, "locked", min);
}
int nvmlDeviceResetGpuLockedClocks(dev d) {
  STATE;
  return change(d, "locked", 0);
}
