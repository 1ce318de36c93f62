// For the flags of interfaces.
#define _GNU_SOURCE
#include "frames.h"
#include "peer_connection.h"
#include <arpa/inet.h>
#include <gst/app/gstappsrc.h>
#include <gst/sdp/gstsdpmessage.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

// GStreamer's library for WebRTC has its header in a package that drags in hundreds of others. What is needed of it is one boxed type,
// which is known by its name once webrtcbin is loaded, and the numbers of its enumerations, which never change.
struct description {
  int type;
  GstSDPMessage *sdp;
};
enum { OFFER = 1, ANSWER = 3 };
enum { SENDONLY = 2, RECVONLY = 3 };

#define MID_EXTENSION "extmap-1=(string)urn:ietf:params:rtp-hdrext:sdes:mid"
#define FEEDBACK \
  "rtcp-fb-nack-pli=(boolean)true,rtcp-fb-transport-cc=(boolean)true," \
  "extmap-3=(string)http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01,"

struct section {
  uint32_t number;
  gboolean is_audio;
  GObject *transceiver;
  int direction;
  gboolean is_stopped;
  // Of one that sends.
  GstElement *chain;
  GstAppSrc *source;
  GstClockTime last;
};

struct peer {
  GstElement *pipeline;
  GstElement *webrtc;
  GArray *sections;
  struct peer_listener listener;
  gint has_failed;
  GMutex lock;
  // The SSRCs that are expected; NULL while it is not known which will come. Under `lock`, as it is read where packets arrive.
  GHashTable *described;
};

// MARK: What is told

static void ice_changed(GObject *webrtc, GParamSpec *property, gpointer context) {
  (void)property;
  struct peer *peer = context;
  // GstWebRTCICEConnectionState: new, checking, connected, completed, failed, disconnected, closed.
  static const int states[] = {-1, PEER_ICE_CHECKING, PEER_ICE_CONNECTED, PEER_ICE_CONNECTED, PEER_ICE_FAILED, PEER_ICE_DISCONNECTED, -1};
  int state = 0;
  g_object_get(webrtc, "ice-connection-state", &state, NULL);
  if (state >= 0 && state < (int)G_N_ELEMENTS(states) && states[state] >= 0)
    peer->listener.ice_changed(peer->listener.context, (enum peer_ice_state)states[state]);
}

static void candidate_found(GstElement *webrtc, guint line, gchar *candidate, gpointer context) {
  (void)webrtc;
  struct peer *peer = context;
  if (candidate) peer->listener.candidate_found(peer->listener.context, line, candidate);
}

static GstBusSyncReply heard(GstBus *bus, GstMessage *message, gpointer context) {
  (void)bus;
  struct peer *peer = context;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && g_atomic_int_compare_and_exchange(&peer->has_failed, 0, 1)) {
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    peer->listener.failed(peer->listener.context, error ? error->message : "");
    g_clear_error(&error);
  }
  gst_message_unref(message);
  return GST_BUS_DROP;
}

// MARK: What arrives

static const char *decoder(const char *encoding) {
  if (!g_ascii_strcasecmp(encoding, "VP8"))
    return "rtpvp8depay request-keyframe=true wait-for-keyframe=true ! vp8dec ! " FRAMES_PICTURE_END;
  if (!g_ascii_strcasecmp(encoding, "VP9"))
    return "rtpvp9depay request-keyframe=true wait-for-keyframe=true ! vp9dec ! " FRAMES_PICTURE_END;
  if (!g_ascii_strcasecmp(encoding, "OPUS")) return "rtpopusdepay ! opusdec plc=true ! " FRAMES_SOUND_END;
  return "fakesink sync=false async=false";
}

static void join(struct peer *peer, GstElement *element, GstPad *pad) {
  gst_bin_add(GST_BIN(peer->pipeline), element);
  gst_element_sync_state_with_parent(element);
  GstPad *entrance = gst_element_get_static_pad(element, "sink");
  gst_pad_link(pad, entrance);
  gst_object_unref(entrance);
}

