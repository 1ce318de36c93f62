import JSON

/// What a page's program says to the Worker that has its machine of end-to-end encryption (`EncryptionHost`). The Worker deals with them in the
/// order in which they come.
package enum EncryptionRequest: Equatable, Sendable {
  case begin(user: ByteString, device: ByteString)
  /// All records of all that an earlier `EncryptionReport.Step.loads` named.
  case loaded([LinkRecord])
  /// The body of the server's answer to the request of that number. Comes back as a delivery, or as `EncryptionReport.plainAnswer`.
  ///
  /// - target: path and query of the request.
  case answer(UInt32, target: ByteString, body: [UInt8])
  /// Records of a room's timeline that the load of that number has found; likewise.
  case records(UInt32, room: ByteString, [LinkRecord])
  /// `m.room.encryption` of a room, as its state has it.
  case encryption(room: ByteString, content: [UInt8])
  case encrypt(UInt64, UnencryptedContent)
  /// These are to have the key of the room's next message.
  case prepare(room: ByteString, users: [ByteString], sharesHistory: Bool)
  /// Ends with `EncryptionReport.Delivery.ended` of the same number.
  case command(UInt64, EncryptionAction)
  /// Goes on with the action of that number, after `EncryptionReport.Delivery.progress`.
  case proceed(UInt64)
  /// The answer to `EncryptionReport.Step.Request` of that number.
  case answered(UInt64, body: [UInt8])
  case failed(UInt64, isFinal: Bool)
  /// The user accepts an invitation: what its sender offers of the room's history is wanted.
  case accepted(room: ByteString, from: ByteString)
  /// The network is back.
  case reachable
  /// It is `EncryptionReport.Step.wakeAt`.
  case woken
}

package struct UnencryptedContent: Equatable, Sendable {
  package var room: ByteString
  /// Who may read it.
  package var users: [ByteString]
  /// Whether members who come later may.
  package var sharesHistory: Bool
  package var type: ByteString
  /// A JSON object.
  package var content: [UInt8]

  package init(room: ByteString, users: [ByteString], sharesHistory: Bool, type: ByteString, content: [UInt8]) {
    self.room = room
    self.users = users
    self.sharesHistory = sharesHistory
    self.type = type
    self.content = content
  }
}

/// A record of the page's store.
package struct LinkRecord: Equatable, Sendable {
  package let key: ByteString
  package let value: [UInt8]

  package init(key: ByteString, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

// MARK: As bytes

extension EncryptionRequest {
  /// - Parameter now: milliseconds since 1970.
  package func bytes(at now: Int64) -> [UInt8] {
    var writer = LinkWriter()
    writer.write(now)
    switch self {
    case .begin(let user, let device):
      writer.write(kind: 0)
      writer.write(user)
      writer.write(device)
    case .loaded(let records):
      writer.write(kind: 1)
      writer.write(records)
    case .answer(let request, let target, let body):
      writer.write(kind: 2)
      writer.write(request)
      writer.write(target)
      writer.write(body)
    case .records(let load, let room, let records):
      writer.write(kind: 3)
      writer.write(load)
      writer.write(room)
      writer.write(records)
    case .encrypt(let message, let content):
      writer.write(kind: 4)
      writer.write(message)
      writer.write(content.room)
      writer.write(content.users) { $0.write($1) }
      writer.write(content.sharesHistory)
      writer.write(content.type)
      writer.write(content.content)
    case .answered(let request, let body):
      writer.write(kind: 5)
      writer.write(request)
      writer.write(body)
    case .failed(let request, let isFinal):
      writer.write(kind: 6)
      writer.write(request)
      writer.write(isFinal)
    case .reachable: writer.write(kind: 7)
    case .woken: writer.write(kind: 8)
    case .encryption(let room, let content):
      writer.write(kind: 9)
      writer.write(room)
      writer.write(content)
    case .command(let number, let action):
      writer.write(kind: 10)
      writer.write(number)
      action.write(to: &writer)
    case .prepare(let room, let users, let sharesHistory):
      writer.write(kind: 11)
      writer.write(room)
      writer.write(users) { $0.write($1) }
      writer.write(sharesHistory)
    case .proceed(let number):
      writer.write(kind: 12)
      writer.write(number)
    case .accepted(let room, let user):
      writer.write(kind: 20)
      writer.write(room)
      writer.write(user)
    }
    return writer.bytes
  }

  package static func read(_ bytes: [UInt8]) throws(LinkError) -> (request: EncryptionRequest, now: Int64) {
    var reader = LinkReader(bytes)
    let now = try reader.int64()
    let request = try Self.read(&reader)
    try reader.end()
    return (request, now)
  }

  private static func read(_ reader: inout LinkReader) throws(LinkError) -> EncryptionRequest {
    switch try reader.byte() {
    case 0: .begin(user: try reader.text(), device: try reader.text())
    case 1: .loaded(try reader.records())
    case 2: .answer(try reader.uint32(), target: try reader.text(), body: try reader.bytes())
    case 3: .records(try reader.uint32(), room: try reader.text(), try reader.records())
    case 4:
      .encrypt(
        try reader.uint64(),
        UnencryptedContent(
          room: try reader.text(), users: try reader.list { (one) throws(LinkError) in try one.text() },
          sharesHistory: try reader.flag(), type: try reader.text(), content: try reader.bytes()))
    case 5: .answered(try reader.uint64(), body: try reader.bytes())
    case 6: .failed(try reader.uint64(), isFinal: try reader.flag())
    case 7: .reachable
    case 8: .woken
    case 9: .encryption(room: try reader.text(), content: try reader.bytes())
    case 10: .command(try reader.uint64(), try EncryptionAction(&reader))
    case 11:
      .prepare(
        room: try reader.text(), users: try reader.list { (one) throws(LinkError) in try one.text() },
        sharesHistory: try reader.flag())
    case 12: .proceed(try reader.uint64())
    case 20: .accepted(room: try reader.text(), from: try reader.text())
    default: throw .unknownKind
    }
  }
}
