#pragma once
// An address of the system's, and the form that it has in `struct datagram`.
#include "datagrams.h"
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline uint64_t load(const uint8_t *bytes) {
  uint64_t number = 0;
  for (int i = 0; i < 8; i++) number = number << 8 | bytes[i];
  return number;
}

static inline void store(uint8_t *bytes, uint64_t number) {
  for (int i = 7; i >= 0; i--, number >>= 8) bytes[i] = (uint8_t)number;
}

static inline socklen_t to_system(struct sockaddr_storage *storage, int family, uint64_t high, uint64_t low, uint16_t port) {
  if (family == AF_INET) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
    memset(v4, 0, sizeof *v4);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    v4->sin_addr.s_addr = htonl((uint32_t)low);
    return sizeof *v4;
  }
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;
  memset(v6, 0, sizeof *v6);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  store(v6->sin6_addr.s6_addr, high);
  store(v6->sin6_addr.s6_addr + 8, low);
  return sizeof *v6;
}

static inline void from_system(const struct sockaddr_storage *storage, struct datagram *datagram) {
  if (storage->ss_family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)storage;
    datagram->address_high = 0;
    datagram->address_low = 0xFFFF00000000ull | ntohl(v4->sin_addr.s_addr);
    datagram->port = ntohs(v4->sin_port);
    return;
  }
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)storage;
  datagram->address_high = load(v6->sin6_addr.s6_addr);
  datagram->address_low = load(v6->sin6_addr.s6_addr + 8);
  datagram->port = ntohs(v6->sin6_port);
}

// Both families where it can. Before `bind_to`.
static inline void take_both_families(int descriptor, int family) {
  int no = 0;
  if (family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
}

// The descriptor with its port told, or closed and -1 with errno.
static inline int bind_to(int descriptor, int family, uint64_t high, uint64_t low, uint16_t *port) {
  struct sockaddr_storage address;
  struct datagram bound;
  socklen_t count = to_system(&address, family, high, low, *port);
  if (bind(descriptor, (struct sockaddr *)&address, count) == 0) {
    count = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &count) == 0) {
      from_system(&address, &bound);
      *port = bound.port;
      return descriptor;
    }
  }
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

// Whether a socket that IPv6 could not have, by errno, may be one of IPv4.
static inline int is_left_to_v4(uint64_t high, uint64_t low) {
  if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL) return 0;
  int is_any = high == 0 && low == 0, is_mapped = high == 0 && low >> 32 == 0xFFFF;
  return is_any || is_mapped;
}
