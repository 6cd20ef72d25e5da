/* NVIDIA's MPS and CUDA programs, for computers without a GPU: as driver 580 was seen to behave (benchmarks/README.md, On a GPU).
 *
 * Linked statically, so that it runs in any container, it is `nvidia-cuda-mps-control`:
 *
 *   -f                       the daemon. Its clients die with it, and all of them when one is killed while it works. Its server, a process
 *                            that does nothing, outlives a daemon that is killed; then the next daemon's clients do not get at the GPU,
 *                            as in the compute mode EXCLUSIVE_PROCESS.
 *   (nothing)                the control program; a command comes by the standard input
 *   client WORK SECONDS      a CUDA program that tries something (`try`), sits there (`hold`) or works (`work`)
 *
 * As a shared library it is `libcuda.so.1`, whose caller is a client that tries something.
 *
 * What goes wrong stands in the file `behaviour` of the daemon's log directory, a word a line: NoStart, CommandsHang, CommandsDie,
 * CommandsNonsense, CommandsRefused, CommandsCollide (of two control programs that are connected at once the second one fails),
 * ClientsHang, ClientsFail, ClientsUnavailable, and WedgedByAKill: after a client was killed in its work, new ones get nothing done. The
 * file `server` has the number of the server's process, and `clients.log` what became of clients, `1764201600123 Killed HOST` a line:
 * Checks or Begins; then Ends, Terminated, Killed, or Fails because of another HOST that was killed; and Collides of a command. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { LONGEST = 256, MOST_CLIENTS = 48, CONNECTIONS = 256, TERMINATED = 3, ANSWERED_AFTER_MILLIS = 50 };

static int connected(int (*how)(int, const struct sockaddr *, socklen_t)) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder ? folder : "/tmp/nvidia-mps");
    if (!how(fd, (struct sockaddr *)&address, sizeof address)) return fd;
    close(fd);
    return -1;
}

static void say(int fd, const char *line) {
    char text[LONGEST + 1];
    send(fd, text, snprintf(text, sizeof text, "%s\n", line), MSG_NOSIGNAL);
}

/* A line without its end; 0 if the other side has gone. Whoever says several says them with pauses. */
static int hear(int fd, char *line) {
    ssize_t length = read(fd, line, LONGEST - 1);
    line[length > 0 ? length : 0] = 0;
    line[strcspn(line, "\n")] = 0;
    return length > 0;
}

/* ---- a client */

static int server = -1;
static char refusal[LONGEST];

/* Without a daemon programs run all the same, without limits. */
static int join(const char *work) {
    char line[LONGEST], host[65] = "";
    server = connected(connect);
    if (server < 0) return 0;
    gethostname(host, sizeof host - 1);
    snprintf(line, sizeof line, "client %s %s", work, host);
    say(server, line);
    if (!hear(server, refusal)) strcpy(refusal, "cuInit answered 807");
    if (!strcmp(refusal, "ok")) refusal[0] = 0;
    return 1;
}

static void leave(void) {
    char line[LONGEST];
    if (server < 0) return;
    say(server, "bye");
    hear(server, line);
    close(server);
    server = -1;
}

static int answer(const char *function) {
    char refused[64] = "";
    int code = 0;
    return sscanf(refusal, "%63s answered %d", refused, &code) == 2 && !strcmp(refused, function) ? code : 0;
}

