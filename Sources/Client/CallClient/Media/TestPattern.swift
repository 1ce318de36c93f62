/// A test video: eight colour bars under a white bar that moves.
public final class TestPattern: VideoSource {
  public let width: Int
  public let height: Int
  private let framesPerSecond: Int
  private let metronome = Metronome()

  /// Creates a pattern.
  /// - Parameters:
  ///   - width: pixels, 1 to `VideoFrame.sideLimit`.
  ///   - height: pixels, 1 to `VideoFrame.sideLimit`.
  ///   - framesPerSecond: 1 to 60.
  public init(width: Int = 640, height: Int = 480, framesPerSecond: Int = 30) {
    self.width = min(max(1, width), VideoFrame.sideLimit)
    self.height = min(max(1, height), VideoFrame.sideLimit)
    self.framesPerSecond = min(max(1, framesPerSecond), 60)
  }

  public func start(_ output: MediaOutput<VideoFrame>) {
    guard let still = Self.still(width: width, height: height) else { return }
    metronome.start(every: .microseconds(1_000_000 / framesPerSecond)) { number, microseconds in
      output.send(Self.frame(number, on: still, microseconds))
    }
  }

  public func stop() { metronome.stop() }

  /// The luma, blue and red chroma of white, yellow, cyan, green, magenta, red, blue and black at 75 %. ITU-R BT.801.
  static let bars: [(y: UInt8, u: UInt8, v: UInt8)] = [
    (180, 128, 128), (162, 44, 142), (131, 156, 44), (112, 72, 58), (84, 184, 198), (65, 100, 212), (35, 212, 114),
    (16, 128, 128)
  ]

  /// Returns a frame with only the bars; nil if the size is not within the limits of frames.
  static func still(width: Int, height: Int) -> VideoFrame? {
    guard var frame = VideoFrame(width: width, height: height, timestampMicroseconds: 0) else { return nil }
    let chromaWidth = frame.chromaWidth
    frame.y = repeated((0..<width).map { bars[$0 * 8 / width].y }, height)
    frame.u = repeated((0..<chromaWidth).map { bars[$0 * 8 / chromaWidth].u }, frame.chromaHeight)
    frame.v = repeated((0..<chromaWidth).map { bars[$0 * 8 / chromaWidth].v }, frame.chromaHeight)
    return frame
  }

  static func frame(_ number: Int64, on still: VideoFrame, _ microseconds: Int64) -> VideoFrame {
    var frame = still
    frame.timestampMicroseconds = microseconds
    // A sixteenth of the height, one lap in 60 frames.
    let top = Int(number % 60) * frame.height / 60
    let bottom = min(frame.height, top + max(1, frame.height / 16))
    let points = top * frame.width..<bottom * frame.width
    frame.y.replaceSubrange(points, with: repeatElement(235, count: points.count))
    return frame
  }

  private static func repeated(_ row: [UInt8], _ count: Int) -> [UInt8] {
    var plane: [UInt8] = []
    plane.reserveCapacity(row.count * count)
    for _ in 0..<count { plane += row }
    return plane
  }
}
