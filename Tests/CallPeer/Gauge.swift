import CallClient
import Foundation
import Synchronization

/// Measures what arrives: how much, how large, of which colours, of which pitch.
final class Gauge: VideoSink, AudioSink {
  private struct State: Sendable {
    var frames = 0
    var picture: VideoFrame?
    /// Pictures whose luma differs from that before.
    var moves = 0
    var lastLuma = 0
    var lastTime = Int64.min
    var disorders = 0
    var instants = 0
    /// The last second, one channel.
    var sound: [Int16] = []
  }
  private let state = Mutex(State())

  func take(_ frame: VideoFrame) {
    // A point of every line and a half is enough to see a movement, and quick also in a build for debugging.
    let luma = stride(from: 0, to: frame.y.count, by: frame.width * 3 / 2).reduce(0) { ($0 &* 31) &+ Int(frame.y[$1]) }
    state.withLock { state in
      state.frames += 1
      if luma != state.lastLuma { state.moves += 1 }
      if frame.timestampMicroseconds <= state.lastTime { state.disorders += 1 }
      (state.lastLuma, state.lastTime, state.picture) = (luma, frame.timestampMicroseconds, frame)
    }
  }

  func take(_ frame: AudioFrame) {
    state.withLock { state in
      state.instants += frame.count
      for i in 0..<frame.count { state.sound.append(frame.samples[i * frame.channels]) }
      if state.sound.count > AudioFrame.rate { state.sound.removeFirst(state.sound.count - AudioFrame.rate) }
    }
  }

  /// `bars`: Y, U, V at the middle of each eighth, near the lower edge.
  var reading: [String: Any] {
    let state = state.withLock { $0 }
    var reading: [String: Any] = [
      "is": "gauge", "frames": state.frames, "moves": state.moves, "disorders": state.disorders, "instants": state.instants
    ]
    if let picture = state.picture {
      reading["width"] = picture.width
      reading["height"] = picture.height
      reading["bars"] = (0..<8).map { Self.colour(of: picture, at: (2 * $0 + 1) * picture.width / 16) }
    }
    let energy = state.sound.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, state.sound.count))
    reading["loudness"] = energy.squareRoot() / 32_768
    reading["tone"] = Self.share(of: 440, in: state.sound)
    return reading
  }

  private static func colour(of picture: VideoFrame, at x: Int) -> [Int] {
    let y = picture.height * 31 / 32
    let chroma = y / 2 * picture.chromaWidth + x / 2
    return [Int(picture.y[y * picture.width + x]), Int(picture.u[chroma]), Int(picture.v[chroma])]
  }

  /// How much of the sound's energy one pitch has, 0 to 1 (Goertzel).
  private static func share(of hertz: Double, in sound: [Int16]) -> Double {
    let samples = sound.suffix(9_600).map(Double.init)
    let energy = samples.reduce(0) { $0 + $1 * $1 }
    guard samples.count == 9_600, energy > 0 else { return 0 }
    let coefficient = 2 * cos(2 * .pi * hertz / Double(AudioFrame.rate))
    var (one, two) = (0.0, 0.0)
    for sample in samples { (one, two) = (sample + coefficient * one - two, one) }
    let power = one * one + two * two - coefficient * one * two
    return 2 * power / (Double(samples.count) * energy)
  }
}

/// Sound for two.
struct Both: AudioSink {
  private let first: any AudioSink
  private let second: any AudioSink

  init(_ first: any AudioSink, _ second: any AudioSink) {
    self.first = first
    self.second = second
  }

  func take(_ frame: AudioFrame) {
    first.take(frame)
    second.take(frame)
  }
}

/// A custom source: a single colour with a moving band. The times of its frames begin at 0.
final class Colour: VideoSource {
  let width = 320
  let height = 240
  private let metronome = Metronome()

  func start(_ output: MediaOutput<VideoFrame>) {
    guard var still = VideoFrame(width: width, height: height, timestampMicroseconds: 0) else { return }
    still.y = [UInt8](repeating: 90, count: still.y.count)
    still.u = [UInt8](repeating: 200, count: still.u.count)
    still.v = [UInt8](repeating: 60, count: still.v.count)
    metronome.start(every: .milliseconds(40)) { [still] number, _ in
      var frame = still
      frame.timestampMicroseconds = number * 40_000
      let row = Int(number % 200) * frame.width
      frame.y.replaceSubrange(row..<row + frame.width, with: repeatElement(200, count: frame.width))
      output.send(frame)
    }
  }

  func stop() { metronome.stop() }
}
