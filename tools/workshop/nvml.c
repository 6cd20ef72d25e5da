/* An NVML for computers without a GPU.
 *
 * Its GPUs stand in the file `gpus` of a folder: the one that FAKE_NVML names, else that of this library, else `fake` in the root of the
 * driver to which it belongs (ROOT/usr/lib/ANY), else /run/nvidia/fake. Without such a file there are two of 80 GiB. A statement a line, `#`
 * begins a comment:
 *
 *   driver 580.159.03
 *   device GPU-1f2e3d4c [name=Tesla_T4] [memory=15360MiB] [minor=0] [pci=0000:3b:00.0] [events=266] [mig] [lost | answer=16]
 *   init 9                              what nvmlInit_v2 answers: NVML's number of an error
 *   fail nvmlDeviceGetMemoryInfo 999 [GPU-1f2e3d4c]
 *   hang nvmlDeviceGetMemoryInfo [GPU-1f2e3d4c]
 *
 * Which GPUs there are, in which order, is read by the first nvmlInit_v2; everything else may change at any time, and what is no longer there
 * is lost. In the folder's file `events` lines are appended: `GPU-1f2e3d4c 8 79` is an event of type 8 (an XID) with data 79. As part of a
 * driver, it sees a GPU only where its device node is: /dev/nvidiaN, or ROOT/dev/nvidiaN.
 *
 * The processes on a GPU are those of this computer that say so on their command line: "gpu=1,busy=30" (or a UUID for the number) keeps the
 * second GPU busy for 30 percent of the time, ",memory=2048" takes so many MiB. METERED_PIDS names them instead, each 5 percent busy, for
 * measuring what the meter itself costs: then all calls return at once and read no file. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 6, INSUFFICIENT_SIZE, TIMEOUT = 10, GPU_IS_LOST = 15 };
enum { GPUS = 32, RULES = 32, PROCESSES = 64, PENDING = 64, ECC = 2, XID = 8, MIG = 256 };

typedef unsigned long long u64;
typedef struct { unsigned pid; u64 memory; unsigned gi, ci; } process;
typedef struct { unsigned pid; u64 stamp; unsigned sm, fb, enc, dec; } row;
typedef struct { u64 stamp; unsigned pid, sm, fb, enc, dec, jpg, ofa; } newer_row;
typedef struct { unsigned version, count; u64 seen; newer_row *rows; } newer_rows;
typedef struct { u64 stamp, value; } sample;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; } pci;
typedef struct { void *device; u64 type, data; unsigned gi, ci; } event;

typedef struct { char uuid[96], name[96]; unsigned minor, domain, bus, slot; u64 memory, events; int mig, answer; } gpu;
typedef struct { char symbol[64], uuid[96]; int code; /* 0: it hangs */ } rule;
typedef struct { char driver[80]; int init, count, rules; gpu gpus[GPUS]; rule rule[RULES]; } machine;
typedef struct { pid_t pid; unsigned busy; u64 memory; } user;

/* A handle is a number of a UUID that was once seen, and stays its own. */
static char uuids[4 * GPUS][96];
static void *listed[GPUS];
static int initialised, listed_count;
static machine here;
static struct stat seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *handle(const char *uuid) {
    long i = 0;
    while (i < 4 * GPUS - 1 && uuids[i][0] && strcmp(uuids[i], uuid)) i++;
    snprintf(uuids[i], sizeof uuids[i], "%s", uuid);
    return (void *)(i + 1);
}

/* Where the file lies; sets the driver's root, empty where a GPU needs no device node. */
static char root[1024];
static const char *folder(void) {
    static char found[1100];
    char file[1200];
    Dl_info us;
    if (found[0]) return found;
    char *named = getenv("FAKE_NVML"), *slash = dladdr((void *)folder, &us) && us.dli_fname ? strrchr(us.dli_fname, '/') : 0;
    if (named) snprintf(found, sizeof found, "%s", named);
    else {
        int length = slash ? slash - us.dli_fname : 0;
        snprintf(file, sizeof file, "%.*s/gpus", length, slash ? us.dli_fname : "");
        if (slash && !access(file, R_OK)) snprintf(found, sizeof found, "%.*s", length, us.dli_fname);
        else {
            /* ROOT/usr/lib/x86_64-linux-gnu */
            snprintf(root, sizeof root, "%.*s/../../..", length, slash ? us.dli_fname : "");
            snprintf(file, sizeof file, "%s/fake/gpus", root);
            if (slash && !access(file, R_OK)) snprintf(found, sizeof found, "%s/fake", root);
            else strcpy(found, "/run/nvidia/fake");
        }
    }
    return found;
}

