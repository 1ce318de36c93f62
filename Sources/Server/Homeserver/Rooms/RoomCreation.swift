import JSON
import MatrixModel
import RoomRules

/// What `POST /createRoom` asks for, checked for kind and limits.
package struct RoomCreation: Sendable {
  package enum Preset: Sendable { case privateChat, trustedPrivateChat, publicChat }

  package struct InitialState: Sendable {
    package let type: EventType
    package let stateKey: ByteString
    package let content: JSON
  }

  package var version: RoomVersion
  package var preset: Preset
  package var isPublished: Bool
  package var aliasLocalpart: ByteString?
  package var name: String?
  package var topic: String?
  package var invited: [UserID]
  package var isDirect: Bool
  package var creationContent: JSON?
  package var initialState: [InitialState]
  package var powerLevelOverride: JSON?

  /// Users that one request may invite.
  package static let invitedLimit = 200
  /// State events that one request may bring.
  package static let initialStateLimit = 200

  /// Throws `M_BAD_JSON`, `M_UNSUPPORTED_ROOM_VERSION`, `M_INVALID_PARAM`.
  package init(_ json: JSON, defaultVersion: ByteString) throws(MatrixError) {
    guard json.isObject else { throw .badJSON("The body is not an object.") }
    let versionName = try json.optionalText("room_version") ?? defaultVersion
    guard let version = RoomVersion(versionName) else {
      throw MatrixError(status: 400, .unsupportedRoomVersion, "Room version '\(versionName)' is not supported.")
    }
    self.version = version
    isPublished = try Self.isPublished(json)
    preset = try Self.preset(json) ?? (isPublished ? .publicChat : .privateChat)
    aliasLocalpart = try json.optionalText("room_alias_name")
    name = try json.optionalText("name")?.string
    topic = try json.optionalText("topic")?.string
    isDirect = json["is_direct"]?.bool ?? false
    invited = try Self.invited(json)
    creationContent = try Self.object(json, "creation_content")
    powerLevelOverride = try Self.object(json, "power_level_content_override")
    initialState = try Self.initialState(json)
    if json["invite_3pid"]?.count ?? 0 > 0 {
      throw .invalidParameter("This server has no identity server to invite by e-mail or phone number.")
    }
  }

  private static func isPublished(_ json: JSON) throws(MatrixError) -> Bool {
    guard let visibility = try json.optionalText("visibility") else { return false }
    if visibility == "public" { return true }
    guard visibility == "private" else { throw .invalidParameter("'visibility' is 'public' or 'private'.") }
    return false
  }

  private static func preset(_ json: JSON) throws(MatrixError) -> Preset? {
    guard let name = try json.optionalText("preset") else { return nil }
    if name == "private_chat" { return .privateChat }
    if name == "trusted_private_chat" { return .trustedPrivateChat }
    if name == "public_chat" { return .publicChat }
    throw .invalidParameter("'preset' is 'private_chat', 'trusted_private_chat' or 'public_chat'.")
  }

  private static func invited(_ json: JSON) throws(MatrixError) -> [UserID] {
    var users: [UserID] = []
    for element in json["invite"]?.elements.map({ $0 }) ?? [] {
      guard let user = UserID(element) else { throw .invalidParameter("'invite' is a list of user IDs.") }
      if !users.contains(user) { users.append(user) }
      guard users.count <= invitedLimit else { throw .invalidParameter("At most \(invitedLimit) users can be invited.") }
    }
    return users
  }

  private static func object(_ json: JSON, _ key: StaticString) throws(MatrixError) -> JSON? {
    guard let value = json[key], !value.isNull else { return nil }
    guard value.isObject else { throw .badJSON("'\(key)' is an object.") }
    return value
  }

  private static func initialState(_ json: JSON) throws(MatrixError) -> [InitialState] {
    var events: [InitialState] = []
    for element in json["initial_state"]?.elements.map({ $0 }) ?? [] {
      guard let type = EventType(element["type"]), let content = element["content"], content.isObject else {
        throw .badJSON("'initial_state' is a list of objects with 'type' and 'content'.")
      }
      guard element["state_key"] == nil || element["state_key"]?.isString ?? false else {
        throw .badJSON("'state_key' is a string.")
      }
      events.append(InitialState(type: type, stateKey: element["state_key"]?.text ?? "", content: content))
      guard events.count <= initialStateLimit else {
        throw .invalidParameter("'initial_state' has more than \(initialStateLimit) events.")
      }
    }
    return events
  }
}
