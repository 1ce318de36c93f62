import JSON
import MatrixModel
import Olm

@testable import Encryption

/// What a homeserver in memory has of accounts: cross-signing keys, account data and backups.
final class ModelAccounts {
  struct Account {
    var identity: [CrossSigningUse: JSON] = [:]
    var data: [ByteString: JSON] = [:]
    var backups: [Backup] = []
  }

  struct Backup {
    let creation: JSON
    var isDeleted = false
    var sessions: [RoomKeys.Name: JSON] = [:]
  }

  private var accounts: [UserID: Account] = [:]
  private static let parts: [(CrossSigningUse, upload: ByteString, answer: ByteString)] = [
    (.master, "master_key", "master_keys"), (.selfSigning, "self_signing_key", "self_signing_keys"),
    (.userSigning, "user_signing_key", "user_signing_keys")
  ]

  subscript(user: UserID) -> Account {
    get { accounts[user] ?? Account() }
    set { accounts[user] = newValue }
  }

  /// The server has nothing of the kind.
  struct NotFound: Error {}

  // MARK: Identities

  func setIdentity(of user: UserID, _ body: JSON) throws {
    for (use, name, _) in Self.parts { if let key = body[name] { self[user].identity[use] = key } }
  }

  func sign(_ user: UserID, _ object: JSON) throws {
    guard let known = self[user].identity[.master] else { throw NotFound() }
    self[user].identity[.master] = try known.merged(object)
  }

  func identities(of users: [UserID], by asking: UserID, beside answer: JSON) throws -> JSON {
    try answer.replacing([]) { writer in
      for (use, _, name) in Self.parts {
        writer.key(name)
        writer.object { writer in
          for user in users where use != .userSigning || user == asking {
            guard let key = self[user].identity[use] else { continue }
            writer.key(user)
            writer.write(key)
          }
        }
      }
    }
  }

  // MARK: Account data and backups

  func answer(_ request: MachineRequest, _ body: JSON, of user: UserID) throws -> JSON? {
    switch "\(request.endpoint.method) \(request.endpoint.pattern)" {
    case "put \(Endpoint.setAccountData.pattern)": self[user].data[request.parameters[1]] = body
    case "get \(Endpoint.getAccountData.pattern)":
      guard let content = self[user].data[request.parameters[1]] else { throw NotFound() }
      return content
    case "post \(Endpoint.postRoomKeysVersion.pattern)":
      self[user].backups.append(Backup(creation: body))
      return try parsed(#"{"version":"\#(self[user].backups.count)"}"#)
    case "get \(Endpoint.getRoomKeysVersionCurrent.pattern)":
      guard let current = current(of: user) else { throw NotFound() }
      return try state(of: user, current)
    case "delete \(Endpoint.deleteRoomKeysVersion.pattern)":
      self[user].backups[try place(request.parameters[0], user)].isDeleted = true
    case "put \(Endpoint.putRoomKeys.pattern)": return try store(body, request.version, user)
    case "get \(Endpoint.getRoomKeys.pattern)":
      let sessions = self[user].backups[try place(request.version, user)].sessions
      return try JSON.object { writer in
        writer.key("rooms")
        writer.object { writer in
          for room in Set(sessions.keys.map(\.room)).sorted() {
            writer.key(room)
            writer.object { writer in
              writer.key("sessions")
              writer.object { writer in
                for name in sessions.keys.filter({ $0.room == room }).sorted(by: { $0.session < $1.session }) {
                  writer.key(name.session)
                  writer.write(sessions[name]!)
                }
              }
            }
          }
        }
      }
    case "get \(Endpoint.getRoomKeyBySessionId.pattern)":
      let name = RoomKeys.Name(RoomID(trusted: request.parameters[0]), request.parameters[1])
      guard let session = self[user].backups[try place(request.version, user)].sessions[name] else { throw NotFound() }
      return session
    default: return nil
    }
    return try JSON.object { _ in }
  }

  private func current(of user: UserID) -> Int? { self[user].backups.lastIndex { !$0.isDeleted } }

  private func place(_ version: ByteString?, _ user: UserID) throws -> Int {
    guard let number = version.flatMap({ Int($0.string) }), self[user].backups.indices.contains(number - 1),
      !self[user].backups[number - 1].isDeleted
    else { throw NotFound() }
    return number - 1
  }

  private func state(of user: UserID, _ place: Int) throws -> JSON {
    let backup = self[user].backups[place]
    return try backup.creation.replacing([]) { writer in
      writer.member("version", ByteString("\(place + 1)"))
      writer.member("etag", ByteString("\(backup.sessions.count)"))
      writer.member("count", backup.sessions.count)
    }
  }

  private func store(_ body: JSON, _ version: ByteString?, _ user: UserID) throws -> JSON {
    let place = try place(version, user)
    guard place == current(of: user) else { throw NotFound() }
    for room in body["rooms"]?.members.map({ $0 }) ?? [] {
      for session in room.value["sessions"]?.members.map({ $0 }) ?? [] {
        self[user].backups[place].sessions[RoomKeys.Name(RoomID(trusted: room.key), session.key)] = session.value
      }
    }
    return try state(of: user, place)
  }
}

extension JSON {
  /// With the signatures of both.
  func merged(_ other: JSON) throws -> JSON {
    var signatures: [ByteString: [ByteString: JSON]] = [:]
    for object in [self, other] {
      for user in object["signatures"]?.members.map({ $0 }) ?? [] {
        for signature in user.value.members.map({ $0 }) { signatures[user.key, default: [:]][signature.key] = signature.value }
      }
    }
    return try replacing(["signatures"]) { writer in
      writer.key("signatures")
      writer.object { writer in
        for user in signatures.keys.sorted() {
          writer.key(user)
          writer.object { writer in
            for key in signatures[user]!.keys.sorted() {
              writer.key(key)
              writer.write(signatures[user]![key]!)
            }
          }
        }
      }
    }
  }
}
