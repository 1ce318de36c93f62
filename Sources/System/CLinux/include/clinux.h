#pragma once
// What the Glibc module does not show to Swift. _GNU_SOURCE stays in clinux.c: here it would give the system's types
// other definitions than the Glibc module has, and a file could not import both.
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

/// Names a thread as the system shows it; at most 15 bytes.
int clinux_name_thread(pthread_t thread, const char *name);

/// pipe2(2) with O_CLOEXEC: no child started meanwhile by another thread keeps an end. 0, or -1 with errno.
int clinux_pipe(int ends[2]);

/// mkostemp(3) with O_CLOEXEC. The descriptor, or -1 with errno.
int clinux_temporary_file(char *path_template);

/// Gives memory that nobody uses back to the system, where it is at least so many bytes: malloc keeps what was needed once. Takes some
/// milliseconds, in which other threads may wait for memory.
void clinux_give_back_memory(size_t least);

/// Lets the process run on one processor from now on, and gives all its threads one heap. A library that starts a thread for each
/// processor then starts one. 0, or -1 with errno.
int clinux_confine_to_one_processor(void);

/// The path of the library or program that has this address in it, or NULL. The text stays.
const char *clinux_library_path(const void *address);
