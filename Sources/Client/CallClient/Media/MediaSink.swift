/// A receiver of the video of a stream, such as a view, a file or a filter.
public protocol VideoSink: Sendable {
  /// Takes a frame, on a thread of the media engine, one after the other. During the call, the next frames wait. Frames that wait too long are
  /// dropped.
  func take(_ frame: VideoFrame)
}

/// A receiver of the audio of a stream, like `VideoSink`.
public protocol AudioSink: Sendable {
  func take(_ frame: AudioFrame)
}

/// Discards all frames: for a stream that must only arrive.
public struct Discard: VideoSink, AudioSink {
  public init() {}
  public func take(_ frame: VideoFrame) {}
  public func take(_ frame: AudioFrame) {}
}