// Before anything flows: a pad without an end would stop the whole transport.
static void pad_added(GstElement *webrtc, GstPad *pad, gpointer context) {
  (void)webrtc;
  struct peer *peer = context;
  if (GST_PAD_DIRECTION(pad) != GST_PAD_SRC) return;
  GstCaps *caps = gst_pad_get_current_caps(pad);
  const GstStructure *form = caps ? gst_caps_get_structure(caps, 0) : NULL;
  const char *kind = form ? gst_structure_get_string(form, "media") : NULL;
  const char *encoding = form ? gst_structure_get_string(form, "encoding-name") : NULL;
  gboolean is_audio = g_strcmp0(kind, "audio") == 0;
  GObject *transceiver = NULL;
  char *mid = NULL;
  g_object_get(pad, "transceiver", &transceiver, NULL);
  if (transceiver) g_object_get(transceiver, "mid", &mid, NULL);
  GstElement *chain = gst_parse_bin_from_description(mid && encoding ? decoder(encoding) : "fakesink sync=false async=false", TRUE, NULL);
  if (chain && mid && encoding) {
    struct media_taker taker = peer->listener.track_arrived(peer->listener.context, mid, is_audio);
    frames_hand_on(GST_BIN(chain), is_audio, taker);
  }
  if (chain) join(peer, chain, pad);
  if (transceiver) {
    g_object_set_data_full(transceiver, "martlet-pad", gst_object_ref(pad), gst_object_unref);
    g_object_unref(transceiver);
  }
  g_free(mid);
  if (caps) gst_caps_unref(caps);
}

// Runs while nothing is in the chain: the decoder goes, and what may still come falls into nothing.
static GstPadProbeReturn replace_chain(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  (void)info;
  struct peer *peer = context;
  GstPad *entrance = gst_pad_get_peer(pad);
  if (!entrance) return GST_PAD_PROBE_REMOVE;
  GstElement *chain = gst_pad_get_parent_element(entrance);
  gst_pad_unlink(pad, entrance);
  gst_object_unref(entrance);
  GstElement *nothing = gst_parse_bin_from_description("fakesink sync=false async=false", TRUE, NULL);
  if (nothing) join(peer, nothing, pad);
  if (chain) {
    gst_element_set_state(chain, GST_STATE_NULL);
    gst_bin_remove(GST_BIN(peer->pipeline), chain);
    gst_object_unref(chain);
  }
  return GST_PAD_PROBE_REMOVE;
}

// MARK: What is not described yet

// The SSRC of an RTP packet, or the sender's of an RTCP sender report; FALSE for all else. RFC 3550 §5.1, §6.4.1; RFC 5761 §4.
static gboolean source_of(GstBuffer *buffer, guint32 *ssrc) {
  guint8 head[12];
  if (gst_buffer_extract(buffer, 0, head, sizeof head) != sizeof head || head[0] >> 6 != 2) return FALSE;
  gboolean is_rtcp = head[1] >= 192 && head[1] <= 223;
  if (is_rtcp && head[1] != 200) return FALSE;
  *ssrc = GST_READ_UINT32_BE(head + (is_rtcp ? 4 : 8));
  return TRUE;
}

static gboolean is_early(struct peer *peer, GstBuffer *buffer) {
  guint32 ssrc;
  if (!source_of(buffer, &ssrc)) return FALSE;
  g_mutex_lock(&peer->lock);
  gboolean is_early = peer->described && !g_hash_table_contains(peer->described, GUINT_TO_POINTER(ssrc));
  g_mutex_unlock(&peer->lock);
  return is_early;
}

static gboolean keep_described(GstBuffer **buffer, guint index, gpointer context) {
  (void)index;
  if (is_early(context, *buffer)) gst_clear_buffer(buffer);
  return TRUE;
}

