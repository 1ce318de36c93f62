import JSON
import MatrixModel
import Olm

extension RoomEncryption {
  func record(of room: RoomID) -> [UInt8] {
    JSONWriter.record { writer in
      writer.member("room", room)
      writer.member("messages", rotationMessages)
      writer.member("age", rotationMilliseconds)
      writer.member("supported", isSupported)
    }
  }

  static func read(_ bytes: [UInt8]) throws(RecordRefusal) -> (RoomID, RoomEncryption) {
    let json = try JSON.record(bytes)
    let encryption = RoomEncryption(
      rotationMessages: Int(clamping: try json.number("messages")), rotationMilliseconds: try json.number("age"),
      isSupported: try json.flag("supported"))
    return (try json.identifier("room"), encryption)
  }
}

/// The ratchet changes with each message, the holders seldom: they are records of their own.
extension OutboundRoom {
  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.member("room", room)
      writer.member("session", base64: session.record.exposed())
      writer.member("created", createdAt)
      writer.member("shares", sharesHistory)
      writer.member("over", isOver)
    }
  }

  var holdersRecord: [UInt8] {
    JSONWriter.record { writer in
      writer.member("room", room)
      writer.member("session", id)
      writer.array("holders", holders.map { $0 }) { holder, writer in
        writer.object { writer in
          holder.key.write(to: &writer)
          writer.member("index", Int64(holder.value))
        }
      }
      writer.array("told", told.map { $0 }) { told, writer in
        writer.object { writer in
          told.key.write(to: &writer)
          writer.member("code", Int(told.value.rawValue))
        }
      }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    let secret = try json.bytes("session")
    guard let session = try? OutboundGroupSession(record: Secret(secret)) else { throw .unreadable }
    self.init(
      try json.identifier("room"), session, sharesHistory: try json.flag("shares"), createdAt: try json.number("created"),
      isOver: try json.flag("over"))
    hasHolders = false
  }

  /// Without its holders nobody would know who has the key: such a session is not used again.
  mutating func takeHolders(_ json: JSON) throws(RecordRefusal) {
    guard json.text("session") == id else { throw .unreadable }
    hasHolders = true
    for entry in json["holders"]?.elements.map({ $0 }) ?? [] {
      guard let index = UInt32(exactly: try entry.number("index")) else { throw .unreadable }
      holders[try Holder(record: entry)] = index
    }
    for entry in json["told"]?.elements.map({ $0 }) ?? [] {
      guard let code = WithheldCode(rawValue: UInt8(clamping: try entry.number("code"))) else { throw .unreadable }
      told[try Holder(record: entry)] = code
    }
  }
}

extension OutboundRoom.Holder {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("user", user)
    writer.member("device", device)
    writer.member("identity", base64: identity.bytes)
  }

  fileprivate init(record json: JSON) throws(RecordRefusal) {
    self.init(
      user: try json.identifier("user"), device: try json.identifier("device"), identity: try json.identityKey("identity"))
  }
}
