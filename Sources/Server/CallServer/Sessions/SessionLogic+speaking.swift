import JSON

/// What is said to connections.
extension SessionLogic {
  /// A message without its number.
  static func message(_ type: StaticString, _ members: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", type.description)
      members(&writer)
    }
    return writer.bytes
  }

  /// The last word on a socket; without a number, as it is not repeated.
  package static func closed(_ reason: CallRefusal) -> [UInt8] {
    message("closed") { writer in
      writer.member("code", reason.code.rawValue)
      writer.member("message", reason.message)
      writer.member("retry", reason.isWorthRetrying)
      if let wait = reason.retryAfterMilliseconds { writer.member("retry_after_ms", wait) }
    }
  }

  mutating func say(_ message: [UInt8], to id: ConnectionID) {
    guard let numbered = connections[id]?.outbox.append(message) else { return }
    if let socket = connections[id]?.socket { add(.send(numbered, to: socket)) }
    if connections[id]?.outbox.isOverfull == true, !ending.contains(where: { $0.0 == id }) {
      ending.append((id, CallRefusal(.tooSlow, "Too much was not acknowledged.")))
    }
  }

  mutating func sayToAll(except: ConnectionID? = nil, _ message: [UInt8]) {
    for id in Array(connections.keys) where id != except { say(message, to: id) }
  }

  mutating func close(_ socket: SocketID, _ reason: CallRefusal) {
    add(.send(Self.closed(reason), to: socket))
    add(.close(socket))
    sockets[socket] = nil
  }

  // MARK: Answers to requests

  mutating func done(_ request: Int64, _ id: ConnectionID, _ members: (inout JSONWriter) -> Void = { _ in }) {
    say(
      Self.message("done") { writer in
        writer.member("id", request)
        members(&writer)
      }, to: id)
  }

  mutating func refuse(_ request: Int64, _ id: ConnectionID, _ refusal: CallRefusal) {
    say(
      Self.message("refused") { writer in
        writer.member("id", request)
        writer.member("code", refusal.code.rawValue)
        writer.member("message", refusal.message)
        if let wait = refusal.retryAfterMilliseconds { writer.member("retry_after_ms", wait) }
      }, to: id)
  }

  /// Closes connections that fell too far behind. Closing one can push another over its limit, so this repeats until none is left.
  mutating func settle() {
    while let (id, reason) = ending.popLast() { end(id, .lost, reason) }
  }
}
