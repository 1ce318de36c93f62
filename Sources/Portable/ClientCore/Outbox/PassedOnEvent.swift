import JSON
import MatrixModel

/// An event that another program sends with this session (`Query.passedOn`): what two say to each other to begin a call, for one. Into an encrypted
/// room it goes encrypted, as messages do.
struct PassedOnEvent: Sendable {
  let room: RoomID
  let type: EventType
  /// As the program has named it, so that a request that is repeated is not a second event.
  let transaction: ByteString
  let content: [UInt8]
  /// While the host encrypts it.
  var id: SendID?

  /// nil unless the request sends an event that is encrypted in encrypted rooms.
  init?(_ request: QueryRequest) {
    guard request.isPassedOn else { return nil }
    // "_matrix", "client", "v3", "rooms", room, "send", type, transaction
    let parts = Array(request.target.utf8).split(separator: UInt8(ascii: "/"))
    guard parts.count == 8, parts[5].elementsEqual("send".utf8), let room = PercentEncoding.decode(parts[4]),
      let id = RoomID(ByteString(decoding: room)), let type = PercentEncoding.decode(parts[6]),
      let transaction = PercentEncoding.decode(parts[7])
    else { return nil }
    self.room = id
    self.type = EventType(trusted: ByteString(decoding: type))
    self.transaction = ByteString(decoding: transaction)
    content = request.body ?? Array("{}".utf8)
    guard OutboxPayload(.event, self.type).needsEncryption else { return nil }
  }
}

extension Client {
  /// Once it is known who is to read it.
  mutating func encryptQuery(_ query: CommandID) {
    guard let event = queries[query]?.event, event.id == nil, let readers = readers(in: event.room) else { return }
    let id = outbox.nextID(at: now)
    queries[query]?.event?.id = id
    encrypt(id, event.type, event.content, for: readers)
  }

  /// The list of a room's members has come, or will not for now.
  mutating func encryptQueries(in room: RoomID, _ answer: Answer?) {
    for id in queries.keys where queries[id]?.event?.room == room {
      if let error = answer?.error { endQuery(id, .failed(error)) } else { encryptQuery(id) }
    }
  }

  func query(encrypting id: SendID) -> CommandID? { queries.keys.first { queries[$0]?.event?.id == id } }

  /// What the encryption has to keep is stored first: no key is used twice.
  mutating func encrypted(query id: CommandID, _ content: [UInt8]) {
    guard let event = queries[id]?.event else { return }
    let path = Endpoint.sendMessage.path(event.room.text, EventType.encrypted.text, event.transaction)
    var request = QueryRequest(endpoint: .sendMessage, target: path, body: content)
    request.isPassedOn = true
    queries[id]?.request = request
    queries[id]?.event = nil
    write([], .query(id))
  }
}
