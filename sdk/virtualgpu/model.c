#define _GNU_SOURCE
#include "model.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 4096, QUEUE = 1024, MOST_DEVICES = 8, MOST_FAULTS = 8, MOST_USERS = 8, STALL = 1000000 };

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
#define GAP_NS 10000  /* "gaps" */
#define MODE_NS 5e5   /* "modes": how long one lasts */
#define SLOW_AFTER_SWITCH 5 /* "switch": kernels */

typedef struct card {
  const char *name;
  int units;
  double cache_mb, memory_gb, gbps, boost_mhz; /* as in gpu/cards.txt; a test compares them */
  double idle_w, cap_w, full_w;                /* full_w: what it would draw at boost */
  double follow_ms;                            /* how fast clocks follow the draw */
  double degrees_per_w, heat_s, hot_c;
  double wander; /* of the clock, as a share */
  double step_ns;
  int major, minor; /* compute capability; 0 on cards that are not NVIDIA's */
} card;

static const card cards[] = {
    {"L4", 58, 48, 24, 300, 2040, 16, 72, 157, 300, 0.6, 40, 85, 0, 1024, 8, 9},
    {"A100", 108, 40, 80, 2039, 1410, 50, 400, 550, 50, 0.1, 30, 85, 0, 500, 8, 0},
    {"H100", 132, 50, 80, 3350, 1980, 70, 700, 1264, 30, 0.06, 30, 87, 0, 500, 9, 0},
    {"B200", 148, 126.5, 180, 7672, 1965, 140, 1000, 1790, 5, 0.045, 30, 90, 0, 500, 10, 0},
    {"MI300X", 304, 256, 192, 5325, 2100, 140, 750, 1520, 20, 0.06, 30, 95, 0, 10, 0, 0},
    {"laptop", 58, 48, 12, 432, 2280, 10, 90, 190, 100, 0.6, 20, 80, 0.06, 1024, 8, 9},
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

/* What a card is at the moment. With VGPU_STATE all processes share it, as they share a card. */
typedef struct live {
  double free_at; /* when the device has done what ran so far */
  double host_ns; /* the latest time that a process has seen */
  double mhz, activity, celsius, cycles, watts, joules;
  double locked_mhz; /* by NVML; 0 if free */
  int persistence, starts; /* starts: processes that have used it */
  struct {
    int pid;
    double bytes;
  } users[MOST_USERS];
} live;

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
  live *live;
  int after_switch; /* kernels since another context took its turn */
  int after_kernel; /* the last that ran was a kernel */
} device;

