// Stands in front of the C library in a program that is tested (LD_PRELOAD), and counts how often memory is allocated or enlarged on threads that are
// called "media", whoever asks for it there: Swift, OpenSSL, anything else.
//
// ALLOCATIONS names the file that has the count so far, in eight bytes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

// glibc's own, by the names that it has for whoever stands in front of them.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic uint64_t *total;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ALLOCATIONS");
  int file = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0) return;
  if (ftruncate(file, sizeof *total) == 0) {
    void *mapped = mmap(NULL, sizeof *total, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) total = mapped;
  }
  close(file);
}

static void count(void) {
  char name[16];
  if (total && prctl(PR_GET_NAME, name) == 0 && strcmp(name, "media") == 0) atomic_fetch_add_explicit(total, 1, memory_order_relaxed);
}

void *malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}

void *calloc(size_t items, size_t bytes) {
  count();
  return __libc_calloc(items, bytes);
}

void *realloc(void *memory, size_t bytes) {
  count();
  return __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *found = memalign(alignment, bytes);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}
