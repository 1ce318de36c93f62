#pragma once
#include "media.h"
#include <gst/gst.h>

/// The end of a pipeline that hands what comes to a taker; in the way of a chain it is named `out`.
#define FRAMES_PICTURE_END \
  "videoconvert ! video/x-raw,format=I420 ! appsink name=out sync=false async=false max-buffers=4 drop=true"
#define FRAMES_SOUND_END \
  "audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2 ! " \
  "appsink name=out sync=false async=false"

/// Has the end of that bin hand what comes to the taker. FALSE where it has none.
gboolean frames_hand_on(GstBin *bin, gboolean is_audio, struct media_taker taker);

/// A buffer with its caps as a sample, or NULL for what has no size. `base_time` is that of the pipeline.
GstSample *frames_of_picture(const struct media_picture *picture, GstClockTime base_time);
GstSample *frames_of_sound(const struct media_sound *sound, GstClockTime base_time);

/// The clock of all pipelines here.
void frames_use_monotonic_clock(GstElement *pipeline);
