/// One picture as I420: a plane of luma, and two of chroma with half its width and height, rounded up. Rows follow each other without gaps.
public struct VideoFrame: Sendable, Equatable {
  /// Pixels; 1 to `sideLimit`.
  public let width: Int
  public let height: Int
  /// When it was taken: microseconds of a clock that does not go back, the same one for sound and picture of a publication. Those that
  /// arrive have the machine's `CLOCK_MONOTONIC`, when each is due; it grows from frame to frame.
  public var timestampMicroseconds: Int64
  /// Luma: `width * height` bytes.
  public var y: [UInt8]
  /// Blue and red chroma: `chromaWidth * chromaHeight` bytes each; 128 is grey.
  public var u: [UInt8]
  public var v: [UInt8]

  public static let sideLimit = 8_192

  public var chromaWidth: Int { (width + 1) / 2 }
  public var chromaHeight: Int { (height + 1) / 2 }

  /// Black. nil for a size beyond the limits.
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

  /// nil where a plane has not its size.
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

  /// Whether each plane has its size still; others are not sent.
  public var isWellFormed: Bool {
    y.count == width * height && u.count == chromaWidth * chromaHeight && v.count == u.count
  }
}
