import JSON
import MatrixModel
import Olm

/// A record of the store. Keys are ASCII and tell nothing of users, rooms and sessions.
package struct EncryptionRecord: Equatable, Sendable {
  package let key: ByteString
  package let value: [UInt8]

  package init(key: ByteString, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

/// A change of the store. All of one output are one batch: written whole, or not at all.
package enum RecordChange: Equatable, Sendable {
  case put(EncryptionRecord)
  case delete(ByteString)
}

/// Why a record is not taken. Whose own account cannot be read is another device from then on; other records are left out.
package enum RecordRefusal: Error, Equatable, Sendable {
  /// There is none, or it was damaged.
  case unreadable
  /// It was written by a newer version.
  case unknownVersion
}

/// Names of records. What others chose (IDs) is in them only as a tag under a key of this store.
struct RecordNames: Sendable {
  static let all: ByteString = "e/", account: ByteString = "e/account"
  static let users: ByteString = "e/user/", rooms: ByteString = "e/room/", outbound: ByteString = "e/out/"
  static let holders: ByteString = "e/held/", sending: ByteString = "e/send/"

  static let secretByteCount = 32
  private static let sessionName = "keys"
  static var inMemory: [ByteString] {
    [
      account, users, rooms, outbound, holders, sending, ownIdentity, identities, policy, secretStorage, backup, waiting,
      history, verifications, unsignedKeys, secretRequests, dehydration
    ]
  }

  let secret: Secret

  func user(_ user: UserID) -> ByteString { named(Self.users, user.text) }
  func room(_ room: RoomID) -> ByteString { named(Self.rooms, room.text) }
  func outbound(_ room: RoomID) -> ByteString { named(Self.outbound, room.text) }
  func holders(of room: RoomID) -> ByteString { named(Self.holders, room.text) }
  func sessions(with device: Curve25519Key) -> ByteString { named("e/olm/", ByteString(decoding: device.text)) }
  /// All of one session's records begin with it: its keys, and pages of the events that its indices belong to.
  func keys(of name: RoomKeys.Name) -> ByteString {
    ByteString(named("e/in/", ByteString(name.room.string + " " + name.session.string)).string + "/")
  }
  func session(_ name: RoomKeys.Name) -> ByteString { ByteString(keys(of: name).string + Self.sessionName) }
  /// All records of one of 256 parts of the sessions begin with it: names are tags, so they are spread evenly.
  static func keys(ofPart part: UInt8) -> ByteString { ByteString("e/in/" + hexadecimal([part]).string) }
  /// Whether it is the record of a session's keys, not a page or a mark beside them.
  static func isSession(_ key: ByteString) -> Bool {
    key.utf8.starts(with: "e/in/".utf8)
      && key.utf8.suffix(sessionName.utf8.count + 1).elementsEqual(("/" + Self.sessionName).utf8)
  }
  func page(_ page: RoomKeys.Page) -> ByteString { ByteString(keys(of: page.name).string + String(page.number)) }
  static func sending(_ transaction: ByteString) -> ByteString { ByteString(sending.string + transaction.string) }

  /// What it was found by: the records of one session have a folder.
  static func prefix(of key: ByteString) -> ByteString {
    guard key.utf8.starts(with: "e/in/".utf8), let end = key.utf8.lastIndex(of: UInt8(ascii: "/")) else { return key }
    return ByteString(decoding: Array(key.utf8[...end]))
  }

  func named(_ prefix: ByteString, _ text: ByteString) -> ByteString {
    let tag = secret.tag(of: Array(prefix.utf8) + Array(text.utf8))
    return ByteString(prefix.string + Self.hexadecimal(tag.prefix(16)).string)
  }

  static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> ByteString {
    let digits = Array("0123456789abcdef".utf8)
    return ByteString(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}

// MARK: Writing and reading

extension JSONWriter {
  /// A record of the current version.
  static func record(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    object { writer in
      writer.member("v", 1)
      body(&writer)
    }
  }

  mutating func member(_ key: StaticString, base64 bytes: [UInt8]) { member(key, ByteString(decoding: Base64.encode(bytes))) }
}

extension JSON {
  static func record(_ bytes: [UInt8]) throws(RecordRefusal) -> JSON {
    guard let json = try? JSON.parse(bytes), let version = json.integer("v") else { throw .unreadable }
    guard version == 1 else { throw .unknownVersion }
    return json
  }

  func bytes(_ key: StaticString) throws(RecordRefusal) -> [UInt8] {
    guard let text = text(key), let bytes = Base64.decode(Array(text.utf8)) else { throw .unreadable }
    return bytes
  }

  func number(_ key: StaticString) throws(RecordRefusal) -> Int64 {
    guard let number = integer(key) else { throw .unreadable }
    return number
  }

  func flag(_ key: StaticString) throws(RecordRefusal) -> Bool {
    guard let flag = bool(key) else { throw .unreadable }
    return flag
  }

  func identityKey(_ key: StaticString) throws(RecordRefusal) -> Curve25519Key {
    guard let key = Curve25519Key(try bytes(key)) else { throw .unreadable }
    return key
  }

  func signingKey(_ key: StaticString) throws(RecordRefusal) -> Ed25519Key {
    guard let key = Ed25519Key(try bytes(key)) else { throw .unreadable }
    return key
  }

  /// nil if the record does not have the member.
  func signingKeyIfAny(_ key: StaticString) throws(RecordRefusal) -> Ed25519Key? {
    self[key] == nil ? nil : try signingKey(key)
  }

  func identifier<ID: Identifier>(_ key: StaticString) throws(RecordRefusal) -> ID {
    guard let text = text(key), let id = ID(text) else { throw .unreadable }
    return id
  }
}
