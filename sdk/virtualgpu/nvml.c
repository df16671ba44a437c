/* NVIDIA's management library in front of the model, as libnvidia-ml.so.1: what pawl's loader calls. Loaded beside driver.c in
   one process it reads the same card; with VGPU_STATE it also reads what other processes do on it. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, MOST_CARDS = 8, BUS_BITS = 512, MIG_SLICES = 7,
  MIG_SHARES = 8 /* of memory */, FOREIGN = 100000
};

#define TDP 0xffffff01u /* the base clock, by name */

typedef struct nvml_device {
  int number, slice; /* slice: 1 for the slice of a card */
} nvml_device;

static nvml_device devices[MOST_CARDS], slices[MOST_CARDS];

#define CALL(name)                       \
  do {                                   \
    const int error_ = vgpu_call(#name); \
    if (error_) return error_;           \
  } while (0)

#define READ(name, d, r)  \
  vgpu_reading r;         \
  CALL(name);             \
  if (vgpu_state((d)->number, &(r))) return INVALID_ARGUMENT

static int has_mig(void) { return getenv("VGPU_MIG") != NULL; }

/* ---- the machine ---- */

int nvmlInit_v2(void) {
  CALL(nvmlInit_v2);
  return 0;
}

int nvmlSystemGetDriverVersion(char *to, unsigned room) {
  CALL(nvmlSystemGetDriverVersion);
  return snprintf(to, room, "550.54.15"), 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int *to) {
  CALL(nvmlSystemGetCudaDriverVersion_v2);
  return *to = 12040, 0;
}

int nvmlDeviceGetCount_v2(unsigned *to) {
  vgpu_reading r;
  CALL(nvmlDeviceGetCount_v2);
  *to = vgpu_state(0, &r) || !r.major ? 0 : (unsigned)vgpu_cards(); /* an AMD card is not NVML's */
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device **to) {
  CALL(nvmlDeviceGetHandleByIndex_v2);
  if (index >= MOST_CARDS || (int)index >= vgpu_cards()) return INVALID_ARGUMENT;
  devices[index].number = (int)index;
  return *to = &devices[index], 0;
}

static void uuid_of(const nvml_device *d, char *to, size_t room) {
  snprintf(to, room, "%s-00000000-0000-0000-0000-%012x", d->slice ? "MIG" : "GPU", d->number);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device **to) {
  char own[64];
  CALL(nvmlDeviceGetHandleByUUID);
  for (int i = 0; i < vgpu_cards() && i < MOST_CARDS; i++) {
    devices[i].number = i;
    uuid_of(&devices[i], own, sizeof own);
    if (strcmp(uuid, own) == 0) return *to = &devices[i], 0;
  }
  return NOT_FOUND;
}

/* ---- what a card is ---- */

int nvmlDeviceGetName(nvml_device *d, char *to, unsigned room) {
  READ(nvmlDeviceGetName, d, r);
  const char *const name = getenv("VGPU_NAME");
  if (name) snprintf(to, room, "%s%s", name, d->slice ? " MIG 1g" : "");
  else snprintf(to, room, "Virtual %s %d%s", r.card, d->number, d->slice ? " MIG 1g" : "");
  return 0;
}

int nvmlDeviceGetUUID(nvml_device *d, char *to, unsigned room) {
  CALL(nvmlDeviceGetUUID);
  return uuid_of(d, to, room), 0;
}

int nvmlDeviceGetVbiosVersion(nvml_device *d, char *to, unsigned room) {
  CALL(nvmlDeviceGetVbiosVersion);
  return snprintf(to, room, "00.00.00.00.%02d", d->number), 0;
}

int nvmlDeviceGetCudaComputeCapability(nvml_device *d, int *major, int *minor) {
  READ(nvmlDeviceGetCudaComputeCapability, d, r);
  return *major = r.major, *minor = r.minor, 0;
}

int nvmlDeviceGetNumGpuCores(nvml_device *d, unsigned *to) {
  READ(nvmlDeviceGetNumGpuCores, d, r);
  *to = (unsigned)((r.units + vgpu_breaks("units")) * (r.major == 8 && r.minor == 0 ? 64 : 128));
  return 0;
}

typedef struct nvml_memory {
  unsigned long long total, free, used;
} nvml_memory;

int nvmlDeviceGetMemoryInfo(nvml_device *d, nvml_memory *to) {
  READ(nvmlDeviceGetMemoryInfo, d, r);
  double used = 0;
  for (int i = 0; i < r.users; i++) used += r.bytes[i];
  to->total = (unsigned long long)(r.memory_bytes / (d->slice ? MIG_SHARES : 1));
  to->used = (unsigned long long)used;
  to->free = to->total - to->used;
  return 0;
}

int nvmlDeviceGetMemoryBusWidth(nvml_device *d, unsigned *to) {
  (void)d;
  CALL(nvmlDeviceGetMemoryBusWidth);
  return *to = BUS_BITS, 0;
}

int nvmlDeviceGetMigMode(nvml_device *d, unsigned *now, unsigned *pending) {
  (void)d;
  CALL(nvmlDeviceGetMigMode);
  if (!has_mig()) return NOT_SUPPORTED;
  return *now = *pending = 1, 0;
}

int nvmlDeviceGetMaxMigDeviceCount(nvml_device *d, unsigned *to) {
  (void)d;
  CALL(nvmlDeviceGetMaxMigDeviceCount);
  return *to = has_mig() ? MIG_SLICES : 0, 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device *d, unsigned index, nvml_device **to) {
  CALL(nvmlDeviceGetMigDeviceHandleByIndex);
  if (!has_mig() || index != 0) return NOT_FOUND;
  slices[d->number] = (nvml_device){d->number, 1};
  return *to = &slices[d->number], 0;
}

typedef struct nvml_attributes {
  unsigned units, others[7];
  unsigned long long memory_mb;
} nvml_attributes;

int nvmlDeviceGetAttributes_v2(nvml_device *d, nvml_attributes *to) {
  READ(nvmlDeviceGetAttributes_v2, d, r);
  if (!d->slice) return NOT_SUPPORTED;
  *to = (nvml_attributes){.units = (unsigned)(r.units / MIG_SLICES), .memory_mb = (unsigned long long)(r.memory_bytes / MIG_SHARES / (1 << 20))};
  return 0;
}

/* ---- what it does at the moment ---- */

static unsigned memory_mhz(const vgpu_reading *r) { return (unsigned)(r->gbps * 1000 * 8 / 2 / BUS_BITS + 0.5); }

int nvmlDeviceGetClockInfo(nvml_device *d, unsigned what, unsigned *to) {
  READ(nvmlDeviceGetClockInfo, d, r);
  *to = what == 2 ? memory_mhz(&r) : (unsigned)(r.mhz * (vgpu_breaks("clock") ? 1.1 : 1) + 0.5);
  return what > 2 ? INVALID_ARGUMENT : 0;
}

int nvmlDeviceGetMaxClockInfo(nvml_device *d, unsigned what, unsigned *to) {
  READ(nvmlDeviceGetMaxClockInfo, d, r);
  *to = what == 2 ? memory_mhz(&r) : (unsigned)r.boost_mhz;
  return what > 2 ? INVALID_ARGUMENT : 0;
}

int nvmlDeviceGetClock(nvml_device *d, unsigned what, unsigned which, unsigned *to) {
  READ(nvmlDeviceGetClock, d, r);
  (void)which;
  *to = what == 2 ? memory_mhz(&r) : (unsigned)r.sustained_mhz;
  return 0;
}

int nvmlDeviceGetTemperature(nvml_device *d, unsigned sensor, unsigned *to) {
  READ(nvmlDeviceGetTemperature, d, r);
  *to = (unsigned)(r.celsius + 0.5);
  return sensor ? INVALID_ARGUMENT : 0;
}

int nvmlDeviceGetPowerUsage(nvml_device *d, unsigned *to) {
  READ(nvmlDeviceGetPowerUsage, d, r);
  return *to = (unsigned)(r.watts * 1000), 0;
}

int nvmlDeviceGetEnforcedPowerLimit(nvml_device *d, unsigned *to) {
  READ(nvmlDeviceGetEnforcedPowerLimit, d, r);
  return *to = (unsigned)(r.cap_w * 1000), 0;
}

int nvmlDeviceGetTotalEnergyConsumption(nvml_device *d, unsigned long long *to) {
  READ(nvmlDeviceGetTotalEnergyConsumption, d, r);
  return *to = (unsigned long long)(r.joules * 1000), 0;
}

int nvmlDeviceGetCurrentClocksEventReasons(nvml_device *d, unsigned long long *to) {
  READ(nvmlDeviceGetCurrentClocksEventReasons, d, r);
  *to = (r.idle ? 0x1 : 0) | (r.locked_mhz > 0 ? 0x2 : 0) | (r.capped ? 0x4 : 0) | (r.hot ? 0x20 : 0) | (vgpu_breaks("slowdown") ? 0x8 : 0);
  return 0;
}

int nvmlDeviceGetEccMode(nvml_device *d, unsigned *now, unsigned *pending) {
  (void)d;
  CALL(nvmlDeviceGetEccMode);
  return *now = *pending = 1, 0;
}

int nvmlDeviceGetPersistenceMode(nvml_device *d, unsigned *to) {
  READ(nvmlDeviceGetPersistenceMode, d, r);
  return *to = (unsigned)r.persistence, 0;
}

typedef struct nvml_process {
  unsigned pid;
  unsigned long long bytes;
  unsigned slice[2];
} nvml_process;

int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device *d, unsigned *count, nvml_process *to) {
  READ(nvmlDeviceGetComputeRunningProcesses_v3, d, r);
  if ((unsigned)r.users > *count) return *count = (unsigned)r.users, TOO_SMALL;
  for (int i = 0; i < r.users; i++)
    to[i] = (nvml_process){.pid = (unsigned)r.pids[i] + (vgpu_breaks("processes") ? FOREIGN : 0), .bytes = (unsigned long long)r.bytes[i]};
  return *count = (unsigned)r.users, 0;
}

/* ---- settings ---- */

static int lock(int number, unsigned mhz) {
  vgpu_reading r;
  if (vgpu_state(number, &r)) return INVALID_ARGUMENT;
  if (mhz != TDP && mhz > r.boost_mhz) return INVALID_ARGUMENT;
  if (!vgpu_breaks("lock")) vgpu_lock(number, mhz == TDP ? r.sustained_mhz : mhz);
  return 0;
}

int nvmlDeviceSetGpuLockedClocks(nvml_device *d, unsigned low, unsigned high) {
  CALL(nvmlDeviceSetGpuLockedClocks);
  (void)low;
  return lock(d->number, high);
}

int nvmlDeviceResetGpuLockedClocks(nvml_device *d) {
  CALL(nvmlDeviceResetGpuLockedClocks);
  return lock(d->number, 0);
}

int nvmlDeviceSetPersistenceMode(nvml_device *d, unsigned on) {
  CALL(nvmlDeviceSetPersistenceMode);
  return vgpu_persist_driver(d->number, on != 0), 0;
}
