#pragma once
// A program that is started with its hands bound. No header of the system is included here, as in confinement.h.
#include <stdint.h>

/// What this system can take away from a child.
enum confinement_means {
  /// All files but those that are named (Landlock).
  CONFINED_FILES = 1,
  /// Sockets, and what reaches other processes (seccomp).
  CONFINED_CALLS = 2,
};

struct confined_child {
  /// The program, and its arguments with a null at the end. Its environment is empty.
  const char *program;
  char *const *arguments;
  /// Where it works. It may read everything in there.
  const char *folder;
  /// Files that may be written, with a null at the end; they are there already. What is not there is left out.
  const char *const *writable;
  /// Its output. Its input is empty, and what it says of mistakes is lost.
  int output;
  uint64_t memory_bytes;
  uint64_t cpu_seconds;
};

/// Bits of `confinement_means`.
int confined_means(void);

/// Starts it at the lowest priority, with no more than the above, in all that `confined_means` tells; it reads the system's programs, libraries and fonts
/// besides. 0, or the number of the error why it did not begin.
int confined_spawn(const struct confined_child *child, int *process);