static void device(machine *m, char *uuid, char *rest) {
    if (m->count == GPUS) return;
    gpu *g = &m->gpus[m->count];
    *g = (gpu){.minor = m->count, .bus = m->count + 1, .memory = 80ull << 30, .events = 1 | ECC | XID | MIG};
    m->count++;
    snprintf(g->uuid, sizeof g->uuid, "%s", uuid);
    strcpy(g->name, "Fake GPU");
    for (char *word, *state = 0; (word = strtok_r(rest, " \t\n", &state)); rest = 0) {
        u64 number;
        char unit[4] = "";
        if (sscanf(word, "memory=%llu%3s", &number, unit) >= 1) g->memory = number << (unit[0] == 'G' ? 30 : unit[0] == 'M' ? 20 : 0);
        else if (!strncmp(word, "name=", 5)) {
            snprintf(g->name, sizeof g->name, "%s", word + 5);
            for (char *c = g->name; *c; c++) if (*c == '_') *c = ' ';
        }
        else if (!strcmp(word, "mig")) g->mig = 1;
        else if (!strcmp(word, "lost")) g->answer = GPU_IS_LOST;
        else {
            sscanf(word, "minor=%u", &g->minor);
            sscanf(word, "pci=%x:%x:%x", &g->domain, &g->bus, &g->slot);
            sscanf(word, "events=%llu", &g->events);
            sscanf(word, "answer=%d", &g->answer);
        }
    }
}

/* Reads the file again if it is another. The lock is held. */
static void read_machine(void) {
    char path[1200], line[1024], symbol[64], uuid[96];
    struct stat now = {0};
    if (here.count && getenv("METERED_PIDS")) return;
    snprintf(path, sizeof path, "%s/gpus", folder());
    FILE *file = fopen(path, "r");
    if (file) fstat(fileno(file), &now);
    if (here.count && now.st_ino == seen.st_ino && now.st_size == seen.st_size && now.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec) {
        if (file) fclose(file);
        return;
    }
    seen = now;
    memset(&here, 0, sizeof here);
    strcpy(here.driver, "580.159.03");
    if (!file) {
        for (int i = 0; i < 2; i++) device(&here, i ? "GPU-1" : "GPU-0", (char[]){0});
        return;
    }
    while (fgets(line, sizeof line, file)) {
        int n = 0, code = 0;
        char *comment = strchr(line, '#');
        if (comment) *comment = 0;
        uuid[0] = 0;
        if (sscanf(line, " device %95s%n", uuid, &n) == 1) device(&here, uuid, line + n);
        else if (sscanf(line, " init %d", &code) == 1) here.init = code;
        else if (sscanf(line, " fail %63s %d %95s", symbol, &code, uuid) >= 2 || sscanf(line, " hang %63s %95s", symbol, uuid) >= 1) {
            rule *r = &here.rule[here.rules < RULES ? here.rules++ : RULES - 1];
            snprintf(r->symbol, sizeof r->symbol, "%s", symbol);
            snprintf(r->uuid, sizeof r->uuid, "%s", uuid);
            r->code = code;
        } else sscanf(line, " driver %79s", here.driver);
    }
    fclose(file);
}

static int has_node(const gpu *g) {
    char path[1100];
    if (!root[0] || !seen.st_ino) return 1;
    snprintf(path, sizeof path, "/dev/nvidia%u", g->minor);
    if (!access(path, F_OK)) return 1;
    snprintf(path, sizeof path, "%s/dev/nvidia%u", root, g->minor);
    return !access(path, F_OK);
}

/* A GPU as it is now; null if it is gone. The lock is held. */
static gpu *find(void *d) {
    long i = (long)d - 1;
    if (i < 0 || i >= 4 * GPUS) return 0;
    read_machine();
    for (int k = 0; k < here.count; k++) if (!strcmp(here.gpus[k].uuid, uuids[i])) return &here.gpus[k];
    return 0;
}

