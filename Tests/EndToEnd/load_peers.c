// Peers of a media server, many in one process: ICE, DTLS-SRTP (libsrtp2), a publisher's packets, a subscriber's reports.
// They share nothing with Martlet's own code, so that every server is measured with the same foreign peers.
//
//   load_peers LOCAL-IP COUNT KILOBITS   prints  FINGERPRINT PORT…  (each peer's socket), then reads lines:
//     peer N controlling|controlled UFRAG PASSWORD REMOTE-UFRAG REMOTE-PASSWORD IP PORT
//     send N AUDIO-TYPE VIDEO-TYPE AUDIO-SSRC VIDEO-SSRC     (video type 0: sound only)
//     crash N                 without a word; N may be another peer then, which its server learns the port of by its checks
//     go PID WARM SECONDS     once all are connected: measures for that long, prints one JSON object and ends
//
// Who sends begins as soon as it is connected.
// A packet's payload has the time at which it was sent. The server's processor time is that of all threads of PID, its allocations are those that
// the file of allocations.c counts, where the environment names one.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <srtp2/srtp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { batch = 64, packet_size = 1100, frames_per_second = 30, buckets = 20000, bucket_us = 10 };

struct source { unsigned type, ssrc; uint16_t sequence; uint32_t timestamp; };
struct received { unsigned ssrc; uint16_t last; int is_known; };

struct peer {
  int fd, is_controlling, is_set, has_check, is_connected;
  char ufrag[64], password[64], remote_ufrag[64], remote_password[64];
  struct sockaddr_in remote;
  double next_check, next_report;
  SSL *ssl;
  BIO *in, *out;
  srtp_t sender, receiver;
  struct source audio, video;
  uint16_t picture;
  struct received streams[8];
  uint64_t packets;
};

static struct peer *peers;
static int count, is_counting, queue;
static struct in_addr local_address;
static SSL_CTX *context;
static uint32_t crc_table[256];
static uint64_t sent, received, gaps, latencies[buckets], bytes_received;

static uint64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
// What the kernel notes of an arrival is by this clock: how long these peers take to read it is not the server's delay.
static uint64_t wall_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static double seconds(void) { return nanoseconds() / 1e9; }

static void fail(const char *what) {
  fprintf(stderr, "load_peers: %s\n", what);
  ERR_print_errors_fp(stderr);
  exit(1);
}

static void put16(uint8_t *p, unsigned v) { p[0] = v >> 8; p[1] = v; }
static void put32(uint8_t *p, uint32_t v) { put16(p, v >> 16); put16(p + 2, v); }
static unsigned get16(const uint8_t *p) { return p[0] << 8 | p[1]; }

// MARK: STUN (RFC 8489), as much of it as ICE needs

static void make_crc_table(void) {
  for (int i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320 ^ c >> 1 : c >> 1;
    crc_table[i] = c;
  }
}

static uint8_t *attribute(uint8_t *at, unsigned type, const void *value, unsigned length) {
  put16(at, type);
  put16(at + 2, length);
  memset(at + 4, 0, (length + 3) & ~3u);
  memcpy(at + 4, value, length);
  return at + 4 + ((length + 3) & ~3u);
}

// MESSAGE-INTEGRITY and FINGERPRINT; then the message goes out.
static void finish(struct peer *p, uint8_t *message, uint8_t *at, const char *password, const struct sockaddr_in *to) {
  uint8_t digest[EVP_MAX_MD_SIZE];
  put16(message + 2, at - message + 24 - 20);
  HMAC(EVP_sha1(), password, strlen(password), message, at - message, digest, NULL);
  at = attribute(at, 0x0008, digest, 20);
  put16(message + 2, at - message + 8 - 20);
  uint32_t crc = ~0u;
  for (uint8_t *b = message; b < at; b++) crc = crc_table[(crc ^ *b) & 255] ^ crc >> 8;
  uint8_t print[4];
  put32(print, ~crc ^ 0x5354554e);
  at = attribute(at, 0x8028, print, 4);
  sendto(p->fd, message, at - message, 0, (const void *)to, sizeof *to);
}

static void check(struct peer *p) {
  uint8_t message[400] = {0}, *at = message + 20;
  char name[140];
  put16(message, 0x0001);
  put32(message + 4, 0x2112A442);
  for (int i = 8; i < 20; i++) message[i] = rand();
  at = attribute(at, 0x0006, name, sprintf(name, "%s:%s", p->remote_ufrag, p->ufrag));
  at = attribute(at, 0x0024, "\x6e\x00\x1e\xff", 4);
  at = attribute(at, p->is_controlling ? 0x802A : 0x8029, "\x00\x00\x00\x00\x00\x00\x00\x4d", 8);
  if (p->is_controlling) at = attribute(at, 0x0025, "", 0);
  finish(p, message, at, p->remote_password, &p->remote);
}