static struct {
  int opened, entered, trace, count, visible[MOST_DEVICES], visible_count, slice;
  const card *card;
  double scale, lock_mhz, step_ns, timer_ns, host_ns;
  int queue, jitter, modes, gaps, slow_switch, no_cache, keeps_lines; /* VGPU_QUEUE and VGPU_BREAK */
  double event_rate, drift;
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

static live private_live[MOST_DEVICES], *lives = private_live;

static struct { /* the kernel that runs */
  double start, ns, cycles, missed, through, spun, spun_most, idle_share;
  int described, reads, waits;
} kernel;

static double number(const char *name, double otherwise) {
  const char *text = getenv(name);
  return text && *text ? atof(text) : otherwise;
}

int vgpu_breaks(const char *name) {
  const char *at = getenv("VGPU_BREAK");
  const size_t n = strlen(name);
  while (at && *at) {
    if (strncmp(at, name, n) == 0 && (at[n] == 0 || at[n] == ',')) return 1;
    at = strchr(at, ',');
    at = at ? at + 1 : NULL;
  }
  return 0;
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

static void share_lives(void) {
  const char *const path = getenv("VGPU_STATE");
  const int file = path && *path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  void *at = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof private_live) == 0)
    at = mmap(NULL, sizeof private_live, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (at != MAP_FAILED) lives = at;
}

static void read_breaks(void) {
  vgpu.queue = (int)fmin(fmax(number("VGPU_QUEUE", QUEUE), 1), QUEUE);
  vgpu.timer_ns = fmax(number("VGPU_TIMER", TIMER_NS), 1);
  vgpu.jitter = vgpu_breaks("jitter");
  vgpu.modes = vgpu_breaks("modes");
  vgpu.gaps = vgpu_breaks("gaps");
  vgpu.slow_switch = vgpu_breaks("switch");
  vgpu.no_cache = vgpu_breaks("cache");
  vgpu.keeps_lines = vgpu_breaks("persist");
  vgpu.event_rate = vgpu_breaks("events") ? 1.03 : 1;
  vgpu.drift = 1;
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
  read_breaks();
  share_lives();
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
  d->gbps = vgpu.card->gbps / vgpu.scale / slice / (vgpu_breaks("bandwidth") ? 2 : 1);
  d->line_count = (int)(d->cache_bytes / LINE);
  for (d->bucket_count = 1; d->bucket_count < d->line_count;) d->bucket_count *= 2;
  d->lines = calloc((size_t)d->line_count, sizeof *d->lines);
  d->buckets = malloc((size_t)d->bucket_count * sizeof *d->buckets);
  for (i = 0; i < d->bucket_count; i++) d->buckets[i] = -1;
  for (i = 0; i < 2; i++) d->newest[i] = d->oldest[i] = -1;
  d->live = &lives[number];
  d->after_switch = SLOW_AFTER_SWITCH;
  if (d->live->free_at > 0) return; /* another process has used it */
  d->live->mhz = vgpu.lock_mhz > 0 ? vgpu.lock_mhz : vgpu.card->boost_mhz;
  d->live->celsius = AMBIENT_C + (double)(vgpu.seed * 2654435761u >> 8 & 15); /* what ran before differs */
  d->live->watts = vgpu.card->idle_w;
  d->live->free_at = vgpu.host_ns;
}

/* The process shows up on the card from its first context on. */
static void enter(device *d, double bytes) {
  vgpu.entered = 1;
  const int pid = (int)getpid();
  int i, free = -1;
  for (i = 0; i < MOST_USERS; i++) {
    if (d->live->users[i].pid == pid) break;
    if (free < 0 && (!d->live->users[i].pid || kill(d->live->users[i].pid, 0) != 0)) free = i;
  }
  if (i == MOST_USERS) {
    if ((i = free) < 0) return;
    d->live->users[i].pid = pid;
    d->live->users[i].bytes = 0;
    d->live->starts++;
    if (vgpu_breaks("drift")) vgpu.drift = 1 + 0.3 * (double)((unsigned)d->live->starts * 2654435761u >> 16 & 255) / 255;
  }
  d->live->users[i].bytes += bytes;
}

/* ---- clocks and power ---- */

/* A number in [-1, 1) that is fixed for every 50 ms of a seed. */
static double wander(void) {
  uint64_t z = vgpu.seed + (uint64_t)(vgpu.now->live->free_at / 50e6) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)(int64_t)(z ^ (z >> 31)) / 9223372036854775808.0;
}

/* The clock that the device would settle at: the lock or boost, as far as power and temperature allow. */
static double wanted_mhz(const device *d) {
  const card *const c = vgpu.card;
  const double lock = vgpu.lock_mhz > 0 ? vgpu.lock_mhz : d->live->locked_mhz;
  double most = lock > 0 ? lock : c->boost_mhz * (1 + c->wander * wander());
  const double room = (c->cap_w - c->idle_w) / ((c->full_w - c->idle_w) * fmax(d->live->activity, 1e-3));
  if (room < 1) most = fmin(most, c->boost_mhz * cbrt(room));
  if (d->live->celsius > c->hot_c) most *= fmax(0.5, 1 - 0.05 * (d->live->celsius - c->hot_c));
  return most;
}

/* Lets time pass on the device. activity is the share of its units that switch. */
static void advance(double ns, double activity) {
  const card *const c = vgpu.card;
  device *const d = vgpu.now;
  const double follow_ns = c->follow_ms * 1e6;
  while (ns > 0) {
    const double slice = fmin(ns, follow_ns / 8), share = 1 - exp(-slice / follow_ns);
    d->live->activity += (activity - d->live->activity) * share;
    d->live->watts = c->idle_w + (c->full_w - c->idle_w) * d->live->activity * pow(d->live->mhz / c->boost_mhz, 3);
    d->live->joules += d->live->watts * slice / 1e9;
    d->live->celsius += (AMBIENT_C + c->degrees_per_w * d->live->watts - d->live->celsius) * (1 - exp(-slice / (c->heat_s * 1e9)));
    d->live->cycles += d->live->mhz * slice / 1e3;
    d->live->mhz += (wanted_mhz(d) - d->live->mhz) * share;
    d->live->free_at += slice;
    ns -= slice;
  }
}