/* What a call is to answer, before it is served: with SUCCESS the GPU is copied. Of a call about none, d is null. */
static int ask(const char *symbol, void *d, gpu *copy) {
    for (;;) {
        int hangs = 0, answer = SUCCESS;
        pthread_mutex_lock(&lock);
        gpu *g = d ? find(d) : 0;
        read_machine();
        if (!initialised) answer = UNINITIALIZED;
        else if (d && !g) answer = GPU_IS_LOST;
        else if (g) answer = g->answer;
        for (int i = 0; i < here.rules; i++) {
            rule *r = &here.rule[i];
            if (strcmp(r->symbol, symbol) || (r->uuid[0] && (!g || strcmp(r->uuid, g->uuid)))) continue;
            if (r->code) answer = r->code;
            else hangs = 1;
        }
        if (g && copy) *copy = *g;
        pthread_mutex_unlock(&lock);
        if (!hangs) return answer;
        usleep(50000);
    }
}
#define ASK(d, copy) do { int answer = ask(__func__, d, copy); if (answer) return answer; } while (0)

static u64 now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Who uses a GPU. With METERED_PIDS it returns at once and looks nowhere. */
static int users(void *d, user *all) {
    int n = 0, number = -1;
    char *metered = getenv("METERED_PIDS"), *end;
    const char *uuid = uuids[(long)d - 1];
    pthread_mutex_lock(&lock);
    int count = here.count;
    for (int i = 0; i < count; i++) if (!strcmp(here.gpus[i].uuid, uuid)) number = i;
    pthread_mutex_unlock(&lock);
    if (metered) {
        for (int i = 0; *metered && n < PROCESSES; i++, metered = end + (*end == ',')) {
            pid_t pid = strtoul(metered, &end, 10);
            if (i % count == number) all[n++] = (user){pid, 5, 1ull << 30};
        }
        return n;
    }
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && n < PROCESSES && (entry = readdir(processes));) {
        char path[300], line[4096], *said, which[96];
        unsigned busy;
        u64 memory = 1024;
        if (!isdigit(entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int file = open(path, O_RDONLY);
        long length = file < 0 ? 0 : read(file, line, sizeof line - 1);
        if (file >= 0) close(file);
        for (long i = 0; i < length; i++) if (!line[i]) line[i] = ' ';
        line[length > 0 ? length : 0] = 0;
        if (!(said = strstr(line, " gpu=")) || sscanf(said, " gpu=%95[^,],busy=%u,memory=%llu", which, &busy, &memory) < 2) continue;
        if (strcmp(which, uuid) && (!isdigit(which[0]) || atoi(which) != number)) continue;
        all[n++] = (user){strtoul(entry->d_name, 0, 10), busy, memory << 20};
    }
    if (processes) closedir(processes);
    return n;
}

static int text(char *into, unsigned room, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int n = vsnprintf(into, room, format, values);
    va_end(values);
    return n < (int)room ? SUCCESS : INSUFFICIENT_SIZE;
}

int nvmlInit_v2(void) {
    pthread_mutex_lock(&lock);
    read_machine();
    int answer = here.init;
    if (!answer && !initialised++) {
        listed_count = 0;
        for (int i = 0; i < here.count; i++) if (has_node(&here.gpus[i])) listed[listed_count++] = handle(here.gpus[i].uuid);
    }
    pthread_mutex_unlock(&lock);
    return answer;
}
int nvmlShutdown(void) {
    ASK(0, 0);
    pthread_mutex_lock(&lock);
    initialised--;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}
int nvmlSystemGetDriverVersion(char *into, unsigned room) {
    ASK(0, 0);
    return text(into, room, "%s", here.driver);
}
int nvmlDeviceGetCount_v2(unsigned *n) {
    ASK(0, 0);
    *n = listed_count;
    return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {
    ASK(0, 0);
    if (i >= (unsigned)listed_count) return INVALID_ARGUMENT;
    ASK(listed[i], 0);
    *d = listed[i];
    return SUCCESS;
}
int nvmlDeviceGetUUID(void *d, char *into, unsigned room) {
    gpu g;
    ASK(d, &g);
    return text(into, room, "%s", g.uuid);
}
int nvmlDeviceGetName(void *d, char *into, unsigned room) {
    gpu g;
    ASK(d, &g);
    return text(into, room, "%s", g.name);
}
int nvmlDeviceGetMinorNumber(void *d, unsigned *n) {
    gpu g;
    ASK(d, &g);
    *n = g.minor;
    return SUCCESS;
}
/* As a Hopper's. */
int nvmlDeviceGetCudaComputeCapability(void *d, int *major, int *minor) {
    gpu g;
    ASK(d, &g);
    *major = 9, *minor = 0;
    return SUCCESS;
}
/* The device's, so that every process sees it. */
static FILE *mode_of(const gpu *g, const char *how) {
    char path[512];
    snprintf(path, sizeof path, "%s/compute-mode-%s", folder(), g->uuid);
    return fopen(path, how);
}
int nvmlDeviceGetComputeMode(void *d, unsigned *mode) {
    gpu g;
    ASK(d, &g);
    *mode = 0;
    FILE *file = mode_of(&g, "r");
    if (file) {
        if (fscanf(file, "%u", mode) != 1) *mode = 0;
        fclose(file);
    }
    return SUCCESS;
}
int nvmlDeviceSetComputeMode(void *d, unsigned mode) {
    gpu g;
    ASK(d, &g);
    FILE *file = mode_of(&g, "w");
    if (!file) return NO_PERMISSION;
    fprintf(file, "%u", mode);
    return fclose(file) ? NO_PERMISSION : SUCCESS;
}
int nvmlDeviceGetPciInfo_v3(void *d, pci *p) {
    gpu g;
    ASK(d, &g);
    *p = (pci){.domain = g.domain, .bus = g.bus, .device = g.slot};
    text(p->legacy, sizeof p->legacy, "%04X:%02X:%02X.0", g.domain & 0xffff, g.bus & 0xff, g.slot & 0xff);
    return text(p->text, sizeof p->text, "%08X:%02X:%02X.0", g.domain, g.bus & 0xff, g.slot & 0xff);
}
int nvmlDeviceGetMemoryInfo(void *d, u64 *m) {
    gpu g;
    user all[PROCESSES];
    ASK(d, &g);
    u64 used = 0;
    for (int i = 0, n = users(d, all); i < n; i++) used += all[i].memory;
    if (used > g.memory) used = g.memory;
    m[0] = g.memory, m[1] = g.memory - used, m[2] = used;
    return SUCCESS;
}
int nvmlDeviceGetMigMode(void *d, unsigned *current, unsigned *pending) {
    gpu g;
    ASK(d, &g);
    *current = *pending = g.mig;
    return SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(void *d, unsigned *n) {
    gpu g;
    ASK(d, &g);
    *n = g.mig ? 7 : 0;
    return SUCCESS;
}
/* MIG is on, but nobody has made instances. */
int nvmlDeviceGetMigDeviceHandleByIndex(void *d, unsigned i, void **instance) {
    ASK(d, 0);
    return NOT_FOUND;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, process *p) {
    user all[PROCESSES];
    ASK(d, 0);
    unsigned room = *n;
    *n = users(d, all);
    if (room < *n) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < *n; i++) p[i] = (process){all[i].pid, all[i].memory, -1, -1};
    return SUCCESS;
}
int nvmlDeviceGetGraphicsRunningProcesses_v2(void *d, unsigned *n, process *p) {
    ASK(d, 0);
    *n = 0;
    return SUCCESS;
}
int nvmlDeviceGetMPSComputeRunningProcesses_v2(void *d, unsigned *n, process *p) {
    ASK(d, 0);
    *n = 0;
    return SUCCESS;
}
int nvmlDeviceGetProcessUtilization(void *d, row *r, unsigned *n, u64 since) {
    user all[PROCESSES];
    ASK(d, 0);
    unsigned room = *n;
    *n = users(d, all);
    if (room < *n) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < *n; i++) r[i] = (row){all[i].pid, now(), all[i].busy, 1, 0, 0};
    return SUCCESS;
}
int nvmlDeviceGetProcessesUtilizationInfo(void *d, newer_rows *r) {
    user all[PROCESSES];
    ASK(d, 0);
    unsigned room = r->count;
    r->count = users(d, all);
    if (room < r->count) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < r->count; i++) r->rows[i] = (newer_row){now(), all[i].pid, all[i].busy, 1, 0, 0, 0, 0};
    return SUCCESS;
}
int nvmlDeviceGetSamples(void *d, int type, u64 since, int *value_type, unsigned *n, sample *s) {
    user all[PROCESSES];
    ASK(d, 0);
    s[0] = (sample){now(), 0};
    for (int i = 0, count = users(d, all); i < count; i++) s[0].value += all[i].busy;
    *n = 1;
    *value_type = 1;
    return SUCCESS;
}

