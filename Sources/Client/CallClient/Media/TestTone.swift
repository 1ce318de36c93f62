#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A sine tone in frames of 20 ms.
public final class TestTone: AudioSource {
  private let hertz: Double
  private let level: Double
  private let metronome = Metronome()

  /// Creates a tone.
  /// - Parameters:
  ///   - hertz: the frequency, 1 to 20,000.
  ///   - level: the peak level, 0 to 1 of full scale.
  public init(hertz: Double = 440, level: Double = 0.25) {
    self.hertz = min(max(1, hertz), 20_000)
    self.level = min(max(0, level), 1)
  }

  public func start(_ output: MediaOutput<AudioFrame>) {
    let (hertz, level) = (hertz, level)
    metronome.start(every: .milliseconds(20)) { number, microseconds in
      if let frame = Self.frame(number, hertz: hertz, level: level, microseconds) { output.send(frame) }
    }
  }

  public func stop() { metronome.stop() }

  static func frame(_ number: Int64, hertz: Double, level: Double, _ microseconds: Int64) -> AudioFrame? {
    let count = AudioFrame.rate / 50
    // The phase repeats every second for whole pitches; a long tone must not lose its precision.
    let first = Int(number % 50) * count
    let samples = (0..<count).map { i in
      Int16(level * 32_767 * sin(2 * .pi * hertz * Double(first + i) / Double(AudioFrame.rate)))
    }
    return AudioFrame(channels: 1, samples: samples, timestampMicroseconds: microseconds)
  }
}