// Media overtakes the answer that names its SSRC, for the one comes by UDP and the other by a socket. webrtcbin gives an SSRC that it meets in no
// section for good, and its sound or picture would never arrive: such packets are lost, as if they had come before we were there.
static GstPadProbeReturn drop_early(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
  (void)pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    return is_early(context, GST_PAD_PROBE_INFO_BUFFER(info)) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
  gst_buffer_list_foreach(list, keep_described, context);
  info->data = list;
  return gst_buffer_list_length(list) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

static void session_pad_added(GstElement *session, GstPad *pad, gpointer context) {
  (void)session;
  if (g_str_has_prefix(GST_PAD_NAME(pad), "recv_rtp_sink") || g_str_has_prefix(GST_PAD_NAME(pad), "recv_rtcp_sink"))
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, drop_early, context, NULL);
}

static void set_described(struct peer *peer, GHashTable *sources) {
  g_mutex_lock(&peer->lock);
  GHashTable *before = peer->described;
  peer->described = sources;
  g_mutex_unlock(&peer->lock);
  if (before) g_hash_table_unref(before);
}

// MARK: Life

// libnice checks a path no more once it has one, unless it is told to: then each 25 s, by which servers see that this side is there. RFC 7675.
static void keep_checking(GstElement *webrtc) {
  GObject *agent = NULL, *nice = NULL;
  g_object_get(webrtc, "ice-agent", &agent, NULL);
  if (agent && g_object_class_find_property(G_OBJECT_GET_CLASS(agent), "agent")) g_object_get(agent, "agent", &nice, NULL);
  if (nice && g_object_class_find_property(G_OBJECT_GET_CLASS(nice), "keepalive-conncheck")) g_object_set(nice, "keepalive-conncheck", TRUE, NULL);
  if (nice) g_object_unref(nice);
  if (agent) g_object_unref(agent);
}

// libnice leaves loopback out unless it is told all addresses, and a server on this machine has no other.
static void use_all_addresses(GstElement *webrtc) {
  GObject *agent = NULL;
  struct ifaddrs *first = NULL;
  g_object_get(webrtc, "ice-agent", &agent, NULL);
  if (agent && getifaddrs(&first) == 0) {
    for (struct ifaddrs *each = first; each; each = each->ifa_next) {
      if (!each->ifa_addr || !(each->ifa_flags & IFF_UP)) continue;
      char text[INET6_ADDRSTRLEN] = "";
      if (each->ifa_addr->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((struct sockaddr_in *)each->ifa_addr)->sin_addr, text, sizeof text);
      } else if (each->ifa_addr->sa_family == AF_INET6) {
        const struct in6_addr *address = &((struct sockaddr_in6 *)each->ifa_addr)->sin6_addr;
        // Those of one link need its name as well, and reach nobody else.
        if (!IN6_IS_ADDR_LINKLOCAL(address)) inet_ntop(AF_INET6, address, text, sizeof text);
      }
      gboolean is_added = FALSE;
      if (*text) g_signal_emit_by_name(agent, "add-local-ip-address", text, &is_added);
    }
    freeifaddrs(first);
  }
  if (agent) g_object_unref(agent);
}

