import Glibc
import Synchronization
import Telemetry
import Transcripts

/// A line on standard error that says how far something is, only where that is a terminal.
final class ProgressBar: Sendable {
  private static let width = 30
  private let isShown: Bool
  private let last = Mutex("")

  init(isShown: Bool = isatty(STDERR_FILENO) == 1) { self.isShown = isShown }

  func show(_ fraction: Double, _ label: String) {
    guard isShown else { return }
    let text = Self.text(fraction, label)
    guard
      last.withLock({ last in
        defer { last = text }
        return last != text
      })
    else { return }
    LogSink.standardError(Array("\r\u{1B}[K\(text)".utf8))
  }

  /// Takes away what it shows.
  func clear() { if isShown { Self.clear() } }

  /// Takes away what stands there.
  static func clear() {
    if isatty(STDERR_FILENO) == 1 { LogSink.standardError(Array("\r\u{1B}[K".utf8)) }
  }

  /// `[#######-----------------------]  23 %  label`
  static func text(_ fraction: Double, _ label: String) -> String {
    let share = fraction.isFinite ? min(max(fraction, 0), 1) : 0
    let full = Int(share * Double(width))
    let percent = String(Int(share * 100))
    return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full) + "] "
      + String(repeating: " ", count: 3 - percent.count) + percent + " %  " + HarmlessText.line(label)
  }
}
