#define _GNU_SOURCE
#include "model.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 4096, QUEUE = 1024, MOST_DEVICES = 8, MOST_FAULTS = 8, STALL = 1000000 };

/* What the host pays, in nanoseconds. */
#define CALL_NS 500
#define LAUNCH_NS 2200
#define WAIT_NS 5000
#define COPY_NS 8000
#define CLOCK_NS 25
#define LATENCY_NS 1800 /* from a launch to the start of its kernel on an idle device */
#define EMPTY_NS 1000   /* an empty kernel */

#define AMBIENT_C 35
#define CACHE_SPEED 4 /* how much faster the cache is than memory */
#define LINK_GBPS 12  /* pageable copies over PCIe */
#define CYCLES_A_READ 16
#define TIMER_NS 1024 /* step of %globaltimer */

typedef struct card {
  const char *name;
  int units;
  double cache_mb, memory_gb, gbps, boost_mhz; /* as in gpu/cards.txt; a test compares them */
  double idle_w, cap_w, full_w;                /* full_w: what it would draw at boost */
  double follow_ms;                            /* how fast clocks follow the draw */
  double degrees_per_w, heat_s, hot_c;
  double wander; /* of the clock, as a share */
  double step_ns;
} card;

static const card cards[] = {
    {"L4", 58, 48, 24, 300, 2040, 16, 72, 157, 300, 0.6, 40, 85, 0, 1024},
    {"A100", 108, 40, 80, 2039, 1410, 50, 400, 550, 50, 0.1, 30, 85, 0, 500},
    {"H100", 132, 50, 80, 3350, 1980, 70, 700, 1264, 30, 0.06, 30, 87, 0, 500},
    {"B200", 148, 126.5, 180, 7672, 1965, 140, 1000, 1790, 5, 0.045, 30, 90, 0, 500},
    {"MI300X", 304, 256, 192, 5325, 2100, 140, 750, 1520, 20, 0.06, 30, 95, 0, 10},
    {"laptop", 58, 48, 12, 432, 2280, 10, 90, 190, 100, 0.6, 20, 80, 0.06, 1024},
};

/* ---- state ---- */

typedef struct line {
  uint64_t at;
  int newer, older, next;
  int persists;
  unsigned dirty; /* bytes */
} line;

typedef struct op {
  const char *name;
  vgpu_body body, drop;
  void *with;
  double *event;
  double at; /* when the host made it */
} op;

typedef struct graph {
  op ops[QUEUE];
  int count;
} graph;

typedef struct device {
  int number, opened;
  double units, cache_bytes, memory_bytes, gbps; /* scaled */
  line *lines;
  int *buckets, bucket_count, line_count, used;
  int newest[2], oldest[2]; /* of ordinary lines and of those that persist */
  uint64_t window_from, window_to;
  size_t set_aside, persisting, allocated;
  op queue[QUEUE];
  int first, queued;
  double free_at; /* when the device has done what ran so far */
  double mhz, activity, celsius, cycles;
} device;

static struct {
  int opened, trace, count, visible[MOST_DEVICES], visible_count, slice;
  const card *card;
  double scale, lock_mhz, step_ns, host_ns;
  uint64_t seed;
  int broken; /* the error that all calls return from now on */
  struct {
    char name[64];
    int at, code, seen;
  } faults[MOST_FAULTS];
  int fault_count;
  device all[MOST_DEVICES], *now;
  graph *capturing;
  struct {
    char *at;
    size_t bytes;
  } *blocks;
  int block_count, block_room;
} vgpu = {.trace = -1, .host_ns = 1e12};

static struct { /* the kernel that runs */
  double start, ns, cycles, missed, through, spun, spun_most;
  int described, reads, waits;
} kernel;

static double number(const char *name, double otherwise) {
  const char *text = getenv(name);
  return text && *text ? atof(text) : otherwise;
}

/* ---- opening ---- */

static void read_faults(void) {
  char *text = getenv("VGPU_FAULT") ? strdup(getenv("VGPU_FAULT")) : NULL, *rest = text, *one;
  while (rest && (one = strsep(&rest, ",")) && vgpu.fault_count < MOST_FAULTS)
    if (sscanf(one, "%63[^:]:%d=%d", vgpu.faults[vgpu.fault_count].name, &vgpu.faults[vgpu.fault_count].at,
               &vgpu.faults[vgpu.fault_count].code) == 3)
      vgpu.fault_count++;
  free(text);
}

