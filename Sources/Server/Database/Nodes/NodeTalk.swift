import Synchronization

/// What nodes say to each other that is in no row: who types, who is there. It may be lost, and what is lost ends by itself or is said again. It goes
/// by the bus, or by notifications of the database.
final class NodeTalk: Sendable {
  static let channel = "martlet_talk"
  static let listening = "LISTEN martlet_talk"
  /// Bytes of a message: as hexadecimal digits it fits into a notification of PostgreSQL, which has 8,000.
  static let bytesLimit = 3_900
  /// Messages that wait; more are dropped.
  static let waitingLimit = 1_000

  private let waiting = Mutex<[String]>([])
  private let listeners = Mutex<[UInt8: @Sendable ([UInt8]) -> Void]>([:])

  func listen(to subject: UInt8, _ handler: @escaping @Sendable ([UInt8]) -> Void) {
    listeners.withLock { $0[subject] = handler }
  }

  /// Whether the message is taken: it is not if it is too long, or if too many wait.
  func say(_ bytes: [UInt8], about subject: UInt8) -> Bool {
    guard let digits = Self.digits(bytes, about: subject) else { return false }
    return waiting.withLock { waiting in
      guard waiting.count < Self.waitingLimit else { return false }
      waiting.append(digits)
      return true
    }
  }

  /// nil for too long a message.
  static func digits(_ bytes: [UInt8], about subject: UInt8) -> String? {
    guard bytes.count <= bytesLimit else { return nil }
    return ([subject] + bytes).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  func take() -> [String] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }

  /// - Parameters:
  ///   - text: the run of the node that says it, and the digits.
  ///   - run: of this node: it does not listen to itself.
  func hear(_ text: String, run: Int64) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, Int64(parts[0]) != run, parts[1].utf8.count.isMultiple(of: 2) else { return }
    let digits = Array(parts[1].utf8)
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return }
      bytes.append(byte)
    }
    guard let subject = bytes.first else { return }
    listeners.withLock { $0[subject] }?(Array(bytes.dropFirst()))
  }
}