static void answer_check(struct peer *p, const uint8_t *request, const struct sockaddr_in *from) {
  uint8_t message[200] = {0}, mapped[8] = {0, 1};
  put16(message, 0x0101);
  memcpy(message + 4, request + 4, 16);
  put16(mapped + 2, ntohs(from->sin_port) ^ 0x2112);
  put32(mapped + 4, ntohl(from->sin_addr.s_addr) ^ 0x2112A442);
  finish(p, message, attribute(message + 20, 0x0020, mapped, 8), p->password, from);
}

// MARK: DTLS

// One datagram is one BIO write of records that belong together.
static void flush(struct peer *p) {
  uint8_t bytes[16384];
  int length = BIO_read(p->out, bytes, sizeof bytes), start = 0, at = 0;
  while (length > 0 && at + 13 <= length) {
    int record = 13 + get16(bytes + at + 11);
    if (at > start && at + record - start > 1200) {
      sendto(p->fd, bytes + start, at - start, 0, (void *)&p->remote, sizeof p->remote);
      start = at;
    }
    at += record;
  }
  if (at > start) sendto(p->fd, bytes + start, at - start, 0, (void *)&p->remote, sizeof p->remote);
}

static srtp_t make_srtp(int is_gcm, int is_outgoing, const uint8_t *key, const uint8_t *salt) {
  uint8_t both[64];
  srtp_policy_t policy = {0};
  memcpy(both, key, 16);
  memcpy(both + 16, salt, is_gcm ? 12 : 14);
  if (is_gcm) {
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
    srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
  } else {
    srtp_crypto_policy_set_rtp_default(&policy.rtp);
    srtp_crypto_policy_set_rtp_default(&policy.rtcp);
  }
  policy.key = both;
  policy.window_size = 1024;
  policy.ssrc.type = is_outgoing ? ssrc_any_outbound : ssrc_any_inbound;
  srtp_t made;
  if (srtp_create(&made, &policy) != srtp_err_status_ok) fail("srtp_create");
  return made;
}

static void shake_hands(struct peer *p) {
  int result = SSL_do_handshake(p->ssl);
  if (result != 1 && SSL_get_error(p->ssl, result) != SSL_ERROR_WANT_READ) fail("DTLS");
  flush(p);
  if (result != 1) return;
  SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(p->ssl);
  if (!profile) fail("no SRTP profile");
  int is_gcm = profile->id == SRTP_AEAD_AES_128_GCM, salt = is_gcm ? 12 : 14;
  uint8_t keys[64];
  SSL_export_keying_material(p->ssl, keys, 2 * (16 + salt), "EXTRACTOR-dtls_srtp", 19, NULL, 0, 0);
  p->sender = make_srtp(is_gcm, 1, keys, keys + 32);
  p->receiver = make_srtp(is_gcm, 0, keys + 16, keys + 32 + salt);
  p->is_connected = 1;
}

static void begin_dtls(struct peer *p) {
  p->ssl = SSL_new(context);
  p->in = BIO_new(BIO_s_mem());
  p->out = BIO_new(BIO_s_mem());
  BIO_set_mem_eof_return(p->in, -1);
  SSL_set_bio(p->ssl, p->in, p->out);
  SSL_set_options(p->ssl, SSL_OP_NO_QUERY_MTU);
  SSL_set_mtu(p->ssl, 1200);
  SSL_set_connect_state(p->ssl);
  shake_hands(p);
}

static void open_socket(struct peer *p) {
  struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr = local_address};
  int room = 4 << 20;
  p->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt(p->fd, SOL_SOCKET, SO_TIMESTAMPNS, &(int){1}, sizeof(int));
  if (bind(p->fd, (void *)&local, sizeof local)) fail("a socket");
  epoll_ctl(queue, EPOLL_CTL_ADD, p->fd, &(struct epoll_event){.events = EPOLLIN, .data.u32 = p - peers});
}

// Who comes in its place has another port: what the server still sends is for nobody.
static void crash(struct peer *p) {
  if (p->ssl) SSL_free(p->ssl);
  if (p->sender) srtp_dealloc(p->sender);
  if (p->receiver) srtp_dealloc(p->receiver);
  close(p->fd);
  *p = (struct peer){0};
  open_socket(p);
}

