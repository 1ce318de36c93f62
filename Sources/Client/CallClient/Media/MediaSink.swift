/// What takes the pictures of a stream: a view, a file, a filter of your own.
public protocol VideoSink: Sendable {
  /// On a thread of the media engine's, one frame after the other. While it works, the next ones wait; those that wait too long are dropped.
  func take(_ frame: VideoFrame)
}

/// What takes the sound of a stream, as `VideoSink`.
public protocol AudioSink: Sendable {
  func take(_ frame: AudioFrame)
}

/// Takes everything and keeps nothing: for a stream that is to arrive only.
public struct Discard: VideoSink, AudioSink {
  public init() {}
  public func take(_ frame: VideoFrame) {}
  public func take(_ frame: AudioFrame) {}
}
