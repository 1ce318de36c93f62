#include "capture.h"
#include "frames.h"
#include <string.h>

struct capture {
  GstElement *pipeline;
  void *context;
  void (*ended)(void *context, const char *trouble);
  gint has_ended;
};

static const char *const needed[] = {"webrtcbin", "nicesrc",  "dtlsdec",   "srtpdec",     "rtpbin",       "appsrc",       "vp8enc",
                                     "vp8dec",    "rtpvp8pay", "opusenc",   "opusdec",     "rtpopuspay",   "videoconvert", "audioconvert",
                                     "audioresample"};

const char *media_start(void) {
  if (!gst_init_check(NULL, NULL, NULL)) return "gstreamer";
  for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
    GstElementFactory *factory = gst_element_factory_find(needed[i]);
    if (!factory) return needed[i];
    gst_object_unref(factory);
  }
  return NULL;
}

static GstBusSyncReply heard(GstBus *bus, GstMessage *message, gpointer context) {
  (void)bus;
  struct capture *capture = context;
  GstMessageType type = GST_MESSAGE_TYPE(message);
  if ((type == GST_MESSAGE_EOS || type == GST_MESSAGE_ERROR) && g_atomic_int_compare_and_exchange(&capture->has_ended, 0, 1)) {
    GError *error = NULL;
    if (type == GST_MESSAGE_ERROR) gst_message_parse_error(message, &error, NULL);
    capture->ended(capture->context, error ? error->message : NULL);
    g_clear_error(&error);
  }
  gst_message_unref(message);
  return GST_BUS_DROP;
}

struct capture *capture_open(
    const char *description, int is_audio, struct media_taker taker, void (*ended)(void *context, const char *trouble), char **trouble) {
  GError *error = NULL;
  char *whole = g_strconcat(description, " ! ", is_audio ? FRAMES_SOUND_END : FRAMES_PICTURE_END, NULL);
  GstElement *pipeline = gst_parse_launch_full(whole, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_free(whole);
  if (!pipeline || error || !GST_IS_PIPELINE(pipeline) || !frames_hand_on(GST_BIN(pipeline), is_audio, taker)) {
    *trouble = strdup(error ? error->message : "no such pipeline");
    g_clear_error(&error);
    if (pipeline) gst_object_unref(pipeline);
    return NULL;
  }
  struct capture *capture = g_new0(struct capture, 1);
  *capture = (struct capture){pipeline, taker.context, ended, 0};
  frames_use_monotonic_clock(pipeline);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, heard, capture, NULL);
  gst_object_unref(bus);
  if (gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    *trouble = strdup("it cannot be opened");
    capture_close(capture);
    return NULL;
  }
  return capture;
}

void capture_close(struct capture *capture) {
  g_atomic_int_set(&capture->has_ended, 1);
  gst_element_set_state(capture->pipeline, GST_STATE_NULL);
  GstBus *bus = gst_element_get_bus(capture->pipeline);
  gst_bus_set_sync_handler(bus, NULL, NULL, NULL);
  gst_object_unref(bus);
  gst_object_unref(capture->pipeline);
  g_free(capture);
}