static void make_context(char fingerprint[96]) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, (const void *)"peers", -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  X509_sign(certificate, key, EVP_sha256());
  uint8_t digest[EVP_MAX_MD_SIZE];
  unsigned length;
  X509_digest(certificate, EVP_sha256(), digest, &length);
  for (unsigned i = 0, at = 0; i < length; i++) at += sprintf(fingerprint + at, i ? ":%02X" : "%02X", digest[i]);
  context = SSL_CTX_new(DTLS_client_method());
  if (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1) fail("certificate");
  SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80");
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
}

// MARK: Media

static void take_media(struct peer *p, uint8_t *packet, int length, uint64_t arrival) {
  if (!p->receiver) return;
  if (packet[1] >= 192 && packet[1] <= 223) return;
  if (srtp_unprotect(p->receiver, packet, &length) != srtp_err_status_ok) return;
  int at = 12 + 4 * (packet[0] & 15);
  if (packet[0] & 0x10) at += 4 + 4 * get16(packet + at + 2);
  unsigned ssrc = (unsigned)get16(packet + 8) << 16 | get16(packet + 10);
  struct received *stream = p->streams;
  while (stream->is_known && stream->ssrc != ssrc && stream < p->streams + 7) stream++;
  uint16_t sequence = get16(packet + 2);
  if (is_counting) {
    received++;
    p->packets++;
    bytes_received += length;
    if (stream->is_known) gaps += (uint16_t)(sequence - stream->last - 1);
    // A picture's payload begins with VP8's descriptor and header.
    int is_picture = length - at > 200;
    uint64_t sent_at;
    if (length - at >= 12) {
      memcpy(&sent_at, packet + at + (is_picture ? 16 : 0), 8);
      uint64_t took = arrival > sent_at ? (arrival - sent_at) / 1000 / bucket_us : 0;
      latencies[took < buckets ? took : buckets - 1]++;
    }
  }
  *stream = (struct received){.ssrc = ssrc, .last = sequence, .is_known = 1};
}

static uint64_t arrival_of(struct msghdr *header) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    struct timespec t;
    memcpy(&t, CMSG_DATA(c), sizeof t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
  }
  return wall_nanoseconds();
}

static void read_all(struct peer *p) {
  static char control[batch][CMSG_SPACE(sizeof(struct timespec))];
  static uint8_t slab[batch][2048];
  static struct sockaddr_in from[batch];
  for (;;) {
    struct mmsghdr headers[batch] = {0};
    struct iovec vectors[batch];
    for (int i = 0; i < batch; i++) {
      vectors[i] = (struct iovec){slab[i], sizeof slab[i]};
      headers[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1, .msg_name = &from[i], .msg_namelen = sizeof from[i],
                                            .msg_control = control[i], .msg_controllen = sizeof control[i]};
    }
    int found = recvmmsg(p->fd, headers, batch, MSG_DONTWAIT, NULL);
    for (int i = 0; i < found; i++) {
      uint8_t *bytes = slab[i];
      int length = headers[i].msg_len;
      if (length < 12 || !p->is_set) continue;
      if (bytes[0] >= 128) {
        take_media(p, bytes, length, arrival_of(&headers[i].msg_hdr));
      } else if (bytes[0] >= 20 && bytes[0] <= 63) {
        if (!p->ssl || p->is_connected) continue;
        BIO_write(p->in, bytes, length);
        shake_hands(p);
      } else if (get16(bytes) == 0x0001 && length >= 20) {
        answer_check(p, bytes, &from[i]);
      } else if (get16(bytes) == 0x0101 && !p->has_check) {
        p->has_check = 1;
        begin_dtls(p);
      }
    }
    if (found < batch) return;
  }
}

static int seal(struct peer *p, struct source *source, uint8_t *packet, int payload, int is_marked, int stamp_at) {
  packet[0] = 0x80;
  packet[1] = source->type | (is_marked ? 0x80 : 0);
  put16(packet + 2, source->sequence++);
  put32(packet + 4, source->timestamp);
  put32(packet + 8, source->ssrc);
  uint64_t now = wall_nanoseconds();
  memcpy(packet + 12 + stamp_at, &now, 8);
  int length = 12 + payload;
  if (srtp_protect(p->sender, packet, &length) != srtp_err_status_ok) fail("srtp_protect");
  return length;
}

