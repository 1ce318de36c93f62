/// Where pictures come from: a camera, a file, or a capturer of your own.
///
/// It is started once and stopped once, and may be started again after that.
public protocol VideoSource: Sendable {
  /// Pixels of what it gives, as others are told; 0 where that is not known beforehand.
  var width: Int { get }
  var height: Int { get }
  /// What others are told that it is; `custom` unless said otherwise.
  var videoType: VideoType { get }

  /// Gives frames to the output from now on, on any thread, one after the other.
  /// - Throws: `media` where it cannot be opened.
  func start(_ output: MediaOutput<VideoFrame>) throws(CallError)
  /// Gives no more.
  func stop()
}

/// Where sound comes from, as `VideoSource`.
public protocol AudioSource: Sendable {
  func start(_ output: MediaOutput<AudioFrame>) throws(CallError)
  func stop()
}

extension VideoSource {
  public var width: Int { 0 }
  public var height: Int { 0 }
  public var videoType: VideoType { .custom }
}

/// `video_type` of decision 14.
public enum VideoType: Sendable { case camera, screen, custom }

/// What a source gives its frames to.
public struct MediaOutput<Frame: Sendable>: Sendable {
  private let take: @Sendable (Frame) -> Void
  private let end: @Sendable () -> Void

  /// For sources that are tested, or read by something else than a call.
  public init(take: @escaping @Sendable (Frame) -> Void, end: @escaping @Sendable () -> Void = {}) {
    self.take = take
    self.end = end
  }

  /// Copied, encoded and sent elsewhere: this returns at once. What comes faster than it can be sent is dropped.
  public func send(_ frame: Frame) { take(frame) }

  /// There will be no more: the publication ends.
  public func finish() { end() }
}
