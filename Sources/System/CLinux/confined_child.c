#define _GNU_SOURCE 1
#include "confined_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Between fork and exec a child of a program with threads may do nothing but call the system: no memory is asked for here.

// Files. landlock(7).

// Rights that came after the first version, which headers of the system may not know.
#define RIGHT_REFER (1ULL << 13)
#define RIGHT_TRUNCATE (1ULL << 14)
#define RIGHT_DEVICE (1ULL << 15)
#define RIGHTS_OF_FIRST ((1ULL << 13) - 1)
#define RIGHTS_TO_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

// Where programs, what they are linked with, and fonts lie.
static const char *const system_paths[] = {
  "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/usr/share", "/usr/local/share", "/lib", "/lib64",
  "/etc/ld.so.cache", "/etc/fonts", "/var/cache/fontconfig", "/dev/null", "/dev/urandom", NULL,
};

static int landlock_version(void) {
  return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static uint64_t handled_rights(int version) {
  return RIGHTS_OF_FIRST | (version >= 2 ? RIGHT_REFER : 0) | (version >= 3 ? RIGHT_TRUNCATE : 0) | (version >= 5 ? RIGHT_DEVICE : 0);
}

static int allow(int rules, const char *path, uint64_t rights) {
  struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
  struct stat status;
  if (rule.parent_fd < 0) return errno == ENOENT ? 0 : -1;
  if (fstat(rule.parent_fd, &status) != 0) return -1;
  if (!S_ISDIR(status.st_mode)) rule.allowed_access &= ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
  int result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
  return result;
}

// In the child's folder already.
static int confine_files(const struct confined_child *child, int version) {
  uint64_t handled = handled_rights(version);
  struct landlock_ruleset_attr attributes = {.handled_access_fs = handled};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0);
  if (rules < 0) return -1;
  for (const char *const *path = system_paths; *path; path++)
    if (allow(rules, *path, RIGHTS_TO_READ) != 0) return -1;
  if (allow(rules, child->program, RIGHTS_TO_READ) != 0) return -1;
  if (allow(rules, ".", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR) != 0) return -1;
  uint64_t writing = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | (handled & RIGHT_TRUNCATE);
  for (const char *const *path = child->writable; *path; path++)
    if (allow(rules, *path, writing) != 0) return -1;
  if (syscall(SYS_landlock_restrict_self, rules, 0) != 0) return -1;
  return close(rules);
}

// System calls. seccomp(2).

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
// Those of x32 have other numbers.
#define FOREIGN_CALLS 0x40000000u
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define FOREIGN_CALLS 0x80000000u
#endif

#ifdef ARCHITECTURE

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
#define REFUSED(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), REFUSE

// The network, and what would reach the process that started this one, which is of the same user. io_uring opens sockets too.
static struct sock_filter call_filter[] = {
  FIELD(arch),
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  FIELD(nr),
  BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALLS, 0, 1),
  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  REFUSED(socket),
  REFUSED(socketpair),
  REFUSED(io_uring_setup),
  REFUSED(kill),
  REFUSED(tkill),
  REFUSED(tgkill),
  REFUSED(rt_sigqueueinfo),
  REFUSED(rt_tgsigqueueinfo),
  REFUSED(pidfd_open),
  REFUSED(ptrace),
  REFUSED(process_vm_readv),
  REFUSED(process_vm_writev),
  REFUSED(setpriority),
  REFUSED(sched_setaffinity),
  REFUSED(sched_setscheduler),
  REFUSED(unshare),
  REFUSED(setns),
  REFUSED(bpf),
  REFUSED(perf_event_open),
  REFUSED(userfaultfd),
  REFUSED(keyctl),
  REFUSED(add_key),
  REFUSED(request_key),
  // Limits of others: glibc asks for its own ones by the number 0.
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 3),
  FIELD(args[0]),
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
  REFUSE,
  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int confine_calls(void) {
  struct sock_fprog program = {.len = sizeof call_filter / sizeof call_filter[0], .filter = call_filter};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static int knows_calls(void) {
  uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

#else

static int confine_calls(void) { return 0; }
static int knows_calls(void) { return 0; }

#endif

int confined_means(void) { return (landlock_version() > 0 ? CONFINED_FILES : 0) | (knows_calls() ? CONFINED_CALLS : 0); }

// What it may take.

static int limit(int resource, uint64_t value) {
  struct rlimit limit = {value, value};
  return setrlimit(resource, &limit);
}

// Where memory runs out, this one goes and not its parent. proc(5), oom_score_adj.
static void prefer_to_kill(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t written = write(file, "1000", 4);
  (void)written;
  close(file);
}

static int restrain(const struct confined_child *child) {
  prefer_to_kill();
  if (setpriority(PRIO_PROCESS, 0, 19) != 0) return -1;
  if (limit(RLIMIT_AS, child->memory_bytes) != 0 || limit(RLIMIT_CPU, child->cpu_seconds) != 0) return -1;
  return limit(RLIMIT_CORE, 0);
}

static int connect_streams(int output) {
  int none = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (none < 0) return -1;
  if (dup2(none, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(none, STDERR_FILENO) < 0) return -1;
  return 0;
}

// Returns where something of it could not be done.
static void become(const struct confined_child *child) {
  char *const environment[] = {NULL};
  int means = confined_means();
  if (chdir(child->folder) != 0 || connect_streams(child->output) != 0 || restrain(child) != 0) return;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  if (means & CONFINED_FILES && confine_files(child, landlock_version()) != 0) return;
  if (means & CONFINED_CALLS && confine_calls() != 0) return;
  execve(child->program, child->arguments, environment);
}

int confined_spawn(const struct confined_child *child, int *process) {
  // Closed by exec; else the error comes through it.
  int ends[2], error = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  *process = fork();
  if (*process == 0) {
    become(child);
    error = errno;
    ssize_t written = write(ends[1], &error, sizeof error);
    (void)written;
    _exit(127);
  }
  if (*process < 0) error = errno;
  close(ends[1]);
  if (*process > 0) {
    ssize_t count;
    do { count = read(ends[0], &error, sizeof error); } while (count < 0 && errno == EINTR);
    if (count == sizeof error) {
      while (waitpid(*process, NULL, 0) < 0 && errno == EINTR) {}
    } else {
      error = 0;
    }
  }
  close(ends[0]);
  return error;
}
