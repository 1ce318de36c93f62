#define _GNU_SOURCE 1
#include "clinux.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

int clinux_name_thread(pthread_t thread, const char *name) { return pthread_setname_np(thread, name); }

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_temporary_file(char *path_template) { return mkostemp(path_template, O_CLOEXEC); }

void clinux_give_back_memory(size_t least) {
  if (mallinfo2().fordblks >= least) malloc_trim(0);
}

int clinux_confine_to_one_processor(void) {
  int processor = sched_getcpu();
  if (processor < 0) return -1;
  mallopt(M_ARENA_MAX, 1);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  return sched_setaffinity(0, sizeof one, &one);
}

const char *clinux_library_path(const void *address) {
  Dl_info library;
  return dladdr(address, &library) ? library.dli_fname : NULL;
}
