#include "frames.h"
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>
#include <string.h>

enum { PICTURE_SIDE_LIMIT = 8192, SOUND_COUNT_LIMIT = 48000 };

struct end {
  struct media_taker taker;
  gboolean is_audio;
};

// The instant of a buffer by the clock, in microseconds.
static gint64 microseconds(GstAppSink *sink, GstSample *sample, GstBuffer *buffer) {
  GstClockTime time = GST_BUFFER_PTS(buffer);
  if (GST_CLOCK_TIME_IS_VALID(time)) time = gst_segment_to_running_time(gst_sample_get_segment(sample), GST_FORMAT_TIME, time);
  GstClockTime base = gst_element_get_base_time(GST_ELEMENT(sink));
  if (!GST_CLOCK_TIME_IS_VALID(time) || !GST_CLOCK_TIME_IS_VALID(base)) return g_get_monotonic_time();
  return (gint64)((base + time) / 1000);
}

static void hand_picture(const struct end *end, GstAppSink *sink, GstSample *sample, GstBuffer *buffer) {
  GstVideoInfo form;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&form, gst_sample_get_caps(sample)) || GST_VIDEO_INFO_FORMAT(&form) != GST_VIDEO_FORMAT_I420) return;
  if (!gst_video_frame_map(&frame, &form, buffer, GST_MAP_READ)) return;
  struct media_picture picture = {
      .width = GST_VIDEO_FRAME_WIDTH(&frame), .height = GST_VIDEO_FRAME_HEIGHT(&frame), .microseconds = microseconds(sink, sample, buffer)};
  for (int i = 0; i < 3; i++) {
    picture.planes[i] = GST_VIDEO_FRAME_PLANE_DATA(&frame, i);
    picture.strides[i] = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i);
  }
  end->taker.picture(end->taker.context, &picture);
  gst_video_frame_unmap(&frame);
}

static void hand_sound(const struct end *end, GstAppSink *sink, GstSample *sample, GstBuffer *buffer) {
  GstMapInfo map;
  int channels = 0;
  gst_structure_get_int(gst_caps_get_structure(gst_sample_get_caps(sample), 0), "channels", &channels);
  if (channels < 1 || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return;
  struct media_sound sound = {
      .samples = (const int16_t *)map.data, .count = (int32_t)(map.size / 2 / (gsize)channels), .channels = channels,
      .microseconds = microseconds(sink, sample, buffer)};
  end->taker.sound(end->taker.context, &sound);
  gst_buffer_unmap(buffer, &map);
}

static GstFlowReturn hand(GstAppSink *sink, gpointer context) {
  const struct end *end = context;
  GstSample *sample = gst_app_sink_try_pull_sample(sink, 0);
  if (!sample) return GST_FLOW_OK;
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  if (buffer && gst_sample_get_caps(sample)) {
    if (end->is_audio) hand_sound(end, sink, sample, buffer);
    else hand_picture(end, sink, sample, buffer);
  }
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

gboolean frames_hand_on(GstBin *bin, gboolean is_audio, struct media_taker taker) {
  GstElement *sink = gst_bin_get_by_name(bin, "out");
  if (!sink) return FALSE;
  struct end *end = g_new0(struct end, 1);
  *end = (struct end){taker, is_audio};
  GstAppSinkCallbacks callbacks = {.new_sample = hand};
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, end, g_free);
  gst_object_unref(sink);
  return TRUE;
}

static GstSample *sample_of(GstBuffer *buffer, GstCaps *caps) {
  GstSample *sample = gst_sample_new(buffer, caps, NULL, NULL);
  gst_buffer_unref(buffer);
  gst_caps_unref(caps);
  return sample;
}

// FALSE before the pipeline began.
static gboolean set_time(GstBuffer *buffer, gint64 microseconds, GstClockTime base_time) {
  if (microseconds < 0 || microseconds > G_MAXINT64 / 1000 || (GstClockTime)microseconds * 1000 < base_time) return FALSE;
  GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = (GstClockTime)microseconds * 1000 - base_time;
  return TRUE;
}

GstSample *frames_of_picture(const struct media_picture *picture, GstClockTime base_time) {
  if (picture->width < 1 || picture->height < 1 || picture->width > PICTURE_SIDE_LIMIT || picture->height > PICTURE_SIDE_LIMIT) return NULL;
  GstVideoInfo form;
  gst_video_info_set_format(&form, GST_VIDEO_FORMAT_I420, (guint)picture->width, (guint)picture->height);
  // The rate of frames is whatever their times say.
  form.fps_n = 0;
  form.fps_d = 1;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&form), NULL);
  GstVideoFrame frame;
  if (!buffer) return NULL;
  if (!set_time(buffer, picture->microseconds, base_time) || !gst_video_frame_map(&frame, &form, buffer, GST_MAP_WRITE)) {
    gst_buffer_unref(buffer);
    return NULL;
  }
  for (int i = 0; i < 3; i++) {
    guint8 *to = GST_VIDEO_FRAME_PLANE_DATA(&frame, i);
    for (int row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, i); row++)
      memcpy(to + (gsize)row * (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i),
             picture->planes[i] + (gsize)row * (gsize)picture->strides[i], (gsize)GST_VIDEO_FRAME_COMP_WIDTH(&frame, i));
  }
  gst_video_frame_unmap(&frame);
  return sample_of(buffer, gst_video_info_to_caps(&form));
}

GstSample *frames_of_sound(const struct media_sound *sound, GstClockTime base_time) {
  if (sound->count < 1 || sound->count > SOUND_COUNT_LIMIT || sound->channels < 1 || sound->channels > 2) return NULL;
  gsize bytes = (gsize)sound->count * (gsize)sound->channels * 2;
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, bytes, NULL);
  if (!buffer) return NULL;
  if (!set_time(buffer, sound->microseconds, base_time)) {
    gst_buffer_unref(buffer);
    return NULL;
  }
  gst_buffer_fill(buffer, 0, sound->samples, bytes);
  GST_BUFFER_DURATION(buffer) = gst_util_uint64_scale((guint64)sound->count, GST_SECOND, 48000);
  GstCaps *caps = gst_caps_new_simple(
      "audio/x-raw", "format", G_TYPE_STRING, "S16LE", "layout", G_TYPE_STRING, "interleaved", "rate", G_TYPE_INT, 48000, "channels",
      G_TYPE_INT, sound->channels, NULL);
  return sample_of(buffer, caps);
}

void frames_use_monotonic_clock(GstElement *pipeline) {
  // GStreamer's own clock is CLOCK_MONOTONIC unless somebody has changed that; a device's clock would be another.
  GstClock *clock = gst_system_clock_obtain();
  gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
  gst_object_unref(clock);
}
