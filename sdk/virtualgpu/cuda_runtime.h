/* The CUDA runtime API in front of the model (model.h), for .cu files that the nvcc of this folder compiles: as much of it
   as pawl.h and our kernels call.

   The threads of a block are fibers that take turns at __syncthreads(), so kernels with shared memory and barriers
   compute what they compute on a GPU. There are no warps, no atomics, no dynamic shared memory. A kernel that does not
   describe its cost reads what its pointers to const point to, and writes what its other pointers point to, each to the
   end of its allocation. */
#ifndef PAWL_VIRTUAL_CUDA_RUNTIME_H
#define PAWL_VIRTUAL_CUDA_RUNTIME_H

#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <memory>
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
static unsigned cuda_units = 1;

/* VGPU_ODD_UNIT makes the cycle counter of one unit run ten times as fast. */
static inline long long clock64() {
  static const bool odd = getenv("VGPU_ODD_UNIT") != nullptr;
  const long long cycles = vgpu_clock();
  return odd && blockIdx.x % cuda_units == 3 ? 10 * cycles : cycles;
}
#define __expf expf
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }

/* What pawl.h writes as <<<>>> and as assembly. */
#define PAWLI_LAUNCH(kernel, grid, block, stream) vgpu_prepare(#kernel, kernel, grid, block, 0, stream)
#define PAWLI_REGISTER64(name, value) ((value) = vgpu_timer())
#define PAWLI_REGISTER32(name, value) ((value) = blockIdx.x % cuda_units)

/* ---- fibers: the threads of a block ---------------------------------------------------------------------------- */

struct vgpu_fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  dim3 index;
  bool done;
};

static ucontext_t vgpu_scheduler;
static vgpu_fiber *vgpu_current;
static std::function<void()> *vgpu_thread_body;
static std::vector<std::unique_ptr<vgpu_fiber>> vgpu_fibers;
static size_t vgpu_next_thread, vgpu_threads;

static inline void __syncthreads() { swapcontext(&vgpu_current->context, &vgpu_scheduler); }

/* Runs one thread after the other, until one waits at a barrier; another fiber then goes on with the next. */
static void cuda_enter() {
  while (vgpu_next_thread < vgpu_threads) {
    const size_t i = vgpu_next_thread++;
    threadIdx = vgpu_current->index = dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y);
    vgpu_thread();
    vgpu_fiber *const self = vgpu_current;
    (*vgpu_thread_body)();
    vgpu_current = self;
  }
  vgpu_current->done = true;
  __syncthreads(); /* never resumed */
}

static void vgpu_start_fiber(size_t n) {
  const size_t stack_bytes = 64 << 10;
  if (vgpu_fibers.size() <= n) vgpu_fibers.emplace_back(new vgpu_fiber());
  vgpu_fiber &f = *vgpu_fibers[n];
  if (!f.stack) f.stack.reset(new char[stack_bytes]);
  f.done = false;
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = f.stack.get();
  f.context.uc_stack.ss_size = stack_bytes;
  f.context.uc_link = nullptr;
  makecontext(&f.context, cuda_enter, 0);
}

static void vgpu_resume(size_t n) {
  vgpu_current = vgpu_fibers[n].get();
  threadIdx = vgpu_current->index;
  swapcontext(&vgpu_scheduler, &vgpu_current->context);
}

static void vgpu_run_block(std::function<void()> &body) {
  size_t count = 0;
  vgpu_thread_body = &body;
  vgpu_next_thread = 0;
  vgpu_threads = (size_t)blockDim.x * blockDim.y * blockDim.z;
  while (vgpu_next_thread < vgpu_threads) { /* to the first barrier, or to the end */
    vgpu_start_fiber(count);
    vgpu_resume(count++);
  }
  for (size_t alive = count; alive;) { /* each turn is from one barrier to the next */
    alive = 0;
    for (size_t i = 0; i < count; i++) {
      if (vgpu_fibers[i]->done) continue;
      vgpu_resume(i);
      alive += !vgpu_fibers[i]->done;
    }
  }
}

/* ---- the runtime ----------------------------------------------------------------------------------------------- */

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorIllegalAddress = 700,
  cudaErrorUnknown = 999
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaHostAllocMapped = 2 };
enum cudaLimit { cudaLimitPersistingL2CacheSize = 6 };
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1 };
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal };

typedef struct vgpu_stream *cudaStream_t;
typedef double *cudaEvent_t;
typedef void *cudaGraph_t;
typedef void *cudaGraphExec_t;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  int multiProcessorCount, l2CacheSize, persistingL2CacheMaxSize;
};
struct cudaAccessPolicyWindow {
  void *base_ptr;
  size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
};

static cudaError_t vgpu_last_error = cudaSuccess;
static int vgpu_index;

static cudaError_t vgpu_result(int code) {
  const cudaError_t e = (cudaError_t)code;
  if (e != cudaSuccess) vgpu_last_error = e;
  return e;
}
#define VGPU_CALL(name)                              \
  do {                                               \
    const int error_ = vgpu_call(#name);             \
    if (error_) return vgpu_result(error_);          \
  } while (0)

static inline const char *cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorUnknown: return "cudaErrorUnknown";
  }
  return "cudaErrorOther";
}
static inline const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "out of memory" : e == cudaErrorNoDevice ? "no device"
         : e == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "virtual error";
}
static inline cudaError_t cudaGetLastError() {
  const cudaError_t e = vgpu_last_error;
  const int code = vgpu_call("cudaGetLastError");
  vgpu_last_error = cudaSuccess;
  return code ? (cudaError_t)code : e;
}

static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int index) {
  vgpu_facts f;
  memset(p, 0, sizeof *p);
  VGPU_CALL(cudaGetDeviceProperties);
  if (vgpu_about(index, &f)) return vgpu_result(cudaErrorInvalidValue);
  snprintf(p->name, sizeof p->name, "%s", f.name);
  memcpy(p->uuid.bytes, f.uuid, sizeof p->uuid.bytes);
  p->multiProcessorCount = f.units;
  p->l2CacheSize = f.cache_bytes;
  p->persistingL2CacheMaxSize = f.persisting_bytes;
  cuda_units = (unsigned)f.units;
  return cudaSuccess;
}
static inline cudaError_t cudaGetDeviceCount(int *count) {
  VGPU_CALL(cudaGetDeviceCount);
  *count = vgpu_count();
  return *count ? cudaSuccess : vgpu_result(cudaErrorNoDevice);
}
static inline cudaError_t cudaSetDevice(int index) {
  VGPU_CALL(cudaSetDevice);
  vgpu_index = index;
  return vgpu_result(vgpu_use(index));
}
static inline cudaError_t cudaGetDevice(int *index) {
  VGPU_CALL(cudaGetDevice);
  return *index = vgpu_index, vgpu_count() ? cudaSuccess : vgpu_result(cudaErrorNoDevice);
}
static inline cudaError_t cudaRuntimeGetVersion(int *version) {
  VGPU_CALL(cudaRuntimeGetVersion);
  return *version = 12040, cudaSuccess;
}

static inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
  VGPU_CALL(cudaMalloc);
  *memory = vgpu_alloc(bytes);
  return *memory ? cudaSuccess : vgpu_result(cudaErrorMemoryAllocation);
}
template <class T>
static cudaError_t cudaMalloc(T **memory, size_t bytes) {
  return cudaMalloc((void **)memory, bytes);
}
static inline cudaError_t cudaDeviceSynchronize() {
  VGPU_CALL(cudaDeviceSynchronize);
  return vgpu_result(vgpu_wait());
}
static inline cudaError_t cudaFree(void *memory) {
  VGPU_CALL(cudaFree);
  return vgpu_result(vgpu_free(memory));
}
static inline cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
  VGPU_CALL(cudaHostAlloc);
  return (*memory = calloc(1, bytes)) ? cudaSuccess : vgpu_result(cudaErrorMemoryAllocation);
}
static inline cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
  VGPU_CALL(cudaHostGetDevicePointer);
  return *device = host, cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  VGPU_CALL(cudaMemcpy);
  vgpu_copy(to, from, bytes);
  return vgpu_result(vgpu_wait());
}

static inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t bytes) {
  VGPU_CALL(cudaDeviceSetLimit);
  return vgpu_set_aside(bytes), cudaSuccess;
}
static inline cudaError_t cudaCtxResetPersistingL2Cache() {
  VGPU_CALL(cudaCtxResetPersistingL2Cache);
  return vgpu_forget_persisting(), cudaSuccess;
}
static inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *value) {
  VGPU_CALL(cudaStreamSetAttribute);
  const cudaAccessPolicyWindow &w = value->accessPolicyWindow;
  return vgpu_window(w.base_ptr, w.hitProp == cudaAccessPropertyPersisting ? w.num_bytes : 0), cudaSuccess;
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  VGPU_CALL(cudaStreamCreate);
  return *stream = nullptr, cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  VGPU_CALL(cudaStreamSynchronize);
  return vgpu_result(vgpu_wait());
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
  VGPU_CALL(cudaEventCreate);
  return *event = new double(0), cudaSuccess;
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  VGPU_CALL(cudaEventRecord);
  return vgpu_record(event), cudaSuccess;
}
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop) {
  VGPU_CALL(cudaEventElapsedTime);
  return *ms = (float)((*stop - *start) / 1e6), cudaSuccess;
}
extern "C" inline cudaError_t cudaProfilerStart(void) {
  VGPU_CALL(cudaProfilerStart);
  return vgpu_wait(), vgpu_trace("profile", "start", 0), cudaSuccess;
}
extern "C" inline cudaError_t cudaProfilerStop(void) {
  VGPU_CALL(cudaProfilerStop);
  return vgpu_wait(), vgpu_trace("profile", "stop", 0), cudaSuccess;
}

/* ---- launches and graphs --------------------------------------------------------------------------------------- */

static void vgpu_run_function(void *with) { (*(std::function<void()> *)with)(); }
static void vgpu_drop_function(void *with) { delete (std::function<void()> *)with; }
static inline void vgpu_enqueue(const char *name, std::function<void()> work) {
  vgpu_launch(name, vgpu_run_function, new std::function<void()>(std::move(work)), vgpu_drop_function);
}

/* From pageable memory: the host goes on when the copy has been made. */
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  VGPU_CALL(cudaMemcpyAsync);
  if (kind != cudaMemcpyDeviceToDevice) {
    vgpu_copy(to, from, bytes);
    return vgpu_result(vgpu_wait());
  }
  vgpu_enqueue("copy", [=] {
    vgpu_read(from, bytes);
    vgpu_write(to, bytes);
    memmove(to, from, bytes);
  });
  return cudaSuccess;
}

template <class T>
static void vgpu_touch_argument(const T &) {}
template <class T>
static void vgpu_touch_argument(const T *memory) {
  vgpu_read(memory, vgpu_rest(memory));
}
template <class T>
static void vgpu_touch_argument(T *memory) {
  vgpu_write(memory, vgpu_rest(memory));
}

template <class... P>
struct vgpu_prepared {
  const char *name;
  void (*kernel)(P...);
  dim3 grid, block;

  void operator()(P... arguments) const {
    const int error = vgpu_call("cudaLaunchKernel");
    if (error || block.x * block.y * block.z > 1024 || !grid.x || !block.x) {
      vgpu_result(error ? error : (int)cudaErrorInvalidConfiguration);
      return;
    }
    vgpu_enqueue(name, [*this, values = std::tuple<P...>(arguments...)] {
      std::function<void()> body = [&] { std::apply(kernel, values); };
      gridDim = grid;
      blockDim = block;
      const bool chain = strcmp(name, "pawli_chain") == 0; /* its results are not used: one block will do */
      for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
          for (unsigned x = 0; x < (chain ? 1 : grid.x); x++) {
            blockIdx = dim3(x, y, z);
            vgpu_run_block(body);
          }
      if (chain) vgpu_cycles(4096 * 4); /* dependent multiply-adds */
      if (strcmp(name, "pawli_hold") == 0 && !vgpu_waited()) vgpu_wait_for_host(0);
      if (!vgpu_described()) std::apply([](auto... a) { (vgpu_touch_argument(a), ...); }, values);
    });
  }
};

/* kernel<<<grid, block, shared, stream>>> */
template <class... P>
vgpu_prepared<P...> vgpu_prepare(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, size_t = 0, cudaStream_t = nullptr) {
  return vgpu_prepared<P...>{name, kernel, grid, block};
}

static inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  VGPU_CALL(cudaStreamBeginCapture);
  return vgpu_capture(), cudaSuccess;
}
static inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  VGPU_CALL(cudaStreamEndCapture);
  return *graph = vgpu_capture_ends(), cudaSuccess;
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long = 0) {
  VGPU_CALL(cudaGraphInstantiate);
  return *exec = graph, cudaSuccess;
}
static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  VGPU_CALL(cudaGraphLaunch);
  return vgpu_replay(exec), cudaSuccess;
}
static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  VGPU_CALL(cudaGraphExecDestroy);
  return cudaSuccess; /* the graph has it */
}
static inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  VGPU_CALL(cudaGraphDestroy);
  return vgpu_drop_graph(graph), cudaSuccess;
}

#endif