static void send_sound(struct peer *p) {
  uint8_t packet[256] = {0};
  p->audio.timestamp += 960;
  int length = seal(p, &p->audio, packet, 100, 0, 0);
  sendto(p->fd, packet, length, 0, (void *)&p->remote, sizeof p->remote);
  sent += is_counting;
}

// Every ninetieth frame is a key frame; a subscriber's picture begins with one. VP8's descriptor: RFC 7741.
static void send_picture(struct peer *p, int packets) {
  static uint8_t slab[batch][packet_size + 64];
  struct mmsghdr headers[batch] = {0};
  struct iovec vectors[batch];
  int is_key = p->picture % 90 == 0;
  p->video.timestamp += 90000 / frames_per_second;
  for (int i = 0; i < packets; i++) {
    uint8_t *payload = slab[i] + 12;
    memset(payload, 0, packet_size);
    payload[0] = i == 0 ? 0x90 : 0x80;
    payload[1] = 0x80;
    put16(payload + 2, 0x8000 | (p->picture & 0x7FFF));
    payload[4] = i == 0 ? !is_key : 5;
    if (i == 0 && is_key) memcpy(payload + 7, "\x9d\x01\x2a\x80\x02\xe0\x01", 7);
    vectors[i] = (struct iovec){slab[i], seal(p, &p->video, slab[i], packet_size, i == packets - 1, 16)};
    headers[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1, .msg_name = &p->remote, .msg_namelen = sizeof p->remote};
  }
  for (int done = 0; done < packets;) {
    int now = sendmmsg(p->fd, headers + done, packets - done, 0);
    if (now < 0 && errno != EAGAIN && errno != EINTR) fail(strerror(errno));
    if (now > 0) done += now;
  }
  p->picture++;
  if (is_counting) sent += packets;
}

// A report of what was received: RFC 3550, section 6.4.2.
static void report(struct peer *p) {
  uint8_t packet[512] = {0};
  int blocks = 0;
  for (struct received *stream = p->streams; stream < p->streams + 8 && stream->is_known; stream++, blocks++) {
    put32(packet + 8 + 24 * blocks, stream->ssrc);
    put16(packet + 8 + 24 * blocks + 10, stream->last);
  }
  packet[0] = 0x80 | blocks;
  packet[1] = 201;
  put16(packet + 2, 1 + 6 * blocks);
  put32(packet + 4, 90000 + (p - peers));
  int length = 8 + 24 * blocks;
  if (srtp_protect_rtcp(p->sender, packet, &length) == srtp_err_status_ok)
    sendto(p->fd, packet, length, 0, (void *)&p->remote, sizeof p->remote);
}

// MARK: The server

// Nanoseconds that all threads of a process have had a processor.
static double processor_time(int pid) {
  char path[400];
  double total = 0;
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *folder = opendir(path);
  if (!folder) fail("no such process");
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, entry->d_name);
    FILE *file = fopen(path, "r");
    double time;
    if (file && fscanf(file, "%lf", &time) == 1) total += time;
    if (file) fclose(file);
  }
  closedir(folder);
  return total;
}

static uint64_t allocations(void) {
  const char *path = getenv("ALLOCATIONS");
  FILE *file = path ? fopen(path, "rb") : NULL;
  uint64_t made = 0;
  if (file && fread(&made, sizeof made, 1, file) != 1) fail("no count of allocations");
  if (file) fclose(file);
  return made;
}

static double percentile(double share) {
  uint64_t total = 0, sum = 0;
  for (int i = 0; i < buckets; i++) total += latencies[i];
  for (int i = 0; i < buckets; i++) if ((sum += latencies[i]) >= share * total) return (i + 1) * bucket_us / 1000.0;
  return buckets * bucket_us / 1000.0;
}

