#define _GNU_SOURCE 1
#include "datagrams.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { BATCH = 64 };

static uint64_t load(const uint8_t *bytes) {
  uint64_t number = 0;
  for (int i = 0; i < 8; i++) number = number << 8 | bytes[i];
  return number;
}

static void store(uint8_t *bytes, uint64_t number) {
  for (int i = 7; i >= 0; i--, number >>= 8) bytes[i] = (uint8_t)number;
}

static socklen_t to_system(struct sockaddr_storage *storage, int family, uint64_t high, uint64_t low, uint16_t port) {
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

static void from_system(const struct sockaddr_storage *storage, struct datagram *datagram) {
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

static int family_of(int descriptor) {
  int family = AF_INET6;
  socklen_t count = sizeof family;
  getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &count);
  return family;
}

static int open_family(int family, uint64_t high, uint64_t low, uint16_t *port, int buffer_bytes) {
  int descriptor = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  int no = 0;
  if (family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  struct sockaddr_storage address;
  struct datagram bound;
  socklen_t count = to_system(&address, family, high, low, *port);
  if (bind(descriptor, (struct sockaddr *)&address, count) != 0) goto failed;
  count = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &count) != 0) goto failed;
  from_system(&address, &bound);
  *port = bound.port;
  return descriptor;
failed:;
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

int datagrams_open(uint64_t high, uint64_t low, uint16_t *port, int buffer_bytes) {
  int descriptor = open_family(AF_INET6, high, low, port, buffer_bytes);
  if (descriptor >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)) return descriptor;
  int is_any = high == 0 && low == 0, is_mapped = high == 0 && low >> 32 == 0xFFFF;
  if (!is_any && !is_mapped) return -1;
  return open_family(AF_INET, high, low, port, buffer_bytes);
}

int datagrams_receive(int descriptor, uint8_t *slab, uint32_t stride, int count, struct datagram *received) {
  struct mmsghdr headers[BATCH];
  struct iovec vectors[BATCH];
  struct sockaddr_storage addresses[BATCH];
  if (count > BATCH) count = BATCH;
  memset(headers, 0, sizeof headers[0] * (size_t)count);
  for (int i = 0; i < count; i++) {
    vectors[i] = (struct iovec){.iov_base = slab + (size_t)i * stride, .iov_len = stride};
    headers[i].msg_hdr = (struct msghdr){
        .msg_iov = &vectors[i], .msg_iovlen = 1, .msg_name = &addresses[i], .msg_namelen = sizeof addresses[i]};
  }
  int result = recvmmsg(descriptor, headers, (unsigned)count, MSG_DONTWAIT, 0);
  if (result < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
  for (int i = 0; i < result; i++) {
    received[i] = (struct datagram){.bytes = vectors[i].iov_base, .count = headers[i].msg_len};
    from_system(&addresses[i], &received[i]);
  }
  return result;
}

int datagrams_send(int descriptor, const struct datagram *datagrams, int count) {
  struct mmsghdr headers[BATCH];
  struct iovec vectors[BATCH];
  struct sockaddr_storage addresses[BATCH];
  union {
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr aligned;
  } controls[BATCH];
  int family = family_of(descriptor), done = 0;
  while (done < count) {
    int run = count - done < BATCH ? count - done : BATCH;
    memset(headers, 0, sizeof headers[0] * (size_t)run);
    for (int i = 0; i < run; i++) {
      const struct datagram *datagram = datagrams + done + i;
      vectors[i] = (struct iovec){.iov_base = datagram->bytes, .iov_len = datagram->count};
      struct msghdr *header = &headers[i].msg_hdr;
      header->msg_namelen =
          to_system(&addresses[i], family, datagram->address_high, datagram->address_low, datagram->port);
      header->msg_name = &addresses[i];
      header->msg_iov = &vectors[i];
      header->msg_iovlen = 1;
      if (datagram->segment_bytes == 0 || datagram->count <= datagram->segment_bytes) continue;
      header->msg_control = controls[i].bytes;
      header->msg_controllen = sizeof controls[i].bytes;
      struct cmsghdr *control = CMSG_FIRSTHDR(header);
      control->cmsg_level = SOL_UDP;
      control->cmsg_type = UDP_SEGMENT;
      control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
      memcpy(CMSG_DATA(control), &datagram->segment_bytes, sizeof(uint16_t));
    }
    int result = sendmmsg(descriptor, headers, (unsigned)run, 0);
    if (result < 0) {
      if (errno == EINTR) continue;
      return done > 0 ? done : -1;
    }
    done += result;
  }
  return done;
}

int datagrams_mailbox(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
