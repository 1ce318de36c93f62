import JSON
import MatrixModel
import Synchronization

/// Typing and receipts that a service has not been told of yet: in memory, as they are gone with a restart for everyone.
///
/// Spec: Application Service API, "Pushing ephemeral data".
final class AppServiceEphemeral: Sendable {
  /// Receipts that wait for a service that is down; the oldest go first.
  static let receiptsLimit = 1_000
  /// Events in one transaction.
  static let eventsLimit = 100

  struct News: Sendable {
    var typing: Set<RoomNumber> = []
    var receipts: [RoomNumber: [Receipt]] = [:]
    fileprivate var receiptCount = 0

    var isEmpty: Bool { typing.isEmpty && receipts.isEmpty }
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

  /// Takes what there is.
  func take() -> News {
    news.withLock { news in
      defer { news = News() }
      return news
    }
  }
}

extension AppServiceEphemeral.News {
  /// Writes the elements of `ephemeral`, of those rooms that `includes` says concern the service.
  func write(
    to writer: inout JSONWriter, for service: AppService, typing users: (RoomNumber) -> [UserID],
    roomID: (RoomNumber) throws -> RoomID?
  ) throws {
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
