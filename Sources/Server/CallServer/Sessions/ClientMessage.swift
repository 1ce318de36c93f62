import JSON
import MatrixModel

/// What a client says, read. Documentation/Decisions/0014-call-sessions.md.
enum ClientMessage: Sendable {
  /// - Parameter relays: it has the capability of sessions whose media goes from peer to peer.
  case connect(token: ByteString, session: SessionID, relays: Bool)
  case resume(ConnectionID, key: ByteString, seq: Int64)
  case acknowledgement(Int64)
  case request(Int64, Result<CallRequest, CallRefusal>)
  /// Of a type that is not known here and without a number: it is ignored.
  case unknown

  /// What is said before anybody is known: no offer is read, nothing long is. Throws `invalid`, `too_large`.
  init(first text: String) throws(CallRefusal) {
    guard text.utf8.count <= CallLimits.messageBytes else { throw Self.tooLarge }
    self = try ClientMessage(text) { (_) throws(CallRefusal) in throw .invalid("The first message is connect or resume.") }
  }

  /// Throws `invalid` if this is not a valid message, `too_large`.
  ///
  /// - Parameter admit: asked before an offer of so many bytes is read, which is dear; what it throws is the answer to that request.
  init(_ text: String, admit: (Int) throws(CallRefusal) -> Void = { _ in }) throws(CallRefusal) {
    guard text.utf8.count <= CallLimits.offerMessageBytes else { throw Self.tooLarge }
    guard let json = try? JSON.parse(Array(text.utf8), limits: JSONLimits(depth: CallLimits.messageDepth)),
      json.isObject, let type = json["type"]?.text
    else { throw .invalid("A message is a JSON object with a type.") }
    guard text.utf8.count <= CallLimits.messageBytes || type == "offer" else { throw Self.tooLarge }
    switch type {
    case "connect":
      guard let token = json["token"]?.text, let session = SessionID(json["session"]) else {
        throw .invalid("connect has token and session.")
      }
      let capabilities = json["capabilities"]?.elements ?? JSON.none
      self = .connect(token: token, session: session, relays: capabilities.contains { $0.isString("relay") })
    case "resume":
      guard let connection = ConnectionID(json["connection"]), let key = json["key"]?.text, let seq = json["seq"]?.integer
      else { throw .invalid("resume has connection, key and seq.") }
      self = .resume(connection, key: key, seq: seq)
    case "ack":
      guard let seq = json["seq"]?.integer else { throw .invalid("ack has seq.") }
      self = .acknowledgement(seq)
    default:
      guard let id = json["id"]?.integer else {
        self = .unknown
        return
      }
      let request = Result { () throws(CallRefusal) in
        if type == "offer" { try admit(text.utf8.count) }
        return try CallRequest(type, json)
      }
      self = .request(id, request)
    }
  }

  private static let tooLarge = CallRefusal(.tooLarge, "The message is too long.")
}

extension JSON {
  /// Nothing, where there might have been an array.
  fileprivate static var none: Elements { (try? JSON.parse(Array("[]".utf8)))!.elements }
}
