/* CUPTI in front of the model, as libcupti.so.12: the records of kernels, as much of it as pawl.h calls. Times are in steps
   of 32 ns. The records are those of CUDA 12, of which only the fields up to the name are filled. */
#include "model.h"

#include <string.h>

enum { COPIES = 1, FILLS = 2, KERNELS = 10, STEP_NS = 32, MOST_RECORDS = 4096, END_OF_RECORDS = 12 };

typedef struct record {
  uint32_t kind;
  char config[12];
  uint64_t start, end, completed;
  char launch[64];
  const char *name;
  char rest[96];
} record;

static record kept[MOST_RECORDS];
static size_t count;
static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);

static uint64_t in_steps(double ns) { return (uint64_t)(ns / STEP_NS) * STEP_NS; }

static void keep(const char *kernel, double start, double end) {
  if (count == MOST_RECORDS) return;
  kept[count++] = (record){.kind = KERNELS, .start = in_steps(start), .end = in_steps(end), .name = kernel};
}

int cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *), void (*c)(void *, uint32_t, uint8_t *, size_t, size_t)) {
  const int error = vgpu_call("cuptiActivityRegisterCallbacks");
  return request = r, complete = c, error;
}

int cuptiActivityEnable(int kind) {
  const int error = vgpu_call("cuptiActivityEnable");
  if (!error && kind == KERNELS) vgpu_watch(keep);
  return error ? error : kind != COPIES && kind != FILLS && kind != KERNELS;
}

int cuptiActivityDisable(int kind) {
  (void)kind;
  const int error = vgpu_call("cuptiActivityDisable");
  return error ? error : (vgpu_watch(NULL), 0);
}

int cuptiActivityFlushAll(uint32_t flag) {
  uint8_t *to = NULL;
  size_t room = 0, most = 0;
  (void)flag;
  const int error = vgpu_call("cuptiActivityFlushAll");
  for (size_t done = 0, n; !error && done < count; done += n) {
    request(&to, &room, &most);
    n = room / sizeof *kept < count - done ? room / sizeof *kept : count - done;
    if (!to || !n) break;
    memcpy(to, kept + done, n * sizeof *kept);
    complete(NULL, 0, to, room, n * sizeof *kept);
  }
  return count = 0, error;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t bytes, void **at) {
  uint8_t *const next = *at ? (uint8_t *)*at + sizeof *kept : from;
  if (next + sizeof *kept > from + bytes) return END_OF_RECORDS;
  return *at = next, 0;
}
