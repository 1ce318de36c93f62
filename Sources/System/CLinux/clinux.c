#define _GNU_SOURCE 1
#include "clinux.h"
#include <malloc.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int clinux_name_thread(pthread_t thread, const char *name) { return pthread_setname_np(thread, name); }

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_temporary_file(char *path_template) { return mkostemp(path_template, O_CLOEXEC); }

int clinux_spawn_in_folder(void *actions, const char *folder) { return posix_spawn_file_actions_addchdir_np(actions, folder); }

// Where memory runs out, this one goes and not its parent. proc(5), oom_score_adj.
static void prefer_to_kill(int process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/oom_score_adj", process);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t written = write(file, "1000", 4);
  (void)written;
  close(file);
}

int clinux_restrain(int process, uint64_t memory_bytes, uint64_t cpu_seconds) {
  struct rlimit memory = {memory_bytes, memory_bytes}, time = {cpu_seconds, cpu_seconds}, none = {0, 0};
  prefer_to_kill(process);
  if (setpriority(PRIO_PROCESS, (id_t)process, 19) != 0) return -1;
  if (prlimit(process, RLIMIT_AS, &memory, NULL) != 0 || prlimit(process, RLIMIT_CPU, &time, NULL) != 0) return -1;
  return prlimit(process, RLIMIT_CORE, &none, NULL);
}

void clinux_give_back_memory(size_t least) {
  if (mallinfo2().fordblks >= least) malloc_trim(0);
}
