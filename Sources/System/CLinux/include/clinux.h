#pragma once
// What the Glibc module does not show to Swift. _GNU_SOURCE stays in clinux.c: here it would give the system's types
// other definitions than the Glibc module has, and a file could not import both.
#include <pthread.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

/// Names a thread as the system shows it; at most 15 bytes.
int clinux_name_thread(pthread_t thread, const char *name);
