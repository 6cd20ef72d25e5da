/* CUDA's driver interface for a computer without a GPU, as far as CudaProgram calls it: one GPU of 64 MiB and two multiprocessors. The kernel
 * `work` of one block is computed by this processor, one of more takes a nanosecond for each step. What does not fit what is known of a call
 * is answered by CUDA_ERROR_INVALID_VALUE. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };
enum { ASLEEP = 4, MULTIPROCESSORS = 16, CONTEXT = 41, MODULE = 42, WORK = 43, FAULT = 44 };

typedef unsigned long long u64;
static const size_t ALL = 64 << 20;
static size_t taken;
static int flags, current, faulted;
static u64 nanoseconds;

int cuInit(unsigned zero) { taken = 0; flags = current = faulted = 0; return zero ? INVALID_VALUE : SUCCESS; }
int cuDeviceGetCount(int *count) { *count = 1; return SUCCESS; }
int cuDeviceGet(int *device, int number) { *device = 7; return number ? INVALID_VALUE : SUCCESS; }
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned wanted) { flags = wanted; return device == 7 ? SUCCESS : INVALID_VALUE; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)CONTEXT;
    return device == 7 && flags == ASLEEP ? SUCCESS : INVALID_VALUE;
}
int cuCtxSetCurrent(void *context) { current = context == (void *)CONTEXT; return current ? SUCCESS : INVALID_VALUE; }

int cuModuleLoadData(void **module, const char *text) {
    *module = (void *)MODULE;
    return current && strstr(text, ".entry work(") && text[strlen(text) - 2] == '}' ? SUCCESS : INVALID_VALUE;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = (void *)(!strcmp(name, "work") ? (long)WORK : !strcmp(name, "fault") ? (long)FAULT : 0);
    return module != (void *)MODULE ? INVALID_VALUE : *function ? SUCCESS : NOT_FOUND;
}

int cuDeviceGetUuid(unsigned char *uuid, int device) {
    for (int i = 0; i < 16; i++) uuid[i] = 0xf0 + i;
    return device == 7 ? SUCCESS : INVALID_VALUE;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = 2;
    return attribute == MULTIPROCESSORS && device == 7 ? SUCCESS : INVALID_VALUE;
}

int cuMemGetInfo_v2(size_t *left, size_t *total) { *left = ALL - taken; *total = ALL; return SUCCESS; }
int cuMemAlloc_v2(u64 *address, size_t bytes) {
    if (taken + bytes > ALL) return OUT_OF_MEMORY;
    taken += bytes;
    *address = (u64)malloc(bytes);
    return SUCCESS;
}
int cuMemcpyDtoH_v2(void *to, u64 from, size_t bytes) { memcpy(to, (void *)from, bytes); return SUCCESS; }

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **parameters, void **extra) {
    if (y != 1 || z != 1 || by != 1 || bz != 1 || bx != 256 || shared || stream || extra) return INVALID_VALUE;
    if (function == (void *)FAULT) { faulted = 1; return SUCCESS; }
    if (function != (void *)WORK) return INVALID_VALUE;
    unsigned *out = *(unsigned **)parameters[0];
    u64 steps = *(u64 *)parameters[1];
    if (x > 1) { nanoseconds += steps; return SUCCESS; }
    for (unsigned thread = 0; thread < bx; thread++) {
        unsigned value = thread;
        for (u64 i = 0; i < steps; i++) value = value * 1664525 + 1013904223;
        out[thread] = value;
    }
    return SUCCESS;
}
int cuCtxSynchronize(void) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanoseconds = 0;
    nanosleep(&time, 0);
    return faulted ? ILLEGAL_ADDRESS : SUCCESS;
}