int main(int argc, char **argv) {
  if (argc != 4) fail("load_peers LOCAL-IP COUNT KILOBITS");
  count = atoi(argv[2]);
  int per_frame = atof(argv[3]) * 1000 / 8 / frames_per_second / packet_size + 0.5;
  if (per_frame > batch) fail("too many kilobits");
  peers = calloc(count, sizeof *peers);
  make_crc_table();
  srtp_init();
  char fingerprint[100];
  make_context(fingerprint);
  queue = epoll_create1(0);
  if (inet_pton(AF_INET, argv[1], &local_address) != 1) fail(argv[1]);
  printf("%s", fingerprint);
  for (struct peer *p = peers; p < peers + count; p++) {
    struct sockaddr_in local;
    socklen_t length = sizeof local;
    open_socket(p);
    if (getsockname(p->fd, (void *)&local, &length)) fail("a socket's address");
    printf(" %d", ntohs(local.sin_port));
  }
  printf("\n");
  fflush(stdout);
  epoll_ctl(queue, EPOLL_CTL_ADD, 0, &(struct epoll_event){.events = EPOLLIN, .data.u32 = count});

  int pid = 0, are_all_there = 0;
  double warm = 0, span = 0, begin = seconds(), asked = 0, started = 0, counted_from = 0, next_frame = begin, next_sound = begin, next_round = 0, used = 0;
  uint64_t made = 0;
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(queue, events, 256, 1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.u32 < (unsigned)count) { read_all(&peers[events[i].data.u32]); continue; }
      static char text[1 << 16];
      static int length;
      int more = read(0, text + length, sizeof text - 1 - length);
      if (more <= 0) { epoll_ctl(queue, EPOLL_CTL_DEL, 0, NULL); continue; }
      text[length += more] = 0;
      char *line = text, *end;
      for (; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        struct peer p = {0};
        char role[20], ip[20];
        int n, port;
        struct source audio = {0}, video = {0};
        if (sscanf(line, "peer %d %19s %63s %63s %63s %63s %19s %d", &n, role, p.ufrag, p.password, p.remote_ufrag, p.remote_password, ip, &port) == 8) {
          p.fd = peers[n].fd;
          p.is_controlling = !strcmp(role, "controlling");
          p.is_set = 1;
          p.remote = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
          inet_pton(AF_INET, ip, &p.remote.sin_addr);
          peers[n] = p;
        } else if (sscanf(line, "crash %d", &n) == 1) {
          crash(&peers[n]);
        } else if (sscanf(line, "send %d %u %u %u %u", &n, &audio.type, &video.type, &audio.ssrc, &video.ssrc) == 5) {
          peers[n].audio = audio;
          peers[n].video = video;
        } else if (sscanf(line, "go %d %lf %lf", &pid, &warm, &span) == 3) {
          asked = seconds();
        } else {
          fail(line);
        }
      }
      length -= line - text;
      memmove(text, line, length + 1);
    }
    double now = seconds();
    if (now >= next_round) {
      next_round = now + 0.02;
      int known = 0, connected = 0, begun = 0;
      for (struct peer *p = peers; p < peers + count; p++) {
        known += p->is_set;
        connected += p->is_connected;
        if (!p->is_set || (!p->has_check && begun++ >= 40)) continue;
        if (now >= p->next_check) {
          p->next_check = now + (p->has_check ? 2.5 : 0.1);
          check(p);
        }
        if (p->ssl && !p->is_connected) { DTLSv1_handle_timeout(p->ssl); flush(p); }
        if (p->is_connected && now >= p->next_report) { p->next_report = now + 1; report(p); }
      }
      if (!are_all_there && pid && connected == known) {
        are_all_there = 1;
        started = now;
      }
      if (!are_all_there && pid && now - asked > 60) { fprintf(stderr, "load_peers: %d of %d connected\n", connected, known); return 1; }
    }
    if (now >= next_sound) {
      next_sound += 0.02;
      for (struct peer *p = peers; p < peers + count; p++) if (p->is_connected && p->audio.type) send_sound(p);
    }
    if (now >= next_frame) {
      next_frame += 1.0 / frames_per_second;
      for (struct peer *p = peers; p < peers + count; p++) if (p->is_connected && p->video.type) send_picture(p, per_frame);
    }
    if (!are_all_there) continue;
    if (!is_counting && now - started > warm) {
      is_counting = 1;
      counted_from = now;
      used = processor_time(pid);
      made = allocations();
    }
    if (!is_counting || now - counted_from < span) continue;
    used = processor_time(pid) - used;
    made = allocations() - made;
    span = now - counted_from;
    int starved = 0;
    for (struct peer *p = peers; p < peers + count; p++) starved += p->is_set && !p->audio.type && p->packets == 0;
    printf("{\"sent\": %lu, \"received\": %lu, \"gaps\": %lu, \"seconds\": %.3f, \"cpu_ns\": %.0f, \"mbps\": %.1f, "
           "\"latency_median_ms\": %.2f, \"latency_p99_ms\": %.2f, \"starved\": %d, \"allocations\": %lu}\n",
           sent, received, gaps, span, used, bytes_received * 8 / span / 1e6, percentile(0.5), percentile(0.99), starved, made);
    return 0;
  }
}
