/// A piece of sound at 48 kHz: signed 16-bit samples, the channels of one instant side by side.
public struct AudioFrame: Sendable, Equatable {
  /// Instants a second, of all sound here.
  public static let rate = 48_000
  /// Instants in one piece: a second.
  public static let countLimit = 48_000

  /// 1 or 2, left before right. What arrives has 2.
  public let channels: Int
  public var samples: [Int16]
  /// Of the first sample, as `VideoFrame.timestampMicroseconds` has it.
  public var timestampMicroseconds: Int64

  /// nil where the samples are none, too many, or no whole instants.
  public init?(channels: Int, samples: [Int16], timestampMicroseconds: Int64) {
    guard channels == 1 || channels == 2 else { return nil }
    self.channels = channels
    self.samples = samples
    self.timestampMicroseconds = timestampMicroseconds
    guard isWellFormed else { return nil }
  }

  /// Instants.
  public var count: Int { samples.count / channels }

  /// Whether it can be sent still.
  public var isWellFormed: Bool {
    samples.count % channels == 0 && (1...Self.countLimit).contains(count)
  }
}