struct peer *peer_open(const char *stun, const char *const *relays, struct peer_listener listener) {
  GstElement *webrtc = gst_element_factory_make("webrtcbin", NULL);
  if (!webrtc) return NULL;
  struct peer *peer = g_new0(struct peer, 1);
  peer->listener = listener;
  peer->sections = g_array_new(FALSE, TRUE, sizeof(struct section));
  peer->pipeline = gst_pipeline_new(NULL);
  peer->webrtc = webrtc;
  g_mutex_init(&peer->lock);
  GstElement *session = gst_bin_get_by_name(GST_BIN(webrtc), "rtpbin");
  if (session) {
    g_signal_connect(session, "pad-added", G_CALLBACK(session_pad_added), peer);
    gst_object_unref(session);
  }
  gst_util_set_object_arg(G_OBJECT(webrtc), "bundle-policy", "max-bundle");
  if (stun) g_object_set(webrtc, "stun-server", stun, NULL);
  keep_checking(webrtc);
  use_all_addresses(webrtc);
  for (; relays && *relays; relays++) {
    gboolean is_known = FALSE;
    g_signal_emit_by_name(webrtc, "add-turn-server", *relays, &is_known);
  }
  gst_bin_add(GST_BIN(peer->pipeline), webrtc);
  frames_use_monotonic_clock(peer->pipeline);
  GstBus *bus = gst_element_get_bus(peer->pipeline);
  gst_bus_set_sync_handler(bus, heard, peer, NULL);
  gst_object_unref(bus);
  g_signal_connect(webrtc, "notify::ice-connection-state", G_CALLBACK(ice_changed), peer);
  g_signal_connect(webrtc, "on-ice-candidate", G_CALLBACK(candidate_found), peer);
  g_signal_connect(webrtc, "pad-added", G_CALLBACK(pad_added), peer);
  gst_element_set_state(peer->pipeline, GST_STATE_PLAYING);
  return peer;
}

void peer_close(struct peer *peer) {
  g_atomic_int_set(&peer->has_failed, 1);
  g_signal_handlers_disconnect_by_data(peer->webrtc, peer);
  gst_element_set_state(peer->pipeline, GST_STATE_NULL);
  GstBus *bus = gst_element_get_bus(peer->pipeline);
  gst_bus_set_sync_handler(bus, NULL, NULL, NULL);
  gst_object_unref(bus);
  for (guint i = 0; i < peer->sections->len; i++) {
    struct section *section = &g_array_index(peer->sections, struct section, i);
    if (section->source) gst_object_unref(section->source);
    if (section->transceiver) {
      g_object_set_data(section->transceiver, "martlet-pad", NULL);
      g_object_unref(section->transceiver);
    }
  }
  g_array_unref(peer->sections);
  gst_object_unref(peer->pipeline);
  set_described(peer, NULL);
  g_mutex_clear(&peer->lock);
  g_free(peer);
}

// MARK: Sections

int peer_section_count(const struct peer *peer) { return (int)peer->sections->len; }

static struct section *find(struct peer *peer, uint32_t number) {
  for (guint i = 0; i < peer->sections->len; i++) {
    struct section *section = &g_array_index(peer->sections, struct section, i);
    if (section->number == number) return section;
  }
  return NULL;
}

// One's own SSRC stands in the offer: the router tells streams of one payload type apart by it.
static GstElement *sending_chain(gboolean is_audio, uint32_t bits_per_second) {
  guint32 ssrc = g_random_int_range(1, G_MAXINT32);
  char *text =
      is_audio
          ? g_strdup_printf(
                "appsrc name=in is-live=true format=time leaky-type=downstream max-buffers=50 max-bytes=0 max-time=0 ! "
                "opusenc bitrate=%u inband-fec=true packet-loss-percentage=5 ! rtpopuspay pt=111 ssrc=%u mtu=1200 ! "
                "capsfilter caps=\"application/x-rtp,media=audio,encoding-name=OPUS,payload=111,clock-rate=48000,encoding-params=(string)2,"
                "ssrc=(uint)%u\"",
                bits_per_second, ssrc, ssrc)
          : g_strdup_printf(
                "appsrc name=in is-live=true format=time leaky-type=downstream max-buffers=4 max-bytes=0 max-time=0 ! "
                "vp8enc deadline=1 cpu-used=6 end-usage=cbr target-bitrate=%u keyframe-max-dist=3000 lag-in-frames=0 threads=2 "
                "undershoot=95 buffer-size=600 buffer-initial-size=400 buffer-optimal-size=500 ! "
                "rtpvp8pay pt=96 ssrc=%u mtu=1200 picture-id-mode=15-bit ! "
                "capsfilter caps=\"application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000,ssrc=(uint)%u,"
                "rtcp-fb-nack-pli=(boolean)true\"",
                bits_per_second, ssrc, ssrc);
  GstElement *chain = gst_parse_bin_from_description(text, TRUE, NULL);
  g_free(text);
  return chain;
}

