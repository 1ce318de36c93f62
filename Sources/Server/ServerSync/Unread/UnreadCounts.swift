import JSON
import MatrixModel

/// What a user has not read of a room. Spec: Client-Server API, "Unread Notification Counts".
package struct UnreadCounts: Sendable, Equatable {
  package struct Count: Sendable, Equatable {
    package var notifications: Int64 = 0
    package var highlights: Int64 = 0

    package init(notifications: Int64 = 0, highlights: Int64 = 0) {
      self.notifications = notifications
      self.highlights = highlights
    }

    var isZero: Bool { notifications == 0 && highlights == 0 }
  }

  /// The name of what is in no thread. Made once, as it is wanted for each event that is counted.
  static let mainThread: ByteString = "main"

  /// By thread; `main` for what is in none. Those with nothing unread are left out.
  package internal(set) var threads: [ByteString: Count] = [:]

  package init() {}

  package var main: Count { threads[Self.mainThread] ?? Count() }

  /// The whole room's, threads included.
  package var total: Count {
    threads.values.reduce(into: Count()) { total, count in
      total.notifications += count.notifications
      total.highlights += count.highlights
    }
  }

  mutating func add(_ actions: PushActions, in thread: ByteString) {
    guard actions.notifies || actions.highlights else { return }
    if actions.notifies { threads[thread, default: Count()].notifications += 1 }
    if actions.highlights { threads[thread, default: Count()].highlights += 1 }
  }

  // MARK: As stored

  /// `{"main":[3,1],…}`
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      for (thread, count) in threads {
        writer.key(thread)
        writer.array { writer in
          writer.write(count.notifications)
          writer.write(count.highlights)
        }
      }
    }
    return writer.bytes
  }

  /// nil for what is damaged.
  init?(bytes: [UInt8]) {
    guard let json = try? JSON.parse(bytes) else { return nil }
    for member in json.members {
      let numbers = member.value.elements.compactMap(\.integer)
      guard numbers.count == 2 else { return nil }
      threads[member.key] = Count(notifications: numbers[0], highlights: numbers[1])
    }
  }
}
