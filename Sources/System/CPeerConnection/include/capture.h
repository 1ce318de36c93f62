#pragma once
// A pipeline that ends in pictures or sound: devices, files, test signals.
#include "media.h"

struct capture;

/// - description: a pipeline as gst-launch has it, without its end.
/// - is_audio: whether it gives sound, else pictures.
/// - ended: once, on a thread of GStreamer's: there is no more, or a failure, told by its text. Close it elsewhere.
/// NULL where there is no such pipeline; then `*trouble` says why, to be freed.
struct capture *capture_open(
    const char *description, int is_audio, struct media_taker taker, void (*ended)(void *context, const char *trouble),
    char **trouble);

/// Nothing is called once it has returned. Not to be called from a taker.
void capture_close(struct capture *capture);