static int add(struct peer *peer, struct section section) {
  if (!section.transceiver) return -1;
  g_object_set(section.transceiver, "direction", section.direction, "do-nack", !section.is_audio, NULL);
  g_array_append_val(peer->sections, section);
  return 0;
}

int peer_send(struct peer *peer, uint32_t number, int is_audio, uint32_t bits_per_second) {
  struct section section = {.number = number, .is_audio = is_audio != 0, .direction = SENDONLY, .last = GST_CLOCK_TIME_NONE};
  if (find(peer, number) || !(section.chain = sending_chain(section.is_audio, bits_per_second))) return -1;
  section.source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(section.chain), "in"));
  gst_bin_add(GST_BIN(peer->pipeline), section.chain);
  GstPad *entrance = gst_element_request_pad_simple(peer->webrtc, "sink_%u");
  GstPad *exit = gst_element_get_static_pad(section.chain, "src");
  if (entrance && exit && gst_pad_link(exit, entrance) == GST_PAD_LINK_OK) g_object_get(entrance, "transceiver", &section.transceiver, NULL);
  if (entrance) gst_object_unref(entrance);
  if (exit) gst_object_unref(exit);
  gst_element_sync_state_with_parent(section.chain);
  if (add(peer, section) == 0) return 0;
  gst_object_unref(section.source);
  return -1;
}

int peer_receive(struct peer *peer, uint32_t number, int is_audio) {
  if (find(peer, number)) return -1;
  struct section section = {.number = number, .is_audio = is_audio != 0, .direction = RECVONLY};
  GstCaps *caps = gst_caps_from_string(
      is_audio ? "application/x-rtp,media=audio,encoding-name=OPUS,payload=111,clock-rate=48000,encoding-params=(string)2," MID_EXTENSION
               : "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000," FEEDBACK MID_EXTENSION
                 ";application/x-rtp,media=video,encoding-name=VP9,payload=98,clock-rate=90000," FEEDBACK MID_EXTENSION);
  g_signal_emit_by_name(peer->webrtc, "add-transceiver", RECVONLY, caps, &section.transceiver);
  gst_caps_unref(caps);
  return add(peer, section);
}

void peer_stop(struct peer *peer, uint32_t number) {
  struct section *section = find(peer, number);
  if (!section || section->is_stopped) return;
  section->is_stopped = TRUE;
  if (section->chain) {
    // It keeps its place, but encodes no more.
    gst_element_set_locked_state(section->chain, TRUE);
    gst_element_set_state(section->chain, GST_STATE_NULL);
    return;
  }
  GstPad *pad = g_object_get_data(section->transceiver, "martlet-pad");
  if (pad) gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_IDLE, replace_chain, peer, NULL);
}

static guint line_of(const struct section *section) {
  guint line = G_MAXUINT;
  g_object_get(section->transceiver, "mlineindex", &line, NULL);
  return line;
}

char *peer_mid(struct peer *peer, uint32_t number) {
  struct section *section = find(peer, number);
  struct description *local = NULL;
  char *copy = NULL;
  if (section) g_object_get(peer->webrtc, "pending-local-description", &local, NULL);
  if (section && !local) g_object_get(peer->webrtc, "current-local-description", &local, NULL);
  if (!local) return NULL;
  guint count = gst_sdp_message_medias_len(local->sdp), line = line_of(section);
  if (line >= count) {
    // A transceiver learns its place only with the answer. Until then the new ones are the last of the offer, in their order.
    guint new_ones_from_here = 0;
    struct section *end = &g_array_index(peer->sections, struct section, peer->sections->len - 1) + 1;
    for (struct section *each = section; each < end; each++) new_ones_from_here += line_of(each) >= count;
    line = count - new_ones_from_here;
  }
  if (line < count) {
    const char *mid = gst_sdp_media_get_attribute_val(gst_sdp_message_get_media(local->sdp, line), "mid");
    copy = mid ? strdup(mid) : NULL;
  }
  g_boxed_free(g_type_from_name("GstWebRTCSessionDescription"), local);
  return copy;
}