/* Events are read from where the file ended when the set was made. */
typedef struct { u64 types[4 * GPUS]; long at; int pending; event queue[PENDING]; } set;

static FILE *events(void) {
    char path[1200];
    snprintf(path, sizeof path, "%s/events", folder());
    return fopen(path, "r");
}

/* Takes what was written since. The lock is held. */
static void take(set *s) {
    char line[256], who[96];
    FILE *file = events();
    if (!file) return;
    fseek(file, 0, SEEK_END);
    if (ftell(file) < s->at) s->at = 0;
    fseek(file, s->at, SEEK_SET);
    while (fgets(line, sizeof line, file) && strchr(line, '\n')) {
        event e = {0, 0, 0, -1, -1};
        s->at = ftell(file);
        if (sscanf(line, "%95s %llu %llu", who, &e.type, &e.data) < 2) continue;
        for (int i = 0; i < 4 * GPUS; i++)
            if (uuids[i][0] && !strcmp(uuids[i], who) && s->types[i] & e.type && s->pending < PENDING) {
                e.device = (void *)(i + 1L);
                s->queue[s->pending++] = e;
            }
    }
    fclose(file);
}

int nvmlEventSetCreate(set **s) {
    ASK(0, 0);
    FILE *file = events();
    *s = calloc(1, sizeof **s);
    if (file) {
        fseek(file, 0, SEEK_END);
        (*s)->at = ftell(file);
        fclose(file);
    }
    return SUCCESS;
}
int nvmlEventSetFree(set *s) {
    ASK(0, 0);
    free(s);
    return SUCCESS;
}
int nvmlDeviceGetSupportedEventTypes(void *d, u64 *types) {
    gpu g;
    ASK(d, &g);
    *types = g.events;
    return SUCCESS;
}
int nvmlDeviceRegisterEvents(void *d, u64 types, set *s) {
    gpu g;
    ASK(d, &g);
    if (types & ~g.events) return NOT_SUPPORTED;
    pthread_mutex_lock(&lock);
    take(s);
    s->types[(long)d - 1] |= types;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}
