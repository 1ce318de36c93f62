import Recording

/// What publishers may send to a recorder, and the files that come of it.
func fuzzRecording(_ bytes: UnsafeRawBufferPointer) { RecordingFuzzing.stream(bytes) }
