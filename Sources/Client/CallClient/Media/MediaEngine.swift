public import CallCore
public import JSON

/// Codecs and peer connections: frames and descriptions in, frames and descriptions out. It decides nothing about a call. `GStreamerEngine`
/// is the one on Linux; on Apple's systems it would be WebRTC's framework.
///
/// One engine serves one call.
public protocol MediaEngine: AnyObject, Sendable {
  /// Called once, before all else.
  func open(_ host: MediaHost)
  /// Carries out what concerns peer connections, in order; sources are not its business. What it tells goes to the host.
  func perform(_ effect: MediaEffect)
  /// A frame for all sections that send this source's track. Well-formed; times are of `CLOCK_MONOTONIC`. Returns at once.
  func send(_ frame: VideoFrame, from source: SourceID)
  func send(_ frame: AudioFrame, from source: SourceID)
  /// Closes all peer connections; returns when they are. Nothing is told after it.
  func close() async
}

/// Whom an engine tells; from any thread.
public struct MediaHost: Sendable {
  public let report: @Sendable (MediaInput) -> Void
  /// What takes the frames of a stream; nil where nobody does, and they need not be made.
  public let videoSink: @Sendable (_ stream: ByteString) -> (any VideoSink)?
  public let audioSink: @Sendable (_ stream: ByteString) -> (any AudioSink)?

  public init(
    report: @escaping @Sendable (MediaInput) -> Void,
    videoSink: @escaping @Sendable (_ stream: ByteString) -> (any VideoSink)?,
    audioSink: @escaping @Sendable (_ stream: ByteString) -> (any AudioSink)?
  ) {
    self.report = report
    self.videoSink = videoSink
    self.audioSink = audioSink
  }
}
