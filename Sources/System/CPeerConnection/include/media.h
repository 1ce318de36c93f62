#pragma once
// What pictures and sound look like on their way between Swift and GStreamer. Times are microseconds of CLOCK_MONOTONIC.
#include <stdint.h>

/// A picture as I420: planes of luma, of blue and of red chroma, the latter two of half the width and height, rounded up.
struct media_picture {
  const uint8_t *planes[3];
  /// Bytes from one row to the next.
  int32_t strides[3];
  int32_t width;
  int32_t height;
  int64_t microseconds;
};

/// Sound at 48 kHz: signed 16 bits, the channels of one instant side by side.
struct media_sound {
  const int16_t *samples;
  /// Instants, not numbers.
  int32_t count;
  int32_t channels;
  int64_t microseconds;
};

/// Whoever takes what comes, on a thread of GStreamer's; the pointers are good for the time of the call.
struct media_taker {
  void *context;
  void (*picture)(void *context, const struct media_picture *picture);
  void (*sound)(void *context, const struct media_sound *sound);
};

/// Loads GStreamer, once. NULL, or the name of an element that is not installed.
const char *media_start(void);
