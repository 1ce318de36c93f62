/// A video frame in I420: a plane of luma, and two of chroma with half the width and height, rounded up. There are no gaps between rows.
public struct VideoFrame: Sendable, Equatable {
  /// Pixels, from 1 to `sideLimit`.
  public let width: Int
  public let height: Int
  /// The time of capture, in microseconds of a monotonic clock that audio and video of a publication share. For a received frame, it is the
  /// time at which to show it, of the machine's `CLOCK_MONOTONIC`. It increases from frame to frame.
  public var timestampMicroseconds: Int64
  /// Luma: `width * height` bytes.
  public var y: [UInt8]
  /// Blue and red chroma: `chromaWidth * chromaHeight` bytes each; 128 is grey.
  public var u: [UInt8]
  public var v: [UInt8]

  public static let sideLimit = 8_192

  public var chromaWidth: Int { (width + 1) / 2 }
  public var chromaHeight: Int { (height + 1) / 2 }

  /// Creates a black frame; nil if the size is not within the limits.
  public init?(width: Int, height: Int, timestampMicroseconds: Int64) {
    guard (1...Self.sideLimit).contains(width), (1...Self.sideLimit).contains(height) else { return nil }
    let chroma = [UInt8](repeating: 128, count: (width + 1) / 2 * ((height + 1) / 2))
    self.width = width
    self.height = height
    self.timestampMicroseconds = timestampMicroseconds
    y = [UInt8](repeating: 16, count: width * height)
    u = chroma
    v = chroma
  }

  /// Creates a frame; nil if a plane does not have its size.
  public init?(width: Int, height: Int, timestampMicroseconds: Int64, y: [UInt8], u: [UInt8], v: [UInt8]) {
    guard (1...Self.sideLimit).contains(width), (1...Self.sideLimit).contains(height) else { return nil }
    self.width = width
    self.height = height
    self.timestampMicroseconds = timestampMicroseconds
    self.y = y
    self.u = u
    self.v = v
    guard isWellFormed else { return nil }
  }

  /// Whether each plane still has its size. Other frames are not sent.
  public var isWellFormed: Bool {
    y.count == width * height && u.count == chromaWidth * chromaHeight && v.count == u.count
  }
}
