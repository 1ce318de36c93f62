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
  /// Beside the one who makes the room, in versions that have them.
  package var additionalCreators: [UserID]
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
    isDirect = try json.optionalBool("is_direct") ?? false
    invited = try Self.users(json, "invite")
    creationContent = try json.optionalObject("creation_content")
    additionalCreators = try Self.additionalCreators(creationContent, version)
    if let federate = creationContent?["m.federate"], federate.bool == nil {
      throw .badJSON("'m.federate' is neither true nor false.")
    }
    powerLevelOverride = try json.optionalObject("power_level_content_override")
    initialState = try Self.initialState(json)
    if let invitation = try Self.thirdPartyInvitation(json) { throw invitation.refusal(status: 400) }
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

  /// `additional_creators` of a room version that has them; others take no notice of it.
  private static func additionalCreators(_ content: JSON?, _ version: RoomVersion) throws(MatrixError) -> [UserID] {
    guard let content, version.hasPrivilegedCreators else { return [] }
    return try users(content, "additional_creators")
  }

  /// A list of user IDs, each once. Throws `M_BAD_JSON`, `M_INVALID_PARAM`.
  static func users(_ json: JSON, _ key: StaticString) throws(MatrixError) -> [UserID] {
    var users: [UserID] = []
    for element in try json.optionalArray(key)?.elements.map({ $0 }) ?? [] {
      guard let user = UserID(element) else { throw .invalidParameter("'\(key)' is a list of user IDs.") }
      if !users.contains(user) { users.append(user) }
      guard users.count <= invitedLimit else { throw .invalidParameter("'\(key)' has at most \(invitedLimit) users.") }
    }
    return users
  }

  private static func thirdPartyInvitation(_ json: JSON) throws(MatrixError) -> ThirdPartyInvitation? {
    var first: ThirdPartyInvitation?
    for element in try json.optionalArray("invite_3pid")?.elements.map({ $0 }) ?? [] {
      let invitation = try ThirdPartyInvitation(element)
      first = first ?? invitation
    }
    return first
  }

  private static func initialState(_ json: JSON) throws(MatrixError) -> [InitialState] {
    var events: [InitialState] = []
    for element in try json.optionalArray("initial_state")?.elements.map({ $0 }) ?? [] {
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
