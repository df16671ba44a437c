/* A CUDA device that is emulated on the host, for tests where there is no GPU. It checks logic, not speed.

   One worker thread is the device: it executes launches, copies and events of all streams in the order they were
   made, while the host goes on. The threads of a block are fibers that take turns at __syncthreads(), so kernels with
   shared memory and barriers compute what they compute on a GPU. There are no warps, no atomics, no dynamic shared
   memory. See README.md for how a .cu file is compiled against this. */
#ifndef PAWL_EMULATED_CUDA_RUNTIME_H
#define PAWL_EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static /* blocks run one after the other, so one copy is enough */
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

/* ---- the words of a kernel ------------------------------------------------------------------------------------- */

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

static dim3 threadIdx, blockIdx, blockDim, gridDim;

static inline unsigned long long emulated_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

/* EMULATED_ODD_UNIT makes the cycle counter of one unit run ten times as fast. */
enum { EMULATED_MHZ = 2000, EMULATED_UNITS = 4 };
static inline long long clock64() {
  const unsigned long long cycles = emulated_ns() * EMULATED_MHZ / 1000;
  return (long long)(blockIdx.x % EMULATED_UNITS == 3 && getenv("EMULATED_ODD_UNIT") ? 10 * cycles : cycles);
}
#define __expf expf
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }

/* What pawl.h writes as <<<>>> and as assembly. The global timer moves in steps of 1 us, as on many GPUs. */
#define PAWLI_LAUNCH(kernel, grid, block, stream) emulated_launch(kernel, grid, block, 0, stream)
#define PAWLI_REGISTER64(name, value) ((value) = emulated_ns() / 1000 * 1000)
#define PAWLI_REGISTER32(name, value) ((value) = blockIdx.x % EMULATED_UNITS)

/* ---- fibers: the threads of a block ---------------------------------------------------------------------------- */

struct emulated_fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  dim3 index;
  bool done;
};

static ucontext_t emulated_scheduler;
static emulated_fiber *emulated_current;
static std::function<void()> *emulated_body;
static std::vector<emulated_fiber> emulated_fibers;

static inline void __syncthreads() { swapcontext(&emulated_current->context, &emulated_scheduler); }

static void emulated_enter() {
  (*emulated_body)();
  emulated_current->done = true;
  __syncthreads(); /* never resumed */
}

static void emulated_run_block(std::function<void()> &body) {
  const size_t stack_bytes = 64 << 10, count = (size_t)blockDim.x * blockDim.y * blockDim.z;
  if (emulated_fibers.size() < count) emulated_fibers.resize(count);
  for (size_t i = 0; i < count; i++) {
    emulated_fiber &f = emulated_fibers[i];
    if (!f.stack) f.stack.reset(new char[stack_bytes]);
    f.index = dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y);
    f.done = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, emulated_enter, 0);
  }
  emulated_body = &body;
  for (size_t alive = count; alive;) { /* each turn is from one barrier to the next */
    alive = 0;
    for (size_t i = 0; i < count; i++) {
      emulated_current = &emulated_fibers[i];
      if (emulated_current->done) continue;
      threadIdx = emulated_current->index;
      swapcontext(&emulated_scheduler, &emulated_current->context);
      alive += !emulated_current->done;
    }
  }
}

/* ---- the device: one worker, one queue ------------------------------------------------------------------------- */

struct emulated_device {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool busy = false;

  void enqueue(std::function<void()> work) {
    std::unique_lock<std::mutex> lock(mutex);
    queue.push_back(std::move(work));
    changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return queue.empty() && !busy; });
  }
  void work() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [this] { return !queue.empty(); });
      std::function<void()> next = std::move(queue.front());
      queue.pop_front();
      busy = true;
      lock.unlock();
      next();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

static emulated_device &emulated() {
  static emulated_device *const device = [] {
    emulated_device *d = new emulated_device; /* never freed: the worker outlives main */
    std::thread([d] { d->work(); }).detach();
    return d;
  }();
  return *device;
}

/* ---- the runtime ----------------------------------------------------------------------------------------------- */

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaHostAllocMapped = 2 };

typedef struct emulated_stream *cudaStream_t;
struct emulated_event {
  unsigned long long ns;
};
typedef emulated_event *cudaEvent_t;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  int multiProcessorCount, l2CacheSize;
};

static cudaError_t emulated_error = cudaSuccess;
static int emulated_index;

