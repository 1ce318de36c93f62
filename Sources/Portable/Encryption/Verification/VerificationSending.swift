import JSON
import MatrixModel
import Olm

/// A message of a verification on its way to the server.
struct VerificationSending: Sendable {
  let id: Verification.ID
  let user: UserID
  let room: RoomID?
  let message: VerificationRun.Outgoing
  let transaction: ByteString

  /// Nothing follows it in its verification.
  var isLast: Bool { message.kind == .cancel || message.kind == .done }

  /// In a room.
  var eventType: EventType { message.kind == .request ? .message : EventType(trusted: message.kind.type) }

  struct Request: Sendable {
    let sending: VerificationSending
    let endpoint: Endpoint
    let parameters: [ByteString]
    let body: [UInt8]
  }

  var plain: Request {
    if let room { return request(.sendMessage, [room.text, eventType.text], Array(message.content.bytes)) }
    let body = JSONWriter.object { writer in
      let entries = message.devices.map { (user: user, device: $0, value: message.content) }
      writer.member("messages", byDevice: entries) { $1.write($0) }
    }
    return request(.sendToDevice, [message.kind.type], body)
  }

  func encrypted(_ content: [UInt8]) -> Request {
    request(.sendMessage, [room?.text ?? "", EventType.encrypted.text], content)
  }

  private func request(_ endpoint: Endpoint, _ parameters: [ByteString], _ body: [UInt8]) -> Request {
    Request(sending: self, endpoint: endpoint, parameters: parameters + [transaction], body: body)
  }
}

/// What verifications have to say, in order.
struct VerificationSendings: Sendable {
  private var waiting: [VerificationSending] = []
  /// Verifications with a message that the server has not answered yet.
  private var busy: Set<Verification.ID> = []
  private var ready: [VerificationSending.Request] = []

  mutating func append(_ outgoing: Verifications.Outgoing, random: inout SecretSource) {
    let transaction = RecordNames.hexadecimal(random.bytes(16)[...])
    waiting.append(
      VerificationSending(
        id: outgoing.id, user: outgoing.user, room: outgoing.room, message: outgoing.message, transaction: transaction))
  }

  /// The next message of each verification that waits for no answer.
  mutating func takeNext() -> [VerificationSending] {
    var (next, rest): ([VerificationSending], [VerificationSending]) = ([], [])
    for sending in waiting {
      // Answers to unknown verifications have no order.
      if sending.id == 0 || busy.insert(sending.id).inserted { next.append(sending) } else { rest.append(sending) }
    }
    waiting = rest
    return next
  }

  mutating func add(_ request: VerificationSending.Request) { ready.append(request) }

  mutating func takeReady() -> [VerificationSending.Request] {
    defer { ready = [] }
    return ready
  }

  var isBusy: Bool { !busy.isEmpty || !waiting.isEmpty || !ready.isEmpty }

  mutating func end(_ sending: VerificationSending) { busy.remove(sending.id) }
}
