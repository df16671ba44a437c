/* A model of a GPU, for tests where there is none. docs/explanation/virtual-gpu.md says what is modelled and what is not.

   Time is virtual, on the host and on the device: clock_gettime is the model's, so no result depends on the speed of the
   machine. A kernel is a function of the host. It runs when the host waits for the device, its results are real, and it
   describes what it would cost a GPU. driver.c and cuda_runtime.h are thin APIs in front of this.

   Environment:
     VGPU_CARD     L4 (default), A100, H100, B200, MI300X, laptop
     VGPU_DEVICES  how many there are (1); CUDA_VISIBLE_DEVICES chooses by index, UUID or MIG-...
     VGPU_SCALE    one byte of the model stands for so many of the card (16)
     VGPU_MHZ      locks the clock
     VGPU_CLOCK    if set, the clocks of the host are real, for programs that are timed from outside
     VGPU_STEP     step of event times in nanoseconds, instead of the card's
     VGPU_SEED     of the temperature at the start and of a laptop's clocks
     VGPU_FAULT    name:n=code,...: call n of that function fails; * is any function, -n is call n and all later ones, and
                   a code of a million or more is a stall of the host for so many nanoseconds
     VGPU_TRACE    a file that gets a line for every call, kernel and copy
     VGPU_STATE    a file in which processes share clocks, heat, energy and time, as they share a card
     VGPU_NAME     what the driver calls the card
     VGPU_MIG      if set, NVML reports a slice
     VGPU_QUEUE    launches that fit the queue (1024)
     VGPU_TIMER    step of %globaltimer in nanoseconds (1024)
     VGPU_BREAK    assumptions of pawl that do not hold, for the checks of pawl doctor --gpu: units, occupancy, jitter, events,
                   hold, bandwidth, cache, persist, modes, gaps, fast, clock, lock, slowdown, processes, crash, drift, switch */
#ifndef PAWL_VIRTUAL_GPU_H
#define PAWL_VIRTUAL_GPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for kernels: what a kernel costs ---- */

void vgpu_ns(double ns);                            /* time that no clock changes */
void vgpu_cycles(double cycles);                    /* time that the clock changes */
void vgpu_activity(double share);                   /* of the units that switch while it computes (1): what it draws */
void vgpu_read(const void *from, size_t bytes);
void vgpu_write(const void *to, size_t bytes);
void vgpu_bypass(const void *to, size_t bytes);     /* writes around the cache: streaming stores */
void vgpu_persist(const void *from, size_t bytes);  /* reads lines that are to stay in the cache: evict_last */
int vgpu_wait_for_host(double cycles);              /* until the host waits for the device; returns 1 after so many (0: any) */
void vgpu_crash(void);                              /* an illegal address */
long long vgpu_clock(void);                         /* clock64() */
unsigned long long vgpu_timer(void);                /* %globaltimer */

/* A tensor map as driver.c makes it. The innermost dimension is the first, and strides are in bytes. How a tile is swizzled
   is up to the kernel: nothing is copied here. */
typedef struct vgpu_tensor_map {
  void *at;
  uint64_t sizes[5], strides[5];
  uint16_t box[5];
  uint8_t rank, type, swizzle;
} vgpu_tensor_map;

/* ---- for the APIs ---- */

enum { VGPU_NO_MEMORY = 2, VGPU_NO_DEVICE = 100, VGPU_INVALID = 1, VGPU_ILLEGAL_ADDRESS = 700 };

typedef struct vgpu_facts {
  char name[64];
  unsigned char uuid[16];
  int units, cache_bytes, persisting_bytes, shared_bytes, major, minor;
  double memory_bytes;
} vgpu_facts;

/* What a card is at the moment, for NVML; sizes and rates are the card's, not the model's. */
typedef struct vgpu_reading {
  const char *card;
  int units, major, minor, persistence, idle, hot, capped, users, pids[8];
  double memory_bytes, gbps, boost_mhz, sustained_mhz, cap_w, mhz, watts, celsius, joules, locked_mhz, bytes[8];
} vgpu_reading;

typedef void (*vgpu_body)(void *with);
typedef void (*vgpu_watcher)(const char *kernel, double start, double end);

int vgpu_call(const char *name); /* what a call must return instead of doing its work, or 0 */
void vgpu_trace(const char *what, const char *name, double count);
int vgpu_count(void);                       /* of the devices that this process sees */
int vgpu_about(int index, vgpu_facts *to);
int vgpu_use(int index);
void *vgpu_alloc(size_t bytes);             /* NULL when the device is full */
int vgpu_free(void *memory);
void vgpu_free_all(void);
size_t vgpu_rest(const void *memory);       /* bytes to the end of its allocation; 0 for memory of the host */
void vgpu_copy(void *to, const void *from, size_t bytes); /* now, as from pageable memory */
void vgpu_launch(const char *name, vgpu_body body, void *with, vgpu_body drop); /* drop frees with */
void vgpu_record(double *event);            /* gets the time, in steps */
void vgpu_watch(vgpu_watcher to);           /* is told of every kernel that has run; NULL for none */
int vgpu_wait(void);
int vgpu_waited(void);                      /* whether the running kernel has read the cycle counter more than once */
int vgpu_described(void);                   /* whether the running kernel has described its cost */
void vgpu_thread(void);                     /* another thread of the running kernel starts */
void vgpu_window(const void *from, size_t bytes); /* what kernels touch there persists; 0 bytes for nothing */
void vgpu_set_aside(size_t bytes);          /* how much may persist through a window */
void vgpu_forget_persisting(void);
void vgpu_capture(void);                    /* launches from here on go into a graph ... */
void *vgpu_capture_ends(void);
void vgpu_replay(const void *graph);        /* ... and are launched together */
void vgpu_drop_graph(void *graph);
int vgpu_breaks(const char *name);          /* whether VGPU_BREAK has it */
void vgpu_enter(void);                      /* this process uses the device */
void vgpu_switch(void);                     /* another context takes its turn */
double vgpu_mhz(void);                      /* of the device in use */
double vgpu_units(void);
int vgpu_cards(void);                       /* of the machine, whatever this process may see */
int vgpu_state(int number, vgpu_reading *to);
void vgpu_lock(int number, double mhz);     /* 0 is free */
void vgpu_persist_driver(int number, int on);

#ifdef __cplusplus
}
#endif
#endif
