import Glibc
import Synchronization

/// Where lines go and which are wanted. One serves the process; tests make their own.
package final class LogSink: Sendable {
  package enum Format: String, Sendable, CaseIterable {
    /// `2026-01-31T12:00:00.123Z info http request answered status=200`
    case text
    /// One JSON object a line.
    case json
  }

  /// The sink of the whole process: standard error, `info`, text until `configure` says otherwise.
  package static let process = LogSink()

  private let level: Atomic<Int>
  private let isJSON: Atomic<Bool>
  private let output: @Sendable ([UInt8]) -> Void

  /// `output` gets one whole line with its newline and may be called from any thread.
  package init(
    level: Log.Level = .info, format: Format = .text,
    output: @escaping @Sendable ([UInt8]) -> Void = LogSink.standardError
  ) {
    self.level = Atomic(level.rawValue)
    isJSON = Atomic(format == .json)
    self.output = output
  }

  package func configure(level: Log.Level, format: Format) {
    self.level.store(level.rawValue, ordering: .relaxed)
    isJSON.store(format == .json, ordering: .relaxed)
  }

  @inline(__always)
  package func isOn(_ level: Log.Level) -> Bool { level.rawValue >= self.level.load(ordering: .relaxed) }

  func write(_ line: LogLine) {
    output(isJSON.load(ordering: .relaxed) ? line.json() : line.text())
  }

  /// One `write` for a line, so that lines of different threads do not mix. What cannot be written is lost: a log that
  /// fails has nowhere to say so.
  package static let standardError: @Sendable ([UInt8]) -> Void = { line in
    line.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Glibc.write(STDERR_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}
