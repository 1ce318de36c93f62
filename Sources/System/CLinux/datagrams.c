#define _GNU_SOURCE 1
#include "datagrams.h"
#include "system_address.h"
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
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { BATCH = 64 };

static int family_of(int descriptor) {
  int family = AF_INET6;
  socklen_t count = sizeof family;
  getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &count);
  return family;
}

static int open_family(int family, uint64_t high, uint64_t low, uint16_t *port, int buffer_bytes) {
  int descriptor = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  take_both_families(descriptor, family);
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  return bind_to(descriptor, family, high, low, port);
}

int datagrams_open(uint64_t high, uint64_t low, uint16_t *port, int buffer_bytes) {
  int descriptor = open_family(AF_INET6, high, low, port, buffer_bytes);
  return descriptor < 0 && is_left_to_v4(high, low) ? open_family(AF_INET, high, low, port, buffer_bytes) : descriptor;
}

int datagrams_coalesce(int descriptor) { return setsockopt(descriptor, SOL_UDP, UDP_GRO, &(int){1}, sizeof(int)); }

// What each of several datagrams in one message has; 0 for one datagram.
static uint16_t segment_of(struct msghdr *header, uint32_t bytes) {
  for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control; control = CMSG_NXTHDR(header, control)) {
    int segment;
    if (control->cmsg_level != SOL_UDP || control->cmsg_type != UDP_GRO) continue;
    if (control->cmsg_len < CMSG_LEN(sizeof segment)) return 0;
    memcpy(&segment, CMSG_DATA(control), sizeof segment);
    return segment > 0 && (uint32_t)segment < bytes && segment <= UINT16_MAX ? (uint16_t)segment : 0;
  }
  return 0;
}

int datagrams_receive(int descriptor, uint8_t *slab, uint32_t stride, int count, struct datagram *received) {
  struct mmsghdr headers[BATCH];
  struct iovec vectors[BATCH];
  struct sockaddr_storage addresses[BATCH];
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
  } controls[BATCH];
  if (count > BATCH) count = BATCH;
  memset(headers, 0, sizeof headers[0] * (size_t)count);
  for (int i = 0; i < count; i++) {
    vectors[i] = (struct iovec){.iov_base = slab + (size_t)i * stride, .iov_len = stride};
    headers[i].msg_hdr = (struct msghdr){
        .msg_iov = &vectors[i], .msg_iovlen = 1, .msg_name = &addresses[i], .msg_namelen = sizeof addresses[i],
        .msg_control = controls[i].bytes, .msg_controllen = sizeof controls[i].bytes};
  }
  int result = recvmmsg(descriptor, headers, (unsigned)count, MSG_DONTWAIT, 0);
  if (result < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
  for (int i = 0; i < result; i++) {
    received[i] = (struct datagram){.bytes = vectors[i].iov_base, .count = headers[i].msg_len};
    received[i].segment_bytes = segment_of(&headers[i].msg_hdr, received[i].count);
    // Of several datagrams the last one is not whole.
    if (received[i].segment_bytes != 0 && headers[i].msg_hdr.msg_flags & MSG_TRUNC)
      received[i].count -= received[i].count % received[i].segment_bytes;
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