/* Until something changes in the folder, and not for long: a device node may go, too. A driver would cost nothing meanwhile, either. */
static void await_change(int watch, u64 microseconds) {
    char buffer[4096];
    struct pollfd changes = {watch, POLLIN, 0};
    poll(&changes, 1, (int)(microseconds < 250000 ? microseconds / 1000 + 1 : 250));
    while (read(watch, buffer, sizeof buffer) > 0) ;
}
static int folder_watch(void) {
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    inotify_add_watch(watch, folder(), IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO);
    return watch;
}
int nvmlEventSetWait_v2(set *s, event *e, unsigned milliseconds) {
    static int watch;
    pthread_mutex_lock(&lock);
    if (!watch) watch = folder_watch();
    pthread_mutex_unlock(&lock);
    for (u64 end = now() + milliseconds * 1000ull;;) {
        int found, lost = 0;
        ASK(0, 0);
        pthread_mutex_lock(&lock);
        take(s);
        if ((found = s->pending > 0)) {
            *e = s->queue[0];
            memmove(s->queue, s->queue + 1, --s->pending * sizeof *e);
        }
        for (long i = 0; !found && i < 4 * GPUS; i++) {
            gpu *g = s->types[i] ? find((void *)(i + 1)) : 0;
            if (s->types[i] && (!g || g->answer == GPU_IS_LOST)) lost = 1;
        }
        pthread_mutex_unlock(&lock);
        if (found) return SUCCESS;
        if (lost) return GPU_IS_LOST;
        u64 t = now();
        if (t >= end) return TIMEOUT;
        await_change(watch, end - t);
    }
}
