import JSON
import MatrixModel

/// A user says how far they have read a room. One of each kind stands at a time, each for itself: the user has read as far as the
/// furthest of them. Spec: "Receipts", "Threaded read receipts".
struct ReadReceipt: Sendable {
  /// Those of other threads than the main one say nothing of the room. The numbers are stored.
  enum Kind: UInt8, CaseIterable, Sendable {
    /// Of the room with all its threads.
    case room = 0
    case mainThread = 1
    /// Private ones are told to nobody but the user's own clients.
    case privateRoom = 2
    case privateMainThread = 3

    init(isPrivate: Bool, isOfMainThread: Bool) {
      if isOfMainThread {
        self = isPrivate ? .privateMainThread : .mainThread
      } else {
        self = isPrivate ? .privateRoom : .room
      }
    }
  }

  let user: UserID
  let kind: Kind
  let event: EventID
  /// Since 1970, as far as the server says.
  let timeMilliseconds: Int64?
}

extension [ReadReceipt] {
  /// Puts it in place of the one of its kind. Whether that is news.
  mutating func set(_ receipt: ReadReceipt) -> Bool {
    guard let i = firstIndex(where: { $0.kind == receipt.kind }) else {
      append(receipt)
      return true
    }
    let isNews = self[i].event != receipt.event
    if isNews { self[i] = receipt }
    return isNews
  }
}

extension ReadReceipt {
  /// See `StoreKey.receipt`.
  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("user", user)
      writer.member("event", event)
      if let timeMilliseconds { writer.member("at", timeMilliseconds) }
      if kind != .room { writer.member("kind", Int(kind.rawValue)) }
    }
    return writer.bytes
  }

  init?(record: JSON) {
    guard let user = UserID(record["user"]), let event = EventID(record["event"]),
      let kind = UInt8(exactly: record.integer("kind") ?? 0).flatMap(Kind.init(rawValue:))
    else { return nil }
    self.init(user: user, kind: kind, event: event, timeMilliseconds: record.integer("at"))
  }
}

extension RoomState {
  /// Stores those of a user that are known. Other kinds stay: without `hasPeople` they are in the store alone. Where none is known, all go.
  func appendReceipts(of user: UserID, in room: RoomID, to operations: inout [StoreOperation]) {
    guard let known = receipts[user] else {
      for kind in ReadReceipt.Kind.allCases {
        operations.append(.delete(key: StoreKey.receipt(kind, of: user, in: room)))
      }
      return
    }
    for receipt in known {
      operations.append(.put(key: StoreKey.receipt(receipt.kind, of: user, in: room), value: receipt.record))
    }
  }
}
