import JSON
import MatrixModel

/// The tags a user gives a room: the room's account data `m.tag`. Spec: Client-Server API, "Room Tagging".
package final class Tags: Sendable {
  /// Bytes of a tag's name, given by the spec.
  package static let nameBytesLimit = 255

  /// Tags of one user for one room.
  package static let countLimit = 100

  private let accountData: AccountData

  package init(accountData: AccountData) {
    self.accountData = accountData
  }

  /// `{"tags":{…}}`
  package func content(of userID: UserID, in roomID: RoomID) async throws -> [UInt8] {
    do {
      let content = try await accountData.content(of: .tag, userID, in: roomID)
      return try JSON.parse(content)["tags"]?.isObject == true ? content : Self.empty
    } catch let error as MatrixError where error.code == .notFound {
      return Self.empty
    }
  }

  /// Sets a tag. Throws `M_INVALID_PARAM` for a name that is too long and an `order` outside 0...1, `M_TOO_LARGE` beyond
  /// `countLimit`.
  package func set(_ name: ByteString, _ tag: JSON, of userID: UserID, in roomID: RoomID) async throws {
    guard !name.isEmpty, name.count <= Self.nameBytesLimit else {
      throw MatrixError.invalidParameter("The name of a tag has 1 to \(Self.nameBytesLimit) bytes.")
    }
    if let order = tag.given("order") {
      guard order.kind == .number, let value = Double(String(decoding: order.bytes, as: UTF8.self)),
        (0...1).contains(value)
      else { throw MatrixError.invalidParameter("'order' is a number from 0 to 1.") }
    }
    let bytes = [UInt8](tag.bytes)
    try await accountData.update(.tag, of: userID, in: roomID) { old in
      try Self.replacing(name, with: bytes, in: old)
    }
  }

  /// Removes a tag; one that is not there is no error.
  package func remove(_ name: ByteString, of userID: UserID, in roomID: RoomID) async throws {
    try await accountData.update(.tag, of: userID, in: roomID) { old in
      guard let old, try JSON.parse(old)["tags"]?[name] != nil else { return nil }
      return try Self.replacing(name, with: nil, in: old)
    }
  }

  /// Throws `M_TOO_LARGE`.
  static func check(count: Int) throws(MatrixError) {
    guard count <= countLimit else { throw .tooLarge("A user gives a room at most \(countLimit) tags.") }
  }

  private static let empty = Array(#"{"tags":{}}"#.utf8)

  private static func replacing(_ name: ByteString, with tag: [UInt8]?, in old: [UInt8]?) throws -> [UInt8] {
    let tags = try old.map { try JSON.parse($0) }?["tags"]
    if tag != nil, let tags, tags[name] == nil { try check(count: tags.count + 1) }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("tags")
    writer.beginObject()
    if let tags {
      for member in tags.members where member.key != name {
        writer.key(member.key)
        writer.write(member.value)
      }
    }
    if let tag {
      writer.key(name)
      writer.raw(tag)
    }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }
}
