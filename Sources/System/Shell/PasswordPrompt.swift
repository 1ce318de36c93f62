import Glibc
import Telemetry

/// Asks for a password on the terminal without showing it, or takes the first line of standard input.
package enum PasswordPrompt {
  /// Why there is no password. The description is one sentence for the person at the terminal.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// In bytes. Hashing takes the same time for any length; this only bounds memory.
  package static let byteLimit = 512

  /// Ctrl-C as a character.
  private static let endOfText: UInt8 = 3

  /// What is asked for.
  package enum Kind: String, Sendable {
    case password, passphrase
    case recoveryKey = "recovery key or passphrase"

    fileprivate var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
  }

  /// Throws for an empty or too long password, or if two entries differ.
  package static func read(_ kind: Kind = .password) throws(Failure) -> Redacted<[UInt8]> {
    guard isatty(STDIN_FILENO) == 1 else { return try line(kind) }
    let first = try hidden("\(kind.title): ", kind)
    let second = try hidden("\nOnce more: ", kind)
    LogSink.standardError(Array("\n".utf8))
    guard first == second else { throw Failure(description: "the two \(kind.rawValue)s differ") }
    return first
  }

  /// Of an account that there is: asked for once, and only on a terminal.
  package static func readKnown(_ kind: Kind = .password) throws(Failure) -> Redacted<[UInt8]> {
    defer { LogSink.standardError(Array("\n".utf8)) }
    return try hidden("\(kind.title): ", kind)
  }

  /// The first line of a file.
  package static func line(ofFile path: String, _ kind: Kind) throws(Failure) -> Redacted<[UInt8]> {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(description: "the file \(path) with the \(kind.rawValue) cannot be read") }
    defer { close(descriptor) }
    return try line(kind, from: descriptor)
  }

  /// The first line of standard input.
  package static func line(
    _ kind: Kind = .password, from descriptor: Int32 = STDIN_FILENO
  ) throws(Failure) -> Redacted<[UInt8]> {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while Glibc.read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
      if byte == endOfText { throw Failure(description: "cancelled") }
      bytes.append(byte)
      guard bytes.count <= byteLimit else {
        throw Failure(description: "the \(kind.rawValue) is longer than \(byteLimit) bytes")
      }
    }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else { throw Failure(description: "the \(kind.rawValue) is empty") }
    return Redacted(bytes)
  }

  /// Who is asked may answer at once: the terminal is silent before.
  private static func hidden(_ question: String, _ kind: Kind) throws(Failure) -> Redacted<[UInt8]> {
    var before = termios()
    tcgetattr(STDIN_FILENO, &before)
    var silent = before
    // Ctrl-C ends the line as a character instead of ending the process, which would leave the terminal silent.
    silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
    silent.c_cc.11 = endOfText  // VEOL
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
    LogSink.standardError(Array(question.utf8))
    return try line(kind)
  }
}