static cudaError_t emulated_result(cudaError_t e) {
  if (e != cudaSuccess) emulated_error = e;
  return e;
}
static const char *cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
  }
  return "unknown";
}
static const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "out of memory" : e == cudaErrorNoDevice ? "no device" : "emulated error";
}
static inline cudaError_t cudaGetLastError() {
  const cudaError_t e = emulated_error;
  emulated_error = cudaSuccess;
  return e;
}

/* Two devices, which differ in the last byte of their uuid; CUDA_VISIBLE_DEVICES=GPU-... shows one of them. */
static cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int index) {
  memset(p, 0, sizeof *p);
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  const int shift = visible && strncmp(visible, "GPU-", 4) == 0 && visible[strlen(visible) - 1] == '1';
  if (index < 0 || index + shift > 1) return emulated_result(cudaErrorInvalidValue);
  snprintf(p->name, sizeof p->name, "emulated GPU %d", index + shift);
  p->uuid.bytes[15] = (char)(index + shift);
  p->multiProcessorCount = EMULATED_UNITS;
  p->l2CacheSize = 64 << 10;
  return cudaSuccess;
}
static cudaError_t cudaGetDeviceCount(int *count) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  *count = !visible ? 2 : *visible ? 1 : 0;
  return *count ? cudaSuccess : emulated_result(cudaErrorNoDevice);
}
static inline cudaError_t cudaSetDevice(int index) { return emulated_index = index, cudaSuccess; }
static inline cudaError_t cudaGetDevice(int *index) { return *index = emulated_index, cudaSuccess; }
static inline cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 12040, cudaSuccess; }

static cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = bytes < ((size_t)1 << 32) ? malloc(bytes) : nullptr; /* 4 GiB */
  return emulated_result(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}
template <class T>
static cudaError_t cudaMalloc(T **memory, size_t bytes) {
  return cudaMalloc((void **)memory, bytes);
}
static inline cudaError_t cudaDeviceSynchronize() { return emulated().wait(), cudaSuccess; }
static inline cudaError_t cudaFree(void *memory) { return cudaDeviceSynchronize(), free(memory), cudaSuccess; }
static inline cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
  return (*memory = malloc(bytes)) ? cudaSuccess : emulated_result(cudaErrorMemoryAllocation);
}
static inline cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
  return *device = host, cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  cudaDeviceSynchronize();
  memcpy(to, from, bytes);
  return cudaSuccess;
}

/* As from pageable memory: the host may go on when the copy has been made. */
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { return *stream = nullptr, cudaSuccess; }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaEventCreate(cudaEvent_t *event) { return *event = new emulated_event(), cudaSuccess; }
/* EMULATED_EVENT_STEP is the step of event times in nanoseconds. */
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  const char *const text = getenv("EMULATED_EVENT_STEP");
  const unsigned long long step = text ? strtoull(text, nullptr, 10) : 1;
  emulated().enqueue([event, step] { event->ns = emulated_ns() / step * step; });
  return cudaSuccess;
}
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop) {
  return *ms = (float)(stop->ns - start->ns) * 1e-6f, cudaSuccess;
}

/* What a profiler would see: EMULATED_PROFILE names a file that gets the number of launches of every profiled range. */
static int emulated_launches, emulated_profiled_from;
extern "C" inline cudaError_t cudaProfilerStart(void) { return emulated_profiled_from = emulated_launches, cudaSuccess; }
extern "C" inline cudaError_t cudaProfilerStop(void) {
  const char *path = getenv("EMULATED_PROFILE");
  FILE *file = path ? fopen(path, "a") : nullptr;
  if (file) {
    fprintf(file, "%d\n", emulated_launches - emulated_profiled_from);
    fclose(file);
  }
  return cudaSuccess;
}

template <class... P>
struct emulated_kernel {
  void (*kernel)(P...);
  dim3 grid, block;

  void operator()(P... arguments) const {
    if (block.x * block.y * block.z > 1024 || !grid.x || !block.x) {
      emulated_result(cudaErrorInvalidConfiguration);
      return;
    }
    emulated_launches++;
    emulated().enqueue([*this, values = std::tuple<P...>(arguments...)] {
      std::function<void()> body = [&] { std::apply(kernel, values); };
      gridDim = grid;
      blockDim = block;
      for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
          for (unsigned x = 0; x < grid.x; x++) {
            blockIdx = dim3(x, y, z);
            emulated_run_block(body);
          }
    });
  }
};

/* kernel<<<grid, block, shared, stream>>> */
template <class... P>
emulated_kernel<P...> emulated_launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t = 0, cudaStream_t = nullptr) {
  return emulated_kernel<P...>{kernel, grid, block};
}

#endif
