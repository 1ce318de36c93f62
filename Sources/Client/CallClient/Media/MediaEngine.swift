public import CallCore
public import JSON

/// An engine with codecs and peer connections. It takes and returns frames and session descriptions, and makes no decisions about a call.
/// `GStreamerEngine` is the engine on Linux. On Apple's systems, an engine can use the WebRTC framework.
///
/// One engine serves one call.
public protocol MediaEngine: AnyObject, Sendable {
  /// Starts the engine. It is called once, before all other functions.
  func open(_ host: MediaHost)
  /// Carries out the effects on peer connections, in order. Ignores those on sources. Reports to the host.
  func perform(_ effect: MediaEffect)
  /// Takes a well-formed frame for all sections that send the track of a source. Its time is of `CLOCK_MONOTONIC`. Returns at once.
  func send(_ frame: VideoFrame, from source: SourceID)
  func send(_ frame: AudioFrame, from source: SourceID)
  /// Closes all peer connections, and returns when they are closed. The engine reports nothing afterwards.
  func close() async
}

/// The receiver of an engine's reports. The engine can call it from any thread.
public struct MediaHost: Sendable {
  public let report: @Sendable (MediaInput) -> Void
  /// Returns the sink for the frames of a stream; nil if there is none, so that the engine need not decode them.
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
