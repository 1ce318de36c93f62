import JSON
import MatrixModel

/// Events for devices, on their way. It is stored until the server has taken it, and asked for again under the same transaction ID after a crash.
struct ToDeviceRequest: Sendable {
  struct Message: Sendable {
    let user: UserID
    let device: DeviceID
    let content: [UInt8]

    init(_ device: DeviceKeys, _ content: [UInt8]) {
      user = device.user
      self.device = device.device
      self.content = content
    }
  }

  let transaction: ByteString
  let type: ByteString
  /// `{messages: {user: {device: content}}}`.
  let body: [UInt8]
  /// The room whose keys these are: its messages wait until it is taken.
  let room: RoomID?

  init(_ type: ByteString, _ messages: ArraySlice<Message>, keysOf room: RoomID?, transaction: ByteString) {
    self.type = type
    self.room = room
    self.transaction = transaction
    body = JSONWriter.object { writer in
      let entries = messages.map { (user: $0.user, device: $0.device, value: $0.content) }
      writer.member("messages", byDevice: entries) { $1.raw($0) }
    }
  }

  // MARK: Record

  var record: EncryptionRecord {
    let value = JSONWriter.record { writer in
      writer.member("transaction", transaction)
      writer.member("type", type)
      if let room { writer.member("room", room) }
      writer.member("body", raw: body)
    }
    return EncryptionRecord(key: RecordNames.sending(transaction), value: value)
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    guard let transaction = json.text("transaction"), let type = json.text("type"), let body = json["body"], body.isObject
    else { throw .unreadable }
    self.transaction = transaction
    self.type = type
    self.body = Array(body.bytes)
    room = RoomID(json["room"])
  }
}
