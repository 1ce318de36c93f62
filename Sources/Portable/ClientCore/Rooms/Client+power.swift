import JSON
import MatrixModel

/// What a level of `m.room.power_levels` is about: a place in the event.
public struct PowerSubject: Sendable, Hashable {
  /// What the place stands in: the event itself or one of its maps.
  public enum Map: UInt8, Sendable { case event, users, messages, states, notifications }

  public let map: Map
  let key: ByteString

  private init(_ map: Map, _ key: ByteString) {
    self.map = map
    self.key = key
  }

  /// - Parameter key: as the specification has it.
  public init(_ map: Map, _ key: StaticString) { self.init(map, ByteString(stringLiteral: key)) }

  public static func user(_ user: UserID) -> PowerSubject { PowerSubject(.users, user.text) }
  public static func property(_ property: PowerLevels.Property) -> PowerSubject { PowerSubject(.event, property.name) }
  public static func event(_ type: EventType, isState: Bool) -> PowerSubject {
    PowerSubject(isState ? .states : .messages, type.text)
  }
  /// `@room`.
  public static var notifyRoom: PowerSubject { PowerSubject(.notifications, "room" as StaticString) }

  /// nil for the event itself.
  fileprivate var name: StaticString? {
    switch map {
    case .event: nil
    case .users: "users"
    case .messages, .states: "events"
    case .notifications: "notifications"
    }
  }
}

/// Changing power levels. The event is read anew before it is changed: somebody else may have changed it meanwhile.
extension Client {
  mutating func setPowerLevel(of subject: PowerSubject, to level: Int64?, in room: RoomID, _ command: CommandID) {
    guard let known = rooms[room], let own = session?.userID else { return finish(command, .failed(.unknownRoom)) }
    if let levels = known.powerLevels, !levels.canSetLevel(of: subject, to: level, by: own) {
      return finish(command, .failed(.notAllowed))
    }
    request(
      .getRoomStateWithKey, Endpoint.getRoomStateWithKey.path(room.text, EventType.powerLevels.text, ""),
      for: .powerLevels(room, subject, level, command))
  }

  mutating func powerLevelsAnswered(
    _ answer: Answer, _ room: RoomID, _ subject: PowerSubject, _ level: Int64?, _ command: CommandID
  ) {
    guard case .success(let json) = answer, json.isObject else {
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    request(
      .setRoomStateWithKey, Endpoint.setRoomStateWithKey.path(room.text, EventType.powerLevels.text, ""),
      body: PowerLevels.content(json, with: subject, at: level), for: .command(command))
  }
}

extension PowerLevels {
  /// The level that holds, the default where the event says nothing of it.
  public func required(_ subject: PowerSubject) -> PowerLevel {
    switch subject.map {
    case .event: PowerLevels.Property.allCases.first { subject.key == $0.name }.map { required($0) } ?? 0
    case .users: UserID(subject.key).map { level(of: $0) } ?? required(.usersDefault)
    case .messages, .states: required(for: EventType(trusted: subject.key), isState: subject.map == .states)
    case .notifications: requiredForRoomNotification
    }
  }

  /// - Parameter new: nil for the default. Spec: "Authorisation rules", `m.room.power_levels`: neither the old level nor the new one may
  ///   be above that of who changes it.
  public func canSetLevel(of subject: PowerSubject, to new: Int64?, by user: UserID) -> Bool {
    if subject.map == .users, let target = UserID(subject.key) {
      return canSetLevel(of: target, to: new ?? required(.usersDefault).value, by: user)
    }
    let own = level(of: user)
    return canSend(.powerLevels, isState: true, by: user) && required(subject) <= own && PowerLevel(new ?? 0) <= own
  }

  /// The content of `m.room.power_levels` with another level of one subject, and everything else as it was.
  static func content(_ content: JSON, with subject: PowerSubject, at level: Int64?) -> [UInt8] {
    JSONWriter.object { writer in
      guard let map = subject.name else { return write(content, with: subject.key, at: level, to: &writer) }
      for member in content.members where !member.isKey(map) {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.key(map)
      writer.object { write(content[map], with: subject.key, at: level, to: &$0) }
    }
  }

  private static func write(_ object: JSON?, with key: ByteString, at level: Int64?, to writer: inout JSONWriter) {
    if let object {
      for member in object.members where member.key != key {
        writer.key(member.key)
        writer.write(member.value)
      }
    }
    guard let level else { return }
    writer.key(key)
    writer.write(level)
  }
}
