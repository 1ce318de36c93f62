#pragma once
// TCP connections for packets, and waiting for many descriptors at once: epoll's structure is packed, which Swift does not import.
#include "datagrams.h"
#include <stdint.h>

/// A listening, non-blocking TCP socket for both families, or for IPv4 only where the system has no IPv6. The address and `*port` are
/// as for `datagrams_open`. The descriptor, or -1 with errno.
int streams_listen(uint64_t address_high, uint64_t address_low, uint16_t *port);

/// The next connection, non-blocking, which sends small packets at once; `*from` has its address. The descriptor, or -1 with errno.
int streams_accept(int listener, struct datagram *from);

/// What has happened to a watched descriptor.
struct watched {
  uint64_t token;
  int can_read;
  int can_write;
};

/// The descriptor of a watch, or -1 with errno. It can be waited for itself.
int watch_open(void);

/// Watches for input and, with `writes`, for room for output. 0, or -1 with errno.
int watch_add(int watch, int descriptor, uint64_t token, int writes);

int watch_remove(int watch, int descriptor);

int watch_change(int watch, int descriptor, uint64_t token, int writes);

/// Waits for at most so many milliseconds, -1 for ever. How many events there are, 0 also where a signal came.
int watch_wait(int watch, struct watched *events, int count, int milliseconds);
