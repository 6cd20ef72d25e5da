// What the experiments of this folder run on a GPU. Times are microseconds; every answer is one line of JSON.
//
//   probe calibrate                           iterations of the kernel that keep every multiprocessor busy for a millisecond
//   probe load ITERATIONS DUTY PERIOD SECONDS kernels of a millisecond for DUTY percent of each PERIOD (milliseconds)
//   probe multiprocessors                     how many this process sees, and how long its start took
//   probe allocate MIB                        in pieces of MIB until the driver refuses
//   probe hold SECONDS                        a tiny kernel twenty times a second, until one fails
//   probe fault                               reads where nothing is
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

static double now() {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void check(cudaError_t e, const char *what, double since) {
    if (e != cudaSuccess) {
        printf("{\"pid\": %d, \"failed\": \"%s\", \"error\": \"%s\", \"after\": %.0f}\n", getpid(), what, cudaGetErrorName(e), now() - since);
        fflush(stdout);
        exit(3);
    }
}

__global__ void work(float *out, long iterations) {
    float a = threadIdx.x, b = 1.0001f;
    for (long i = 0; i < iterations; i++) a = a * b + 0.5f;
    if (a == 12345.678f) *out = a;
}

__global__ void reach(volatile int *at) { *at = 1; }

int main(int count, char **words) {
    double start = now();
    const char *mode = count > 1 ? words[1] : "";
    check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "flags", start);
    check(cudaFree(nullptr), "context", start);
    double ready = now();
    int multiprocessors;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "attribute", start);
    float *out;
    check(cudaMalloc(&out, 4), "malloc", start);
    dim3 blocks(multiprocessors * 8), threads(256);
    if (!strcmp(mode, "calibrate")) {
        long iterations = 1000;
        cudaEvent_t a, b;
        cudaEventCreate(&a);
        cudaEventCreate(&b);
        float took = 0;
        for (int round = 0; round < 12; round++) {
            cudaEventRecord(a);
            for (int i = 0; i < 200; i++) work<<<blocks, threads>>>(out, iterations);
            cudaEventRecord(b);
            check(cudaEventSynchronize(b), "work", start);
            cudaEventElapsedTime(&took, a, b);
            if (round < 11) iterations = (long)(iterations * 200 / took) + 1;
        }
        printf("{\"iterations\": %ld, \"milliseconds_of_200\": %.3f, \"multiprocessors\": %d}\n", iterations, took, multiprocessors);
    } else if (!strcmp(mode, "load") && count == 6) {
        long iterations = atol(words[2]);
        double duty = atof(words[3]) / 100, period = atof(words[4]) * 1000, seconds = atof(words[5]);
        long kernels = 0;
        double begin = now(), end = begin + seconds * 1e6;
        for (double at = begin; now() < end; at += period) {
            long todo = (long)(duty * period / 1000 + 0.5);
            for (long i = 0; i < todo && now() < end; i += 4) {
                int batch = todo - i < 4 ? (int)(todo - i) : 4;
                for (int k = 0; k < batch; k++) work<<<blocks, threads>>>(out, iterations);
                check(cudaDeviceSynchronize(), "work", start);
                kernels += batch;
            }
            double rest = at + period - now();
            if (rest > 0) usleep((useconds_t)rest);
            else at = now() - period;
        }
        printf("{\"pid\": %d, \"kernels\": %ld, \"begin\": %.0f, \"end\": %.0f}\n", getpid(), kernels, begin, now());
    } else if (!strcmp(mode, "multiprocessors")) {
        printf("{\"multiprocessors\": %d, \"start\": %.0f}\n", multiprocessors, ready - start);
    } else if (!strcmp(mode, "allocate") && count == 3) {
        size_t piece = (size_t)atol(words[2]) << 20, sum = 0, free, total;
        cudaMemGetInfo(&free, &total);
        void *p;
        cudaError_t e;
        while ((e = cudaMalloc(&p, piece)) == cudaSuccess && sum < (160ull << 30)) sum += piece;
        printf("{\"allocated_mib\": %zu, \"free_mib\": %zu, \"total_mib\": %zu, \"error\": \"%s\"}\n", sum >> 20, free >> 20, total >> 20,
               cudaGetErrorName(e));
    } else if (!strcmp(mode, "hold") && count == 3) {
        printf("{\"pid\": %d, \"start\": %.0f}\n", getpid(), ready - start);
        fflush(stdout);
        double end = now() + atof(words[2]) * 1e6;
        while (now() < end) {
            work<<<blocks, threads>>>(out, 1000);
            check(cudaDeviceSynchronize(), "work", start);
            usleep(50000);
        }
        printf("{\"pid\": %d, \"lived\": %.0f}\n", getpid(), now() - start);
    } else if (!strcmp(mode, "fault")) {
        reach<<<1, 1>>>((int *)0x10);
        check(cudaDeviceSynchronize(), "work", start);
        printf("{\"pid\": %d, \"survived\": true}\n", getpid());
    } else {
        fprintf(stderr, "probe: see the first lines of probe.cu\n");
        return 2;
    }
    return 0;
}
