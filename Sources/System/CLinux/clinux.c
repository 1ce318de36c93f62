#define _GNU_SOURCE 1
#include "clinux.h"
#include <malloc.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int clinux_name_thread(pthread_t thread, const char *name) { return pthread_setname_np(thread, name); }

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_temporary_file(char *path_template) { return mkostemp(path_template, O_CLOEXEC); }

void clinux_give_back_memory(size_t least) {
  if (mallinfo2().fordblks >= least) malloc_trim(0);
}
