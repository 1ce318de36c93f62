/// A source of video, such as a camera, a file or your own capturer.
///
/// Each `start` is followed by one `stop`. After that, the source can be started again.
public protocol VideoSource: Sendable {
  /// The size of the frames in pixels, as other participants see it; 0 if it is not known in advance.
  var width: Int { get }
  var height: Int { get }
  /// The kind of video, as other participants see it. The default is `custom`.
  var videoType: VideoType { get }

  /// Starts sending frames to the output, on any thread, one after the other.
  /// - Throws: `media` if the source cannot be opened.
  func start(_ output: MediaOutput<VideoFrame>) throws(CallError)
  /// Stops sending frames.
  func stop()
}

/// A source of audio, like `VideoSource`.
public protocol AudioSource: Sendable {
  func start(_ output: MediaOutput<AudioFrame>) throws(CallError)
  func stop()
}

extension VideoSource {
  public var width: Int { 0 }
  public var height: Int { 0 }
  public var videoType: VideoType { .custom }
}

/// The kind of a video: `video_type` of decision 14.
public enum VideoType: Sendable { case camera, screen, custom }

/// The receiver of a source's frames.
public struct MediaOutput<Frame: Sendable>: Sendable {
  private let take: @Sendable (Frame) -> Void
  private let end: @Sendable () -> Void

  /// Creates an output, for tests of a source, or for a receiver other than a call.
  public init(take: @escaping @Sendable (Frame) -> Void, end: @escaping @Sendable () -> Void = {}) {
    self.take = take
    self.end = end
  }

  /// Sends a frame. Returns at once: another thread copies, encodes and sends it. Frames that come too fast are dropped.
  public func send(_ frame: Frame) { take(frame) }

  /// Ends the publication: the source has no more frames.
  public func finish() { end() }
}
