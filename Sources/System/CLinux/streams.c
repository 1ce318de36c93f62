#define _GNU_SOURCE 1
#include "streams.h"
#include "system_address.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { BATCH = 64, BACKLOG = 256 };

static int listen_family(int family, uint64_t high, uint64_t low, uint16_t *port) {
  int descriptor = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  int yes = 1;
  take_both_families(descriptor, family);
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind_to(descriptor, family, high, low, port) < 0) return -1;
  if (listen(descriptor, BACKLOG) == 0) return descriptor;
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

int streams_listen(uint64_t high, uint64_t low, uint16_t *port) {
  int descriptor = listen_family(AF_INET6, high, low, port);
  return descriptor < 0 && is_left_to_v4(high, low) ? listen_family(AF_INET, high, low, port) : descriptor;
}

int streams_accept(int listener, struct datagram *from) {
  struct sockaddr_storage address;
  socklen_t count = sizeof address;
  int descriptor = accept4(listener, (struct sockaddr *)&address, &count, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) return -1;
  int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  from_system(&address, from);
  return descriptor;
}

int watch_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int watch, int operation, int descriptor, uint64_t token, int writes) {
  struct epoll_event event = {.events = EPOLLIN | (writes ? EPOLLOUT : 0), .data.u64 = token};
  return epoll_ctl(watch, operation, descriptor, &event);
}

int watch_add(int watch, int descriptor, uint64_t token, int writes) {
  return control(watch, EPOLL_CTL_ADD, descriptor, token, writes);
}

int watch_change(int watch, int descriptor, uint64_t token, int writes) {
  return control(watch, EPOLL_CTL_MOD, descriptor, token, writes);
}

int watch_remove(int watch, int descriptor) { return epoll_ctl(watch, EPOLL_CTL_DEL, descriptor, NULL); }

int watch_wait(int watch, struct watched *events, int count, int milliseconds) {
  struct epoll_event found[BATCH];
  int result = epoll_wait(watch, found, count < BATCH ? count : BATCH, milliseconds);
  for (int i = 0; i < result; i++) {
    // A connection that is over is noticed by reading it.
    int is_over = (found[i].events & (EPOLLERR | EPOLLHUP)) != 0;
    events[i] = (struct watched){
        .token = found[i].data.u64,
        .can_read = is_over || (found[i].events & EPOLLIN) != 0,
        .can_write = (found[i].events & EPOLLOUT) != 0};
  }
  return result < 0 ? 0 : result;
}
