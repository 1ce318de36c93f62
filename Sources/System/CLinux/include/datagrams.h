#pragma once
// UDP in batches: recvmmsg, sendmmsg and segmentation offload are not in the Glibc module. An IPv4 address stands as IPv6 does
// for it (::ffff:a.b.c.d), so one socket serves both families.
#include <stdint.h>

/// One datagram, or several of equal length (the last may be shorter) when `segment_bytes` is not 0.
struct datagram {
  uint8_t *bytes;
  uint32_t count;
  uint16_t segment_bytes;
  uint16_t port;
  uint64_t address_high;
  uint64_t address_low;
};

/// A bound, non-blocking UDP socket for both families, or for IPv4 only where the system has no IPv6. The address is as in
/// `datagram`; `*port` is the port wanted, 0 for any, and then the port that it has. The descriptor, or -1 with errno.
int datagrams_open(uint64_t address_high, uint64_t address_low, uint16_t *port, int buffer_bytes);

/// From now on the system may give several datagrams of one sender as one message (UDP_GRO). 0, or -1 with errno where it cannot.
int datagrams_coalesce(int descriptor);

/// Receives up to `count` messages (at most 64), the i-th at `slab + i * stride`, longer ones cut. Each is a datagram or, after
/// `datagrams_coalesce`, several. How many, 0 for none, or -1 with errno.
int datagrams_receive(int descriptor, uint8_t *slab, uint32_t stride, int count, struct datagram *received);

/// Sends from the first on. How many were taken by the system, or -1 with errno when not even the first was.
int datagrams_send(int descriptor, const struct datagram *datagrams, int count);

/// A non-blocking eventfd(2) with O_CLOEXEC. The descriptor, or -1 with errno.
int datagrams_mailbox(void);
