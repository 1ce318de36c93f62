import JSON
import MatrixModel

/// Who may do what in a room, out of two state events that come in any order.
///
/// `levels` is nil until both are here: then nothing is known, and the server is the one to decide.
struct RoomPower: Sendable {
  private(set) var levels: PowerLevels?
  private var creators: [UserID]?
  /// The content of `m.room.power_levels`.
  private var content: [UInt8]?

  /// The first room version whose creators stand above every level. Spec: room version 12, "Authorisation rules".
  private static var firstVersionWithCreators: Int64 { 12 }

  init() {}

  mutating func take(create event: Event) {
    let number = event.content["room_version"]?.string.flatMap { Int64($0) }
    let hasCreators = event.content["room_version"] != nil && (number ?? .max) >= RoomPower.firstVersionWithCreators
    var users: [UserID] = []
    if hasCreators {
      if let sender = event.sender { users.append(sender) }
      users += event.content["additional_creators"]?.elements.compactMap { UserID($0) } ?? []
    }
    creators = users
    update(content.flatMap { RoomPower.parsed($0) })
  }

  mutating func take(levels content: JSON) {
    self.content = Array(content.bytes)
    update(content)
  }

  private mutating func update(_ content: JSON?) {
    guard let creators, let content else { return }
    levels = PowerLevels(content, creators: creators)
  }

  private static func parsed(_ bytes: [UInt8]) -> JSON? {
    do throws(JSONError) { return try JSON.parse(bytes) } catch { return nil }
  }

  // MARK: Record

  func write(to writer: inout JSONWriter) {
    if let creators {
      writer.key("creators")
      writer.array { writer in for user in creators { writer.write(user) } }
    }
    if let content { writer.member("power_levels", raw: content) }
  }

  init(record: JSON) {
    creators = record["creators"]?.elements.compactMap { UserID($0) }
    let stored = record["power_levels"]
    content = stored.map { Array($0.bytes) }
    update(stored)
  }
}
