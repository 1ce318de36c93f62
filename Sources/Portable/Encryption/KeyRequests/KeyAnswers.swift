import JSON
import MatrixModel

/// What other devices of the user ask this one for, until there is a session to answer in.
struct KeyAnswers: Sendable {
  static let hourMilliseconds: Int64 = 60 * 60 * 1_000
  /// Answers within an hour, to all devices together.
  static let limit = 100
  /// Requests that wait.
  static let waitingLimit = 200

  struct Question: Hashable, Sendable {
    let device: DeviceKeys
    let request: ByteString
    let name: RoomKeys.Name
  }

  private(set) var waiting: [Question] = []
  private var answeredAt: [Int64] = []

  mutating func add(_ question: Question) {
    guard waiting.count < Self.waitingLimit, !waiting.contains(question) else { return }
    waiting.append(question)
  }

  mutating func cancel(_ request: ByteString, by device: DeviceID) {
    waiting.removeAll { $0.request == request && $0.device.device == device }
  }

  mutating func take() -> [Question] {
    defer { waiting = [] }
    return waiting
  }

  /// - Returns: whether another answer may go out.
  mutating func count(at now: Int64) -> Bool {
    answeredAt.removeAll { !(0..<Self.hourMilliseconds).contains(now - $0) }
    guard answeredAt.count < Self.limit else { return false }
    answeredAt.append(now)
    return true
  }
}
