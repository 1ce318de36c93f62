#pragma once
// Only the flags of pkg-config and the libraries matter here: CPeerConnection hides GStreamer's types from Swift.
#include <gst/gst.h>