int cuInit(unsigned flags) { (void)flags; join("try"); return answer("cuInit"); }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDevicePrimaryCtxRetain(long *context, int device) { *context = device + 1; return answer("cuDevicePrimaryCtxRetain"); }
int cuCtxSetCurrent(long context) { (void)context; return 0; }
int cuMemAlloc_v2(long *memory, long bytes) { *memory = bytes; return 0; }
int cuMemsetD8_v2(long memory, char value, long bytes) { (void)memory, (void)value, (void)bytes; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemFree_v2(long memory) { (void)memory; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; leave(); return 0; }

static int client(const char *work, int seconds) {
    char line[LONGEST];
    int trying = !strcmp(work, "try");
    setvbuf(stdout, 0, _IOLBF, 0);
    if (!join(work)) {
        puts("done without MPS");
        sleep(trying ? 0 : seconds);
        return 0;
    }
    if (refusal[0]) {
        puts(refusal);
        return TERMINATED;
    }
    puts("running");
    if (!trying && poll(&(struct pollfd){.fd = server, .events = POLLIN}, 1, 1000 * seconds) > 0) {
        puts(hear(server, line) ? line : "cuCtxSynchronize answered 807");
        return TERMINATED;
    }
    leave();
    puts("done");
    return 0;
}

/* ---- the control program */

static int command(void) {
    char line[LONGEST], told[LONGEST + 16], said[1 << 14];
    int daemon = connected(connect);
    size_t length = 0;
    if (daemon < 0) {
        puts("Cannot find MPS control daemon process");
        return 1;
    }
    if (!fgets(line, sizeof line, stdin)) return 0;
    line[strcspn(line, "\n")] = 0;
    snprintf(told, sizeof told, "command %s", line);
    say(daemon, told);
    for (ssize_t more; (more = read(daemon, said + length, sizeof said - length)) > 0;) length += more;
    if (length == 4 && !memcmp(said, "DIE\n", 4)) return 137;
    fwrite(said, 1, length, stdout);
    return 0;
}

/* ---- the daemon, which does its server's work too */

/* Who has asked something. A client has a number; whoever is not answered has none. */
typedef struct { int fd, id, working; pid_t pid; char host[65]; } peer;

static peer peers[CONNECTIONS];
static int count, ids, wedged;
static pid_t started;

static FILE *open_log(const char *name, const char *mode) {
    char path[4096], *folder = getenv("CUDA_MPS_LOG_DIRECTORY");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/var/log/nvidia-mps", name);
    return fopen(path, mode);
}

static int behaves(const char *how) {
    char line[LONGEST];
    int found = 0;
    FILE *file = open_log("behaviour", "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        found |= !strcmp(line, how);
    }
    if (file) fclose(file);
    return found;
}

static long long millis(void) {
    struct timeval now;
    gettimeofday(&now, 0);
    return now.tv_sec * 1000LL + now.tv_usec / 1000;
}

static void note(const char *what, const peer *whom, const char *because) {
    FILE *file = open_log("clients.log", "a");
    if (!file) return;
    fprintf(file, "%lld %s %s%s%s\n", millis(), what, whom->host, because[0] ? " " : "", because);
    fclose(file);
}

/* One that has ended stays there until the container's first process has asked for its exit code, and has no GPU any more. */
static int lives(pid_t pid) {
    char path[32], state = 'Z';
    if (pid <= 0 || kill(pid, 0)) return 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (fscanf(file, "%*d %*s %c", &state) != 1) state = 'Z';
    fclose(file);
    return state != 'Z';
}

/* Whether there is a server that has the GPU: ours, or one that is started now. */
static int serves(void) {
    int earlier = 0;
    if (lives(started)) return 1;
    FILE *file = open_log("server", "r");
    if (file) {
        if (fscanf(file, "%d", &earlier) != 1) earlier = 0;
        fclose(file);
    }
    if (lives(earlier)) return 0;
    started = fork();
    if (!started) {
        pid_t daemon = getppid();
        /* Nobody is to wait for what it has inherited: not for its words, and not at the daemon's socket. */
        for (int fd = 0; fd < 1024; fd++) close(fd);
        for (int left = 300; left > 0; left -= getppid() != daemon) sleep(1);
        _exit(0);
    }
    if ((file = open_log("server", "w"))) {
        fprintf(file, "%d", started);
        fclose(file);
    }
    return 1;
}

static int clients(void) {
    int all = 0;
    for (int i = 0; i < count; i++) all += peers[i].id > 0;
    return all;
}

static void end(peer *whom, const char *word) {
    say(whom->fd, word);
    shutdown(whom->fd, SHUT_RDWR);
    whom->id = 0;
}

static void obey(peer *from, const char *told) {
    struct ucred user = {0};
    socklen_t size = sizeof user;
    char line[LONGEST];
    int pid = 0;
    if (behaves("CommandsHang")) return;
    getsockopt(from->fd, SOL_SOCKET, SO_PEERCRED, &user, &size);
    int may_change = (!user.uid || user.uid == geteuid()) && !behaves("CommandsRefused");
    if (behaves("CommandsDie")) say(from->fd, "DIE");
    else if (behaves("CommandsNonsense")) say(from->fd, "segmentation 7 fault");
    else if (!strcmp(told, "get_server_list")) {
        snprintf(line, sizeof line, "%d", started);
        if (lives(started)) say(from->fd, line);
    } else if (!strncmp(told, "get_client_list", 15)) {
        for (int i = 0; i < count; i++) {
            snprintf(line, sizeof line, "%d", peers[i].pid);
            if (peers[i].id) say(from->fd, line);
        }
    } else if (!strncmp(told, "get_server_status", 17)) say(from->fd, "ACTIVE");
    else if (sscanf(told, "terminate_client %*d %d", &pid) == 1) {
        peer *found = 0;
        for (int i = 0; i < count; i++) if (peers[i].id && peers[i].pid == pid) found = &peers[i];
        if (!may_change) {
            snprintf(line, sizeof line, "Insufficient privileges for UID %d. Control deamon settings can only be modified by the user who started it or by the root user.\n800", user.uid);
            say(from->fd, line);
        } else if (found) {
            note("Terminated", found, "");
            end(found, "cuCtxSynchronize answered 809");
            say(from->fd, "0");
        } else say(from->fd, pid ? "201" : "Invalid process 0!\n1");
    } else if (!strncmp(told, "quit", 4)) {
        if (may_change) {
            if (lives(started)) kill(started, SIGKILL);
            exit(0);
        }
        say(from->fd, "Not enough privilege to execute quit command");
    } else {
        snprintf(line, sizeof line, "Unknown command \"%.200s\"", told);
        say(from->fd, line);
    }
    shutdown(from->fd, SHUT_RDWR);
}

/* Where commands collide: the one that is being answered, which takes its time. */
static struct { int fd; long long due; char told[LONGEST]; } answering;

static void command_from(peer *from, const char *told) {
    if (!behaves("CommandsCollide")) obey(from, told);
    else if (answering.fd) {
        note("Collides", from, "");
        say(from->fd, "DIE");
        shutdown(from->fd, SHUT_RDWR);
    } else {
        answering.fd = from->fd;
        answering.due = millis() + ANSWERED_AFTER_MILLIS;
        strcpy(answering.told, told);
    }
}

static int until_due(void) {
    long long left = answering.due - millis();
    return !answering.fd ? -1 : left > 0 ? (int)left : 0;
}

static void answer_if_due(void) {
    if (until_due()) return;
    int fd = answering.fd;
    answering.fd = 0;
    for (int i = 0; i < count; i++) if (peers[i].fd == fd) obey(&peers[i], answering.told);
}

static void admit(peer *from, const char *work) {
    struct ucred user = {0};
    socklen_t size = sizeof user;
    if (wedged || behaves("ClientsHang")) return;
    if (behaves("ClientsFail")) end(from, "cuInit answered 805");
    else if (behaves("ClientsUnavailable") || !serves() || clients() >= MOST_CLIENTS) end(from, "cuDevicePrimaryCtxRetain answered 46");
    else {
        /* Its number as the daemon counts processes, whatever the client's own namespace says. */
        getsockopt(from->fd, SOL_SOCKET, SO_PEERCRED, &user, &size);
        from->pid = user.pid;
        from->id = ++ids;
        from->working = !strcmp(work, "work");
        note(strcmp(work, "try") ? "Begins" : "Checks", from, "");
        say(from->fd, "ok");
    }
}

/* Its connection has ended without a word. */
static void left(peer whom) {
    if (!whom.id) return;
    note(whom.working ? "Killed" : "Ends", &whom, "");
    if (!whom.working) return;
    wedged |= behaves("WedgedByAKill");
    for (int i = 0; i < count; i++) {
        if (peers[i].id) {
            note("Fails", &peers[i], whom.host);
            end(&peers[i], "cuCtxSynchronize answered 700");
        }
    }
}

static void heard(int i) {
    char line[LONGEST], work[16];
    peer *from = &peers[i];
    if (!hear(from->fd, line)) {
        peer gone = *from;
        if (gone.fd == answering.fd) answering.fd = 0;
        close(gone.fd);
        peers[i] = peers[--count];
        left(gone);
    } else if (!strncmp(line, "command ", 8)) command_from(from, line + 8);
    else if (sscanf(line, "client %15s %64s", work, from->host) >= 1) admit(from, work);
    else if (from->id) {
        note("Ends", from, "");
        end(from, "bye");
    }
}

static int serve(void) {
    struct pollfd polled[CONNECTIONS + 1];
    if (behaves("NoStart")) return 1;
    /* Clients are of any user. */
    umask(0);
    int door = connected(bind);
    if (door < 0 || listen(door, 64)) return 1;
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        polled[0] = (struct pollfd){.fd = door, .events = count < CONNECTIONS ? POLLIN : 0};
        for (int i = 0; i < count; i++) polled[i + 1] = (struct pollfd){.fd = peers[i].fd, .events = POLLIN};
        poll(polled, count + 1, until_due());
        answer_if_due();
        /* From the last on, since who has left is replaced by the last. */
        for (int i = count - 1; i >= 0; i--) if (polled[i + 1].revents) heard(i);
        if (polled[0].revents) {
            int fd = accept(door, 0, 0);
            if (fd >= 0) peers[count++] = (peer){.fd = fd};
        }
    }
}

int main(int arguments, char **argument) {
    if (arguments > 3 && !strcmp(argument[1], "client")) return client(argument[2], atoi(argument[3]));
    return arguments > 1 ? serve() : command();
}
