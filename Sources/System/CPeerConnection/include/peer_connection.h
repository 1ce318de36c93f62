#pragma once
// WebRTC's peer connection over GStreamer's webrtcbin: sections by numbers, frames in and out. One thread uses a peer connection at a
// time; what is told comes on threads of GStreamer's.
#include "media.h"
#include <stddef.h>

struct peer;

enum peer_ice_state { PEER_ICE_CHECKING, PEER_ICE_CONNECTED, PEER_ICE_DISCONNECTED, PEER_ICE_FAILED };

struct peer_listener {
  void *context;
  void (*ice_changed)(void *context, enum peer_ice_state state);
  /// A candidate of ours, for the section at that place.
  void (*candidate_found)(void *context, uint32_t line, const char *candidate);
  /// Media arrives in a section. What is returned takes it from then on.
  struct media_taker (*track_arrived)(void *context, const char *mid, int is_audio);
  /// It cannot go on.
  void (*failed)(void *context, const char *trouble);
};

/// - relays: TURN servers as `turn://name:password@host:port`, ended by NULL; stun: `stun://host:port` or NULL.
/// NULL where webrtcbin is not installed.
struct peer *peer_open(const char *stun, const char *const *relays, struct peer_listener listener);

/// Nothing is called once it has returned. Not to be called from a listener or taker.
void peer_close(struct peer *peer);

/// Sections that were ever made; they are not used twice.
int peer_section_count(const struct peer *peer);

/// A section that sends: 0, or -1.
int peer_send(struct peer *peer, uint32_t section, int is_audio, uint32_t bits_per_second);
/// A section that only receives: 0, or -1.
int peer_receive(struct peer *peer, uint32_t section, int is_audio);
/// Nothing is coded any more. Its direction stays: webrtcbin cannot change one, so descriptions have to say it.
void peer_stop(struct peer *peer, uint32_t section);

/// Makes a description and sets it. Its text, to be freed, or NULL.
char *peer_describe(struct peer *peer, int is_offer);
/// 0, or -1.
int peer_set_remote(struct peer *peer, int is_offer, const char *sdp);
/// What may arrive: the SSRCs that the remote description names, or whatever comes. Packets of others are dropped from now on.
void peer_expect(struct peer *peer, const uint32_t *ssrcs, size_t count);
void peer_expect_any(struct peer *peer);
void peer_add_candidate(struct peer *peer, uint32_t line, const char *candidate);
/// The name of a section in descriptions, to be freed; NULL before it is in one.
char *peer_mid(struct peer *peer, uint32_t section);

/// One picture, or one piece of sound, for a section that sends. What is older than the last one, or has another form, is dropped.
void peer_push_picture(struct peer *peer, uint32_t section, const struct media_picture *picture);
void peer_push_sound(struct peer *peer, uint32_t section, const struct media_sound *sound);
