/// A frame of audio at 48 kHz: signed 16-bit samples, with interleaved channels.
public struct AudioFrame: Sendable, Equatable {
  /// The sample rate of all frames, in samples per second and channel.
  public static let rate = 48_000
  /// The limit of samples per channel in a frame: one second.
  public static let countLimit = 48_000

  /// 1 or 2, left before right. Received frames have 2.
  public let channels: Int
  public var samples: [Int16]
  /// The time of the first sample, see `VideoFrame.timestampMicroseconds`.
  public var timestampMicroseconds: Int64

  /// Creates a frame; nil if there are no samples, too many, or not the same number for each channel.
  public init?(channels: Int, samples: [Int16], timestampMicroseconds: Int64) {
    guard channels == 1 || channels == 2 else { return nil }
    self.channels = channels
    self.samples = samples
    self.timestampMicroseconds = timestampMicroseconds
    guard isWellFormed else { return nil }
  }

  /// The number of samples per channel.
  public var count: Int { samples.count / channels }

  /// Whether the frame can be sent, after changes to `samples`.
  public var isWellFormed: Bool {
    samples.count % channels == 0 && (1...Self.countLimit).contains(count)
  }
}
