/* Asks NVIDIA's own calculator. A line in: compute capability (two numbers), threads,
   shared memory and shared memory of a block that an SM has, what the driver reserves; then
   threads, registers, static and dynamic shared memory, carve-out in percent (-1 for the
   default) and barriers of a launch. A line out: blocks on an SM, and by warps, registers,
   shared memory and barriers; -1 where there is no limit. */
#include <cuda_occupancy.h>
#include <limits.h>
#include <stdio.h>

static int shown(int limit) { return limit == INT_MAX ? -1 : limit; }

int main(void) {
    cudaOccDeviceProp d = {0};
    cudaOccFuncAttributes f = {0};
    cudaOccDeviceState s = {0};
    int threads, carveout, barriers;
    size_t dynamic;
    d.maxThreadsPerBlock = 1024;
    d.regsPerBlock = d.regsPerMultiprocessor = 65536;
    d.warpSize = 32;
    d.sharedMemPerBlock = 49152;
    d.numSms = 1;
    f.maxThreadsPerBlock = INT_MAX;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    while (scanf("%d %d %d %zu %zu %zu %d %d %zu %zu %d %d", &d.computeMajor, &d.computeMinor,
                 &d.maxThreadsPerMultiprocessor, &d.sharedMemPerMultiprocessor, &d.sharedMemPerBlockOptin,
                 &d.reservedSharedMemPerBlock, &threads, &f.numRegs, &f.sharedSizeBytes, &dynamic, &carveout,
                 &barriers) == 12) {
        cudaOccResult r = {0};
        f.maxDynamicSharedSizeBytes = dynamic;
        f.numBlockBarriers = barriers;
        s.carveoutConfig = carveout;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &d, &f, &s, threads, dynamic) != CUDA_OCC_SUCCESS) {
            puts("refused");
            continue;
        }
        printf("%d %d %d %d %d\n", r.activeBlocksPerMultiprocessor, shown(r.blockLimitWarps), shown(r.blockLimitRegs),
               shown(r.blockLimitSharedMem), shown(r.blockLimitBarriers));
    }
    return 0;
}
