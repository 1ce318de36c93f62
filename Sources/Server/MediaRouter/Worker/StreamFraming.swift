/// How packets follow each other in a TCP connection.
enum StreamFraming {
  /// Two bytes of length before each. RFC 4571 §2, as ICE has it: RFC 6544 §3.
  case lengths
  /// As they are, for they tell their length; data of channels are filled up to whole words. RFC 8656 §12.5.
  case turn

  /// Longer ones nobody sends: who does has lost the thread, or is somebody else.
  static let frameLimit = 2_048

  enum Next: Equatable {
    case frame(Range<Int>, end: Int)
    /// There is less than a frame.
    case incomplete
    case malformed
  }

  func next(in bytes: RawSpan, at offset: Int) -> Next {
    let left = bytes.byteCount - offset
    guard left >= (self == .lengths ? 2 : 4) else { return .incomplete }
    let (start, count) = header(bytes, offset)
    guard count <= Self.frameLimit else { return .malformed }
    return left < start + count ? .incomplete : .frame((offset + start)..<(offset + start + count), end: offset + start + count)
  }

  /// Where the packet begins, and its length.
  private func header(_ bytes: RawSpan, _ offset: Int) -> (start: Int, count: Int) {
    if self == .lengths { return (2, Int(bytes.uint16(at: offset))) }
    let length = Int(bytes.uint16(at: offset + 2))
    switch bytes.uint8(at: offset) >> 6 {
    case 0: return (0, STUNMessage.headerBytes + length)
    case 1: return (0, 4 + (length + 3) & ~3)
    default: return (0, .max)
    }
  }
}