#include "cache.h"

/* ---- what else a kernel costs and sees ---- */

void vgpu_ns(double ns) { kernel.ns += ns, kernel.described = 1; }
void vgpu_activity(double share) { kernel.idle_share = 1 - share; }
void vgpu_cycles(double cycles) { kernel.cycles += cycles, kernel.described = 1; }
void vgpu_crash(void) { vgpu.broken = VGPU_ILLEGAL_ADDRESS; }

int vgpu_wait_for_host(double cycles) {
  if (cycles > 0 && (vgpu.host_ns - kernel.start) * vgpu.now->live->mhz / 1e3 > cycles) return vgpu_cycles(cycles), 1;
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

long long vgpu_clock(void) { return (long long)(vgpu.now->live->cycles + spin()); }

unsigned long long vgpu_timer(void) {
  return (unsigned long long)((kernel.start + spin() * 1e3 / vgpu.now->live->mhz) / vgpu.timer_ns) * (unsigned long long)vgpu.timer_ns;
}

static void compute(double cycles, double activity) {
  while (cycles > 1e-6) {
    const double slice = fmin(cycles * 1e3 / vgpu.now->live->mhz, vgpu.card->follow_ms * 1e6 / 8);
    cycles -= vgpu.now->live->mhz * slice / 1e3;
    advance(slice, activity);
  }
}

/* What VGPU_BREAK does to the time of a kernel. */
static void disturb(void) {
  const double start = kernel.start + (vgpu.jitter ? 5e3 * (double)((uint64_t)kernel.start * 2654435761u >> 16 & 1) : 0);
  const int slow = vgpu.slow_switch && vgpu.now->after_switch < SLOW_AFTER_SWITCH;
  const double factor = vgpu.drift * (slow ? 2 : 1) * (vgpu.modes && (uint64_t)(kernel.start / MODE_NS) * 2654435761u >> 16 & 1 ? 1.3 : 1);
  vgpu.now->after_switch++;
  kernel.cycles *= factor;
  kernel.ns *= factor;
  kernel.missed *= factor;
  kernel.through *= factor;
  kernel.start = start;
}

/* Lets the time of the kernel pass: computing and memory overlap. */
static void spend(void) {
  device *const d = vgpu.now;
  disturb();
  const double memory_ns = fmax(kernel.missed, kernel.through / (vgpu.no_cache ? 1 : CACHE_SPEED)) / d->gbps;
  const double until = kernel.start + fmax(memory_ns, fmax(kernel.ns, EMPTY_NS));
  vgpu_thread();
  compute(kernel.cycles, 1 - kernel.idle_share);
  compute(kernel.spun_most, 0.05);
  if (d->live->free_at < until) advance(until - d->live->free_at, 0.6);
  if (kernel.waits && d->live->free_at < vgpu.host_ns) advance(vgpu.host_ns - d->live->free_at, 0.01);
}

/* ---- the queue ---- */

static vgpu_watcher watcher;
void vgpu_watch(vgpu_watcher to) { watcher = to; }

static void run_oldest(void) {
  device *const d = vgpu.now;
  const op o = d->queue[d->first];
  const double start = fmax(d->live->free_at, o.at + LATENCY_NS);
  d->first = (d->first + 1) % QUEUE;
  d->queued--;
  if (start > d->live->free_at) advance(start - d->live->free_at, 0);
  if (o.body && vgpu.gaps && d->after_kernel) advance(GAP_NS, 0);
  d->after_kernel = o.body != NULL;
  if (o.event) *o.event = floor(d->live->free_at * vgpu.event_rate / vgpu.step_ns) * vgpu.step_ns;
  if (o.body && !vgpu.broken) {
    memset(&kernel, 0, sizeof kernel);
    kernel.start = d->live->free_at;
    vgpu_trace("kernel", o.name, 1);
    o.body(o.with);
    spend();
    if (watcher) watcher(o.name, kernel.start, d->live->free_at);
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
  if (d->queued >= vgpu.queue) {
    run_oldest();
    vgpu.host_ns = fmax(vgpu.host_ns, d->live->free_at);
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
  vgpu.host_ns = fmax(vgpu.host_ns, vgpu.now->live->free_at);
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

#include "blocks.h"

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
  vgpu.host_ns = fmax(vgpu.host_ns, vgpu.now->live->host_ns) + CALL_NS; /* the time of other processes passes here too */
  if (vgpu.entered) vgpu.now->live->host_ns = vgpu.host_ns;
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
  if (getenv("VGPU_NAME")) snprintf(to->name, sizeof to->name, "%s", getenv("VGPU_NAME"));
  else snprintf(to->name, sizeof to->name, "Virtual %s %d%s", vgpu.card->name, d->number, vgpu.slice ? " MIG 1g" : "");
  to->uuid[15] = (unsigned char)d->number;
  to->units = (int)d->units;
  to->cache_bytes = (int)d->cache_bytes;
  to->persisting_bytes = (int)(d->cache_bytes * 0.75);
  to->shared_bytes = 101376;
  to->memory_bytes = d->memory_bytes;
  to->major = vgpu.card->major;
  to->minor = vgpu.card->minor;
  return 0;
}

void vgpu_enter(void) { enter(vgpu.now, 0); }
void vgpu_switch(void) { vgpu.now->after_switch = 0; }
double vgpu_mhz(void) { return vgpu.now->live->mhz; }
double vgpu_units(void) { return vgpu.now->units; }

/* ---- for NVML: all cards of the machine ---- */

int vgpu_cards(void) { return open_model(), vgpu.count; }

int vgpu_state(int number, vgpu_reading *to) {
  const card *const c = (open_model(), vgpu.card);
  device *const before = vgpu.now, *const d = &vgpu.all[number < 0 || number >= vgpu.count ? 0 : number];
  int i;
  memset(to, 0, sizeof *to);
  if (number < 0 || number >= vgpu.count) return VGPU_INVALID;
  open_device(d, number);
  vgpu.now = d;
  /* Time passes on a card as long as processes with a context say so; one that only looks changes nothing. */
  while (d->queued && fmax(d->live->free_at, d->queue[d->first].at + LATENCY_NS) <= vgpu.host_ns) run_oldest();
  if (vgpu.entered && !d->queued && d->live->free_at < vgpu.host_ns) advance(vgpu.host_ns - d->live->free_at, 0);
  *to = (vgpu_reading){
      .card = c->name, .units = c->units, .major = c->major, .minor = c->minor, .memory_bytes = c->memory_gb * 1e9, .gbps = c->gbps,
      .boost_mhz = c->boost_mhz, .sustained_mhz = c->boost_mhz * cbrt(fmin(1, (c->cap_w - c->idle_w) / (c->full_w - c->idle_w))),
      .cap_w = c->cap_w, .mhz = d->live->mhz, .watts = d->live->watts, .celsius = d->live->celsius, .joules = d->live->joules,
      .locked_mhz = d->live->locked_mhz, .persistence = d->live->persistence,
      .idle = d->live->activity < 0.001, .hot = d->live->celsius > c->hot_c,
      .capped = (c->full_w - c->idle_w) * d->live->activity > c->cap_w - c->idle_w,
  };
  for (i = 0; i < MOST_USERS; i++) {
    if (!d->live->users[i].pid || kill(d->live->users[i].pid, 0) != 0) continue;
    to->pids[to->users] = d->live->users[i].pid;
    to->bytes[to->users++] = d->live->users[i].bytes * vgpu.scale;
  }
  vgpu.now = before ? before : d;
  return 0;
}

void vgpu_lock(int number, double mhz) { open_device(&vgpu.all[number], number), lives[number].locked_mhz = mhz; }
void vgpu_persist_driver(int number, int on) { open_device(&vgpu.all[number], number), lives[number].persistence = on; }

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
