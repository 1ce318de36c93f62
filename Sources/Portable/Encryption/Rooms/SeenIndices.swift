import JSON
import MatrixModel
import Olm

/// Which event had which message index of a session. Another event of the same sender with the same index is a replay.
///
/// A key that nobody proved reads for any sender. Each has indices of their own: copies that one sends do not make another's message a replay.
struct SeenIndices: Equatable, Sendable {
  /// The beginnings of two hashes.
  struct Mark: Equatable, Sendable {
    static let senderByteCount = 8, eventByteCount = 16

    let sender: [UInt8]
    /// Of its ID and time.
    let event: [UInt8]
  }

  enum Verdict: Equatable, Sendable {
    case new, known, replayed
  }

  /// Senders of one index.
  static let senders = 8
  /// Indices of one record.
  static let pageIndices: UInt32 = 64

  private(set) var marks: [UInt32: [Mark]] = [:]

  var pages: Set<UInt32> { Set(marks.keys.map { $0 / Self.pageIndices }) }

  mutating func note(_ index: UInt32, _ event: EncryptedEvent) -> Verdict {
    let mark = Mark(event)
    let known = marks[index] ?? []
    if let before = known.first(where: { $0.sender == mark.sender }) { return before == mark ? .known : .replayed }
    guard known.count < Self.senders else { return .replayed }
    marks[index, default: []].append(mark)
    return .new
  }

  mutating func restore(_ index: UInt32, _ mark: Mark) { marks[index, default: []].append(mark) }

  /// Those of one sender.
  func only(of user: UserID) -> SeenIndices {
    let sender = Mark.sender(user)
    var own = SeenIndices()
    for (index, known) in marks {
      for mark in known where mark.sender == sender { own.restore(index, mark) }
    }
    return own
  }
}

extension SeenIndices.Mark {
  init(_ event: EncryptedEvent) {
    sender = Self.sender(event.sender)
    let time = (0..<8).map { UInt8(truncatingIfNeeded: event.timestamp >> (8 * Int64($0))) }
    self.event = Array(SHA256.digest(of: time + Array(event.id.text.utf8)).prefix(Self.eventByteCount))
  }

  static func sender(_ user: UserID) -> [UInt8] { Array(SHA256.digest(of: Array(user.text.utf8)).prefix(senderByteCount)) }
}
