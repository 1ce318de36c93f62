#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import Synchronization

/// Writes the audio of a stream to a file: WAVE, 48 kHz, 16 bits, two channels. It writes frames one after the other, without silence for
/// missing ones.
///
/// The file has its length in the header only after `close`, or when nothing holds this object.
public final class WAVFile: AudioSink {
  /// The limit of audio in a file, in bytes, from the WAVE header. More audio is dropped.
  public static let bytesLimit = Int(UInt32.max) - headerBytes
  static let headerBytes = 44

  private struct Output: Sendable {
    var descriptor: Int32
    var bytes = 0
  }
  private let output: Mutex<Output>

  /// Creates the file, or replaces an existing one.
  /// - Throws: `media` if the file cannot be created.
  public init(path: String) throws(CallError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .media("\(path) cannot be written") }
    output = Mutex(Output(descriptor: descriptor))
    output.withLock { output in _ = Self.write(Self.header(soundBytes: 0), to: output.descriptor) }
  }

  deinit { close() }

  public func take(_ frame: AudioFrame) {
    guard frame.isWellFormed else { return }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frame.count * 4)
    for instant in 0..<frame.count {
      for channel in 0..<2 {
        let sample = UInt16(bitPattern: frame.samples[instant * frame.channels + min(channel, frame.channels - 1)])
        bytes.append(UInt8(truncatingIfNeeded: sample))
        bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
      }
    }
    output.withLock { output in
      guard output.descriptor >= 0, output.bytes + bytes.count <= Self.bytesLimit else { return }
      if Self.write(bytes, to: output.descriptor) { output.bytes += bytes.count }
    }
  }

  /// Completes the file. Later frames are dropped.
  public func close() {
    output.withLock { output in
      guard output.descriptor >= 0 else { return }
      lseek(output.descriptor, 0, SEEK_SET)
      _ = Self.write(Self.header(soundBytes: UInt32(output.bytes)), to: output.descriptor)
      #if canImport(Glibc)
        Glibc.close(output.descriptor)
      #elseif canImport(Musl)
        Musl.close(output.descriptor)
      #else
        Darwin.close(output.descriptor)
      #endif
      output.descriptor = -1
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }

  /// RIFF, WAVE with one `fmt ` and one `data` chunk. Multimedia Programming Interface and Data Specifications 1.0, "Waveform Audio File Format".
  static func header(soundBytes: UInt32) -> [UInt8] {
    func number(_ value: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
    let rate = UInt32(AudioFrame.rate)
    var header = Array("RIFF".utf8) + number(soundBytes &+ UInt32(headerBytes - 8), 4) + Array("WAVEfmt ".utf8)
    header += number(16, 4) + number(1, 2) + number(2, 2) + number(rate, 4) + number(rate * 4, 4) + number(4, 2) + number(16, 2)
    return header + Array("data".utf8) + number(soundBytes, 4)
  }
}
