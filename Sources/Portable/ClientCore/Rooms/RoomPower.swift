import JSON
import MatrixModel

/// Who may do what in a room, out of two state events that come in any order.
///
/// `levels` is nil until both are here: then nothing is known, and the server is the one to decide.
struct RoomPower: Sendable {
  private(set) var levels: PowerLevels?
  private var creators: [UserID]?
  /// Who made the room; before room version 12 they have the power where no event says who has.
  private var creator: UserID?
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
    creator = event.sender
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

  /// Also where no event says who may do what.
  var forPushRules: PowerLevels {
    if let levels { return levels }
    let known = content.flatMap { RoomPower.parsed($0) }.map { PowerLevels($0, creators: creators ?? []) }
    return known ?? PowerLevels(creator: creator, creators: creators ?? [])
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
    if let creator { writer.member("creator", creator) }
    if let content { writer.member("power_levels", raw: content) }
  }

  init(record: JSON) {
    creators = record["creators"]?.elements.compactMap { UserID($0) }
    creator = UserID(record["creator"])
    let stored = record["power_levels"]
    content = stored.map { Array($0.bytes) }
    update(stored)
  }
}