static void name_uuid(int index, char *to, size_t room) {
  snprintf(to, room, "GPU-00000000-0000-0000-0000-%012x", index);
}

/* CUDA_VISIBLE_DEVICES: indices, UUIDs, or one MIG slice; the list ends at the first that does not exist. */
static void read_visible(void) {
  const char *const text = getenv("CUDA_VISIBLE_DEVICES");
  char *copy = text ? strdup(text) : NULL, *rest = copy, *one, uuid[48];
  int i;
  if (!text)
    for (i = 0; i < vgpu.count; i++) vgpu.visible[vgpu.visible_count++] = i;
  while (rest && (one = strsep(&rest, ",")) && *one && vgpu.visible_count < vgpu.count) {
    int found = -1;
    if (strncmp(one, "MIG-", 4) == 0) found = 0, vgpu.slice = 1;
    for (i = 0; i < vgpu.count && found < 0; i++) {
      name_uuid(i, uuid, sizeof uuid);
      if (strcmp(one, uuid) == 0 || (one[0] == '0' + i && !one[1])) found = i;
    }
    if (found < 0) break;
    vgpu.visible[vgpu.visible_count++] = found;
  }
  free(copy);
}

static void open_model(void) {
  const char *const wanted = getenv("VGPU_CARD"), *const trace = getenv("VGPU_TRACE");
  size_t i;
  if (vgpu.opened) return;
  vgpu.opened = 1;
  vgpu.card = &cards[0];
  for (i = 0; wanted && i < sizeof cards / sizeof *cards; i++)
    if (strcmp(cards[i].name, wanted) == 0) vgpu.card = &cards[i];
  if (wanted && strcmp(vgpu.card->name, wanted) != 0) fprintf(stderr, "VGPU_CARD: there is no %s; this is an L4\n", wanted);
  vgpu.count = (int)fmin(fmax(number("VGPU_DEVICES", 1), 0), MOST_DEVICES);
  vgpu.scale = fmax(number("VGPU_SCALE", 16), 1);
  vgpu.lock_mhz = number("VGPU_MHZ", 0);
  vgpu.step_ns = number("VGPU_STEP", vgpu.card->step_ns);
  vgpu.seed = (uint64_t)number("VGPU_SEED", 1);
  if (trace) vgpu.trace = open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  read_faults();
  read_visible();
}

static void open_device(device *d, int number) {
  const double slice = vgpu.slice ? 8 : 1;
  int i;
  if (d->opened) return;
  d->opened = 1;
  d->number = number;
  d->units = vgpu.slice ? floor(vgpu.card->units / 7.0) : vgpu.card->units;
  d->cache_bytes = vgpu.card->cache_mb * (1 << 20) / vgpu.scale / slice;
  d->memory_bytes = vgpu.card->memory_gb * 1e9 / vgpu.scale / slice;
  d->gbps = vgpu.card->gbps / vgpu.scale / slice;
  d->line_count = (int)(d->cache_bytes / LINE);
  for (d->bucket_count = 1; d->bucket_count < d->line_count;) d->bucket_count *= 2;
  d->lines = calloc((size_t)d->line_count, sizeof *d->lines);
  d->buckets = malloc((size_t)d->bucket_count * sizeof *d->buckets);
  for (i = 0; i < d->bucket_count; i++) d->buckets[i] = -1;
  for (i = 0; i < 2; i++) d->newest[i] = d->oldest[i] = -1;
  d->mhz = vgpu.lock_mhz > 0 ? vgpu.lock_mhz : vgpu.card->boost_mhz;
  d->celsius = AMBIENT_C + (double)(vgpu.seed * 2654435761u >> 8 & 15); /* what ran before differs */
  d->free_at = vgpu.host_ns;
}

/* ---- clocks and power ---- */

/* A number in [-1, 1) that is fixed for every 50 ms of a seed. */
static double wander(void) {
  uint64_t z = vgpu.seed + (uint64_t)(vgpu.now->free_at / 50e6) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)(int64_t)(z ^ (z >> 31)) / 9223372036854775808.0;
}

