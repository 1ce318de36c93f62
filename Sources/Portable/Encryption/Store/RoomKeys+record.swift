import JSON
import MatrixModel
import Olm

/// The records of one session: its keys, and pages of the events that its indices belong to.
extension RoomKeys.Entry {
  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.array("keys", keys) { key, writer in writer.object { key.write(to: &$0) } }
      writer.array("withheld", withheld.map { $0 }) { entry, writer in
        writer.object { writer in
          writer.member("user", entry.key)
          writer.member("code", Int(entry.value.rawValue))
        }
      }
    }
  }

  func record(ofPage page: UInt32) -> [UInt8] {
    JSONWriter.record { writer in
      writer.array("seen", keys) { key, writer in
        writer.object { writer in
          key.origin.write(to: &writer)
          writer.array("marks", key.seen.marks(ofPage: page)) { mark, writer in
            writer.object { writer in
              writer.member("index", Int64(mark.index))
              writer.member("sender", base64: mark.mark.sender)
              writer.member("event", base64: mark.mark.event)
            }
          }
        }
      }
    }
  }

  /// - Parameter records: all of the session.
  init(_ records: [EncryptionRecord]) throws(RecordRefusal) {
    var pages: [JSON] = []
    for record in records {
      let json = try JSON.record(record.value)
      guard let list = json["keys"] else {
        pages.append(json)
        continue
      }
      for entry in list.elements { keys.append(try RoomKey(record: entry)) }
      for entry in json["withheld"]?.elements.map({ $0 }) ?? [] {
        withheld[try entry.identifier("user")] = WithheldCode(rawValue: UInt8(clamping: try entry.number("code")))
      }
    }
    for page in pages {
      for entry in page["seen"]?.elements.map({ $0 }) ?? [] {
        let origin = try RoomKey.Origin(record: entry)
        for place in keys.indices where keys[place].origin == origin { try keys[place].seen.read(entry["marks"]) }
      }
    }
  }
}

extension RoomKey {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("room", room)
    writer.member("session", base64: session.record.exposed())
    writer.member("shares", sharesHistory)
    if let giver { writer.member("giver", giver) }
    origin.write(to: &writer)
  }

  fileprivate init(record json: JSON) throws(RecordRefusal) {
    let bytes = try json.bytes("session")
    guard let session = try? InboundGroupSession(record: Secret(bytes)) else { throw .unreadable }
    self.init(
      try json.identifier("room"), session, try Origin(record: json), sharesHistory: try json.flag("shares"))
    giver = json["giver"].flatMap { UserID($0) }
  }
}

extension RoomKey.Origin {
  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .proven(let owner):
      writer.member("user", owner.user)
      writer.member("identity", base64: owner.identity.bytes)
      writer.member("signing", base64: owner.signing.bytes)
    case .claimed(let identity): writer.member("identity", base64: identity.bytes)
    }
  }

  fileprivate init(record json: JSON) throws(RecordRefusal) {
    let identity = try json.identityKey("identity")
    guard json["user"] != nil else {
      self = .claimed(identity: identity)
      return
    }
    self = .proven(
      RoomKey.Owner(user: try json.identifier("user"), identity: identity, signing: try json.signingKey("signing")))
  }
}

extension SeenIndices {
  fileprivate func marks(ofPage page: UInt32) -> [(index: UInt32, mark: Mark)] {
    marks.keys.filter { $0 / Self.pageIndices == page }.ordered().flatMap { index in
      (marks[index] ?? []).map { (index: index, mark: $0) }
    }
  }

  fileprivate mutating func read(_ json: JSON?) throws(RecordRefusal) {
    for entry in json?.elements.map({ $0 }) ?? [] {
      guard let index = UInt32(exactly: try entry.number("index")) else { throw .unreadable }
      restore(index, Mark(sender: try entry.bytes("sender"), event: try entry.bytes("event")))
    }
  }
}
