import JSON
import MatrixModel
import ServerCore
import ServerRooms
import ServerSync
import Synchronization

/// Typing, receipts and presence that a service has not been told of yet: in memory, as they are gone with a restart for everyone.
///
/// Spec: Application Service API, "Pushing ephemeral data".
final class AppServiceEphemeral: Sendable {
  /// Receipts that wait for a service that is down; the oldest go first.
  static let receiptsLimit = 1_000
  /// Users whose presence waits to be told; the changes of further ones are not.
  static let usersLimit = 1_000

  struct News: Sendable {
    var typing: Set<RoomNumber> = []
    var receipts: [RoomNumber: [Receipt]] = [:]
    /// Users whose presence is to be told, as it is then.
    var presence: Set<UserID> = []
    fileprivate var receiptCount = 0

    var isEmpty: Bool { typing.isEmpty && receipts.isEmpty && presence.isEmpty }

    mutating func notePresence(of users: some Sequence<UserID>) {
      for user in users where presence.count < AppServiceEphemeral.usersLimit { presence.insert(user) }
    }
  }

  private let news = Mutex(News())

  var isEmpty: Bool { news.withLock { $0.isEmpty } }

  func noteTyping(in room: RoomNumber) { news.withLock { _ = $0.typing.insert(room) } }

  func note(_ receipt: Receipt, in room: RoomNumber) {
    news.withLock { news in
      if news.receiptCount >= Self.receiptsLimit {
        news.receipts = [:]
        news.receiptCount = 0
      }
      news.receipts[room, default: []].removeAll { $0.replaces(receipt) }
      news.receipts[room, default: []].append(receipt)
      news.receiptCount += 1
    }
  }

  func notePresence(of users: Set<UserID>) { news.withLock { $0.notePresence(of: users) } }

  /// Takes what there is.
  func take() -> News {
    news.withLock { news in
      defer { news = News() }
      return news
    }
  }
}

extension AppServiceEphemeral.News {
  /// Writes the elements of `ephemeral`.
  ///
  /// - Parameters:
  ///   - roomID: nil for a room that does not concern the service.
  ///   - status: nil for a user whose presence does not.
  func write(
    to writer: inout JSONWriter, for service: AppService, typing users: (RoomNumber) -> [UserID],
    roomID: (RoomNumber) throws -> RoomID?, status: (UserID) throws -> PresenceStatus?, now: Int64
  ) throws {
    for user in presence {
      if let status = try status(user) { PresenceStream.write((user, status), now: now, to: &writer) }
    }
    for room in typing {
      guard let roomID = try roomID(room) else { continue }
      writer.object { writer in
        writer.member("type", EventType.typing)
        writer.member("room_id", roomID)
        writer.key("content")
        writer.object { writer in
          writer.array("user_ids", users(room)) { $1.write($0) }
        }
      }
    }
    for (room, receipts) in receipts {
      // Private receipts are for their users' service alone.
      let visible = receipts.filter { $0.kind.isPublic || service.covers($0.user) }
      guard !visible.isEmpty, let roomID = try roomID(room) else { continue }
      writer.object { writer in
        writer.member("type", EventType.receipt)
        writer.member("room_id", roomID)
        writer.key("content")
        writer.object { Self.write(visible, to: &$0) }
      }
    }
  }

  /// `{eventID: {kind: {user: {"ts":…}}}}`
  private static func write(_ receipts: [Receipt], to writer: inout JSONWriter) {
    for (eventID, ofEvent) in Dictionary(grouping: receipts, by: \.eventID) {
      writer.key(eventID)
      writer.object { writer in
        for kind in [Receipt.Kind.read, .readPrivate, .delivered] {
          let ofKind = ofEvent.filter { $0.kind == kind }
          if ofKind.isEmpty { continue }
          writer.key(kind.name)
          writer.object { writer in
            // A user has one entry here; of several threads the last one that moved.
            for (user, own) in Dictionary(grouping: ofKind, by: \.user) {
              guard let receipt = own.last else { continue }
              writer.key(user)
              writer.object { writer in
                writer.member("ts", receipt.timestamp)
                if !receipt.thread.isEmpty { writer.member("thread_id", receipt.thread) }
              }
            }
          }
        }
      }
    }
  }
}