/* The clock that the device would settle at: the lock or boost, as far as power and temperature allow. */
static double wanted_mhz(const device *d) {
  const card *const c = vgpu.card;
  double most = vgpu.lock_mhz > 0 ? vgpu.lock_mhz : c->boost_mhz * (1 + c->wander * wander());
  const double room = (c->cap_w - c->idle_w) / ((c->full_w - c->idle_w) * fmax(d->activity, 1e-3));
  if (room < 1) most = fmin(most, c->boost_mhz * cbrt(room));
  if (d->celsius > c->hot_c) most *= fmax(0.5, 1 - 0.05 * (d->celsius - c->hot_c));
  return most;
}

/* Lets time pass on the device. activity is the share of its units that switch. */
static void advance(double ns, double activity) {
  const card *const c = vgpu.card;
  device *const d = vgpu.now;
  const double follow_ns = c->follow_ms * 1e6;
  while (ns > 0) {
    const double slice = fmin(ns, follow_ns / 8), share = 1 - exp(-slice / follow_ns);
    d->activity += (activity - d->activity) * share;
    const double watts = c->idle_w + (c->full_w - c->idle_w) * d->activity * pow(d->mhz / c->boost_mhz, 3);
    d->celsius += (AMBIENT_C + c->degrees_per_w * watts - d->celsius) * (1 - exp(-slice / (c->heat_s * 1e9)));
    d->cycles += d->mhz * slice / 1e3;
    d->mhz += (wanted_mhz(d) - d->mhz) * share;
    d->free_at += slice;
    ns -= slice;
  }
}

/* ---- the cache: lines of 4 KiB, the least recently used goes first ---- */