// MARK: Descriptions

// Waits for the promise and gives it back. FALSE where it was not kept.
static gboolean is_kept(GstPromise *promise) {
  gboolean is_good = gst_promise_wait(promise) == GST_PROMISE_RESULT_REPLIED;
  const GstStructure *reply = is_good ? gst_promise_get_reply(promise) : NULL;
  return is_good && !(reply && gst_structure_has_field(reply, "error"));
}

static gboolean set_description(struct peer *peer, const char *signal, const struct description *description) {
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(peer->webrtc, signal, description, promise);
  gboolean is_set = is_kept(promise);
  gst_promise_unref(promise);
  return is_set;
}

char *peer_describe(struct peer *peer, int is_offer) {
  GstPromise *promise = gst_promise_new();
  g_signal_emit_by_name(peer->webrtc, is_offer ? "create-offer" : "create-answer", NULL, promise);
  char *text = NULL;
  const struct description *made = NULL;
  if (is_kept(promise)) {
    const GValue *value = gst_structure_get_value(gst_promise_get_reply(promise), is_offer ? "offer" : "answer");
    made = value ? g_value_get_boxed(value) : NULL;
  }
  if (made && set_description(peer, "set-local-description", made)) {
    char *owned = gst_sdp_message_as_text(made->sdp);
    text = owned ? strdup(owned) : NULL;
    g_free(owned);
  }
  gst_promise_unref(promise);
  return text;
}

int peer_set_remote(struct peer *peer, int is_offer, const char *text) {
  GstSDPMessage *sdp = NULL;
  if (gst_sdp_message_new_from_text(text, &sdp) != GST_SDP_OK) {
    if (sdp) gst_sdp_message_free(sdp);
    return -1;
  }
  struct description description = {is_offer ? OFFER : ANSWER, sdp};
  gboolean is_set = set_description(peer, "set-remote-description", &description);
  gst_sdp_message_free(sdp);
  return is_set ? 0 : -1;
}

void peer_expect(struct peer *peer, const uint32_t *ssrcs, size_t count) {
  GHashTable *described = g_hash_table_new(NULL, NULL);
  for (size_t i = 0; i < count; i++) g_hash_table_add(described, GUINT_TO_POINTER(ssrcs[i]));
  set_described(peer, described);
}

void peer_expect_any(struct peer *peer) { set_described(peer, NULL); }

void peer_add_candidate(struct peer *peer, uint32_t line, const char *candidate) {
  g_signal_emit_by_name(peer->webrtc, "add-ice-candidate", line, candidate);
}

// MARK: What is sent

static void push(struct peer *peer, struct section *section, GstSample *sample) {
  GstClockTime time = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
  gboolean is_later = !GST_CLOCK_TIME_IS_VALID(section->last) || time > section->last;
  if (is_later) {
    section->last = time;
    gst_app_src_push_sample(section->source, sample);
  }
  gst_sample_unref(sample);
}

void peer_push_picture(struct peer *peer, uint32_t number, const struct media_picture *picture) {
  struct section *section = find(peer, number);
  if (!section || !section->source || section->is_audio || section->is_stopped) return;
  GstSample *sample = frames_of_picture(picture, gst_element_get_base_time(peer->pipeline));
  if (sample) push(peer, section, sample);
}

void peer_push_sound(struct peer *peer, uint32_t number, const struct media_sound *sound) {
  struct section *section = find(peer, number);
  if (!section || !section->source || !section->is_audio || section->is_stopped) return;
  GstSample *sample = frames_of_sound(sound, gst_element_get_base_time(peer->pipeline));
  if (sample) push(peer, section, sample);
}
