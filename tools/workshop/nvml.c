/* An NVML of two GPUs, for computers without one. Which processes use them is told by METERED_PIDS (each 5 percent busy), for measuring what
 * the meter itself costs: then all calls return at once and hold no state. Without it the processes are those of this computer that say so
 * on their command line: "gpu=1,busy=30" keeps the second GPU busy for 30 percent of the time. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct { unsigned pid; unsigned long long memory; unsigned gi, ci; } process;
typedef struct { unsigned pid; unsigned long long stamp; unsigned sm, fb, enc, dec; } row;
typedef struct { unsigned long long stamp, value; } sample;

static unsigned pids[2][64], busy[2][64], counts[2];

static unsigned long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void add(unsigned gpu, unsigned pid, unsigned percent) {
    if (gpu > 1 || counts[gpu] >= 64) return;
    pids[gpu][counts[gpu]] = pid;
    busy[gpu][counts[gpu]++] = percent;
}

static void find(void) {
    if (getenv("METERED_PIDS")) return;
    counts[0] = counts[1] = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300], line[4096], *said;
        if (!isdigit(entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int file = open(path, O_RDONLY);
        long n = file < 0 ? 0 : read(file, line, sizeof line - 1);
        if (file >= 0) close(file);
        for (long i = 0; i < n; i++) if (!line[i]) line[i] = ' ';
        line[n > 0 ? n : 0] = 0;
        unsigned gpu, percent;
        if ((said = strstr(line, " gpu=")) && sscanf(said, " gpu=%u,busy=%u", &gpu, &percent) == 2)
            add(gpu, strtoul(entry->d_name, 0, 10), percent);
    }
    if (folder) closedir(folder);
}

int nvmlInit_v2(void) {
    char *text = getenv("METERED_PIDS"), *end;
    counts[0] = counts[1] = 0;
    for (unsigned i = 0; text && *text; i++, text = end + (*end == ',')) add(i % 2, strtoul(text, &end, 10), 5);
    return 0;
}
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned n) { strncpy(text, "580.159.03", n); return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(i + 1L); return 0; }
int nvmlDeviceGetUUID(void *d, char *text, unsigned n) {
    strncpy(text, (long)d == 1 ? "GPU-0" : "GPU-1", n);
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, process *p) {
    long g = (long)d - 1;
    find();
    for (unsigned i = 0; i < counts[g]; i++) p[i] = (process){pids[g][i], 1ull << 30, -1, -1};
    *n = counts[g];
    return 0;
}
int nvmlDeviceGetProcessUtilization(void *d, row *r, unsigned *n, unsigned long long seen) {
    long g = (long)d - 1;
    find();
    for (unsigned i = 0; i < counts[g]; i++) r[i] = (row){pids[g][i], now(), busy[g][i], 1, 0, 0};
    *n = counts[g];
    return 0;
}
int nvmlDeviceGetSamples(void *d, int t, unsigned long long seen, int *v, unsigned *n, sample *s) {
    long g = (long)d - 1;
    find();
    s[0] = (sample){now(), 0};
    for (unsigned i = 0; i < counts[g]; i++) s[0].value += busy[g][i];
    *n = 1;
    *v = 1;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) {
    m[0] = 80ull << 30, m[1] = 70ull << 30, m[2] = 10ull << 30;
    return 0;
}