static int *bucket_of(device *d, uint64_t at) {
  return &d->buckets[(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (uint64_t)(d->bucket_count - 1)];
}

static void unlink_line(device *d, int n) {
  line *const l = &d->lines[n];
  if (l->newer >= 0) d->lines[l->newer].older = l->older;
  else d->newest[l->persists] = l->older;
  if (l->older >= 0) d->lines[l->older].newer = l->newer;
  else d->oldest[l->persists] = l->newer;
}

static void push_newest(device *d, int n, int persists) {
  line *const l = &d->lines[n];
  l->persists = persists;
  l->newer = -1;
  l->older = d->newest[persists];
  if (l->older >= 0) d->lines[l->older].newer = n;
  else d->oldest[persists] = n;
  d->newest[persists] = n;
}

static int evict(device *d) {
  const int n = d->oldest[0] >= 0 ? d->oldest[0] : d->oldest[1];
  int *at = bucket_of(d, d->lines[n].at);
  while (*at != n) at = &d->lines[*at].next;
  *at = d->lines[n].next;
  unlink_line(d, n);
  d->persisting -= d->lines[n].persists ? LINE : 0;
  kernel.missed += d->lines[n].dirty;
  return n;
}

/* Touches some bytes of one line. */
static void touch_line(device *d, uint64_t at, unsigned bytes, int writes, int persists) {
  int *const bucket = bucket_of(d, at), n = *bucket;
  while (n >= 0 && d->lines[n].at != at) n = d->lines[n].next;
  if (n >= 0) {
    unlink_line(d, n);
    persists |= d->lines[n].persists;
    d->persisting -= d->lines[n].persists ? LINE : 0;
  } else {
    if (!writes) kernel.missed += bytes;
    n = d->used < d->line_count ? d->used++ : evict(d);
    d->lines[n] = (line){.at = at, .next = *bucket};
    *bucket = n;
  }
  d->persisting += persists ? LINE : 0;
  push_newest(d, n, persists);
  if (writes) d->lines[n].dirty = d->lines[n].dirty + bytes < LINE ? d->lines[n].dirty + bytes : LINE;
}

static void touch(const void *memory, size_t bytes, int writes, int persists) {
  device *const d = vgpu.now;
  uint64_t at = (uint64_t)(uintptr_t)memory;
  const uint64_t end = at + bytes;
  kernel.through += (double)bytes;
  kernel.described = 1;
  while (at < end) {
    const uint64_t line_at = at / LINE * LINE, line_end = line_at + LINE < end ? line_at + LINE : end;
    const int kept = persists || (line_at >= d->window_from && line_at < d->window_to && d->persisting < d->set_aside);
    touch_line(d, line_at, (unsigned)(line_end - at), writes, kept);
    at = line_end;
  }
}

void vgpu_read(const void *from, size_t bytes) { touch(from, bytes, 0, 0); }
void vgpu_write(const void *to, size_t bytes) { touch(to, bytes, 1, 0); }
void vgpu_persist(const void *from, size_t bytes) { touch(from, bytes, 0, 1); }
void vgpu_bypass(const void *to, size_t bytes) {
  (void)to;
  kernel.missed += (double)bytes;
  kernel.described = 1;
}

void vgpu_window(const void *from, size_t bytes) {
  vgpu_wait();
  vgpu.now->window_from = (uint64_t)(uintptr_t)from / LINE * LINE;
  vgpu.now->window_to = bytes ? (uint64_t)(uintptr_t)from + bytes : 0;
}

void vgpu_set_aside(size_t bytes) {
  vgpu_wait();
  vgpu.now->set_aside = bytes;
}

/* Lines that persisted become the oldest ordinary ones. */
void vgpu_forget_persisting(void) {
  device *const d = vgpu.now;
  int n;
  vgpu_wait();
  for (n = d->newest[1]; n >= 0; n = d->lines[n].older) d->lines[n].persists = 0;
  if (d->newest[1] < 0) return;
  d->lines[d->newest[1]].newer = d->oldest[0];
  if (d->oldest[0] >= 0) d->lines[d->oldest[0]].older = d->newest[1];
  else d->newest[0] = d->newest[1];
  d->oldest[0] = d->oldest[1];
  d->newest[1] = d->oldest[1] = -1;
  d->persisting = 0;
}

/* ---- what else a kernel costs and sees ---- */

void vgpu_ns(double ns) { kernel.ns += ns, kernel.described = 1; }
void vgpu_cycles(double cycles) { kernel.cycles += cycles, kernel.described = 1; }
void vgpu_crash(void) { vgpu.broken = VGPU_ILLEGAL_ADDRESS; }

int vgpu_wait_for_host(double cycles) {
  if (cycles > 0 && (vgpu.host_ns - kernel.start) * vgpu.now->mhz / 1e3 > cycles) return vgpu_cycles(cycles), 1;
  return kernel.waits = 1, 0;
}

int vgpu_waited(void) { return kernel.reads > 1; }
int vgpu_described(void) { return kernel.described; }

/* Reading a counter takes some cycles, and more of them the longer a kernel spins: 0.1 % of its time, so that a wait of
   a second costs the host only some thousand reads. */
static double spin(void) {
  kernel.reads++;
  kernel.spun += fmax(CYCLES_A_READ, kernel.spun / 1024);
  return kernel.spun;
}

void vgpu_thread(void) {
  kernel.spun_most = fmax(kernel.spun_most, kernel.spun);
  kernel.spun = 0;
}

long long vgpu_clock(void) { return (long long)(vgpu.now->cycles + spin()); }

unsigned long long vgpu_timer(void) {
  return (unsigned long long)((kernel.start + spin() * 1e3 / vgpu.now->mhz) / TIMER_NS) * TIMER_NS;
}

static void compute(double cycles, double activity) {
  while (cycles > 1e-6) {
    const double slice = fmin(cycles * 1e3 / vgpu.now->mhz, vgpu.card->follow_ms * 1e6 / 8);
    cycles -= vgpu.now->mhz * slice / 1e3;
    advance(slice, activity);
  }
}

/* Lets the time of the kernel pass: computing and memory overlap. */
static void spend(void) {
  device *const d = vgpu.now;
  const double memory_ns = fmax(kernel.missed, kernel.through / CACHE_SPEED) / d->gbps;
  const double until = kernel.start + fmax(memory_ns, fmax(kernel.ns, EMPTY_NS));
  vgpu_thread();
  compute(kernel.cycles, 1);
  compute(kernel.spun_most, 0.05);
  if (d->free_at < until) advance(until - d->free_at, 0.6);
  if (kernel.waits && d->free_at < vgpu.host_ns) advance(vgpu.host_ns - d->free_at, 0.01);
}

/* ---- the queue ---- */

static void run_oldest(void) {
  device *const d = vgpu.now;
  const op o = d->queue[d->first];
  const double start = fmax(d->free_at, o.at + LATENCY_NS);
  d->first = (d->first + 1) % QUEUE;
  d->queued--;
  if (start > d->free_at) advance(start - d->free_at, 0);
  if (o.event) *o.event = floor(d->free_at / vgpu.step_ns) * vgpu.step_ns;
  if (o.body && !vgpu.broken) {
    memset(&kernel, 0, sizeof kernel);
    kernel.start = d->free_at;
    vgpu_trace("kernel", o.name, 1);
    o.body(o.with);
    spend();
  }
  if (o.drop) o.drop(o.with);
}

/* Launches block while the queue is full. */
static void enqueue(op o) {
  device *const d = vgpu.now;
  if (vgpu.capturing) {
    if (vgpu.capturing->count < QUEUE) vgpu.capturing->ops[vgpu.capturing->count++] = o;
    return;
  }
  if (d->queued == QUEUE) {
    run_oldest();
    vgpu.host_ns = fmax(vgpu.host_ns, d->free_at);
  }
  o.at = vgpu.host_ns;
  d->queue[(d->first + d->queued++) % QUEUE] = o;
}

void vgpu_launch(const char *name, vgpu_body body, void *with, vgpu_body drop) {
  vgpu.host_ns += LAUNCH_NS - CALL_NS;
  enqueue((op){.name = name, .body = body, .with = with, .drop = drop});
}

void vgpu_record(double *event) { enqueue((op){.event = event}); }

int vgpu_wait(void) {
  vgpu.host_ns += WAIT_NS;
  while (vgpu.now->queued) run_oldest();
  vgpu.host_ns = fmax(vgpu.host_ns, vgpu.now->free_at);
  return vgpu.broken;
}

void vgpu_capture(void) { vgpu.capturing = calloc(1, sizeof(graph)); }

void *vgpu_capture_ends(void) {
  graph *const g = vgpu.capturing;
  vgpu.capturing = NULL;
  return g;
}

void vgpu_replay(const void *from) {
  const graph *const g = from;
  int i;
  vgpu.host_ns += LAUNCH_NS - CALL_NS;
  for (i = 0; i < g->count; i++) {
    op o = g->ops[i];
    o.drop = NULL;
    enqueue(o);
  }
}

void vgpu_drop_graph(void *from) {
  graph *const g = from;
  int i;
  vgpu_wait();
  for (i = 0; i < g->count; i++)
    if (g->ops[i].drop) g->ops[i].drop(g->ops[i].with);
  free(g);
}

/* ---- memory ---- */

void *vgpu_alloc(size_t bytes) {
  const size_t size = (bytes + LINE - 1) / LINE * LINE;
  char *at = NULL;
  if (!bytes || size < bytes || (double)(vgpu.now->allocated + size) > vgpu.now->memory_bytes) return NULL;
  if (vgpu.block_count == vgpu.block_room) {
    vgpu.block_room = vgpu.block_room ? 2 * vgpu.block_room : 64;
    vgpu.blocks = realloc(vgpu.blocks, (size_t)vgpu.block_room * sizeof *vgpu.blocks);
  }
  if (!vgpu.blocks || !(at = aligned_alloc(LINE, size))) return NULL;
  vgpu.blocks[vgpu.block_count].at = at;
  vgpu.blocks[vgpu.block_count++].bytes = bytes;
  vgpu.now->allocated += size;
  return at;
}

static int find_block(const void *memory) {
  int i;
  for (i = 0; i < vgpu.block_count; i++)
    if ((const char *)memory >= vgpu.blocks[i].at && (const char *)memory < vgpu.blocks[i].at + vgpu.blocks[i].bytes) return i;
  return -1;
}

int vgpu_free(void *memory) {
  int i;
  vgpu_wait();
  if (!memory) return 0;
  i = find_block(memory);
  if (i < 0 || vgpu.blocks[i].at != memory) return VGPU_INVALID;
  vgpu.now->allocated -= (vgpu.blocks[i].bytes + LINE - 1) / LINE * LINE;
  free(memory);
  vgpu.blocks[i] = vgpu.blocks[--vgpu.block_count];
  return 0;
}

void vgpu_free_all(void) {
  vgpu_wait();
  while (vgpu.block_count) free(vgpu.blocks[--vgpu.block_count].at);
  vgpu.now->allocated = 0;
}

size_t vgpu_rest(const void *memory) {
  const int i = find_block(memory);
  return i < 0 ? 0 : (size_t)(vgpu.blocks[i].at + vgpu.blocks[i].bytes - (const char *)memory);
}

void vgpu_copy(void *to, const void *from, size_t bytes) {
  const int in = vgpu_rest(to) > 0, out = vgpu_rest(from) > 0;
  vgpu_wait();
  vgpu_trace(!in ? "out" : out ? "within" : "in", "copy", (double)bytes);
  memset(&kernel, 0, sizeof kernel);
  if (out) vgpu_read(from, bytes);
  if (in) vgpu_write(to, bytes);
  memmove(to, from, bytes);
  vgpu.host_ns += COPY_NS + (in && out ? 0 : (double)bytes * vgpu.scale / LINK_GBPS);
}

/* ---- calls ---- */

void vgpu_trace(const char *what, const char *name, double count) {
  char text[160];
  if (vgpu.trace < 0) return;
  const int n = snprintf(text, sizeof text, "%s %s %.0f\n", what, name ? name : "-", count);
  if (write(vgpu.trace, text, (size_t)n) != n) vgpu.trace = -1;
}

int vgpu_call(const char *name) {
  int i;
  open_model();
  if (!vgpu.now) vgpu_use(0);
  vgpu.host_ns += CALL_NS;
  vgpu_trace("call", name, 1);
  for (i = 0; i < vgpu.fault_count; i++) {
    if (strcmp(vgpu.faults[i].name, "*") != 0 && strcmp(vgpu.faults[i].name, name) != 0) continue;
    const int seen = ++vgpu.faults[i].seen, at = vgpu.faults[i].at, code = vgpu.faults[i].code;
    if (at > 0 ? seen != at : seen < -at) continue;
    if (code < STALL) return code;
    vgpu.host_ns += code;
  }
  return vgpu.broken;
}

int vgpu_count(void) { return open_model(), vgpu.visible_count; }

int vgpu_about(int index, vgpu_facts *to) {
  memset(to, 0, sizeof *to);
  open_model();
  if (index < 0 || index >= vgpu.visible_count) return VGPU_INVALID;
  device *const d = &vgpu.all[vgpu.visible[index]];
  open_device(d, vgpu.visible[index]);
  snprintf(to->name, sizeof to->name, "Virtual %s %d%s", vgpu.card->name, d->number, vgpu.slice ? " MIG 1g" : "");
  to->uuid[15] = (unsigned char)d->number;
  to->units = (int)d->units;
  to->cache_bytes = (int)d->cache_bytes;
  to->persisting_bytes = (int)(d->cache_bytes * 0.75);
  to->shared_bytes = 101376;
  return 0;
}

int vgpu_use(int index) {
  open_model();
  if (index >= 0 && index < vgpu.visible_count) vgpu.now = &vgpu.all[vgpu.visible[index]];
  else if (!vgpu.now) vgpu.now = &vgpu.all[0]; /* none: calls still need a clock */
  open_device(vgpu.now, (int)(vgpu.now - vgpu.all));
  return index >= 0 && index < vgpu.visible_count ? 0 : VGPU_INVALID;
}

/* Every clock of the process but the time of day is the model's. */
int clock_gettime(clockid_t clock, struct timespec *t) {
  static int real = -1;
  if (real < 0) real = getenv("VGPU_CLOCK") != NULL;
  if (real || clock == CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, t);
  vgpu.host_ns += CLOCK_NS;
  t->tv_sec = (time_t)(vgpu.host_ns / 1e9);
  t->tv_nsec = (long)(vgpu.host_ns - (double)t->tv_sec * 1e9);
  return 0;
}
