import JSON

/// What is asked of the server, and its answers.
extension CallSession {
  /// Numbered and kept until it is answered. Without a socket it waits for the next one.
  mutating func request(
    _ type: StaticString, _ purpose: SessionRequest.Purpose = .plain, _ command: CommandID = 0,
    _ members: (inout JSONWriter) -> Void
  ) {
    guard connection != nil else { return finish(command, CallRefusal("connection_lost")) }
    guard command == 0 || wire.requests.count < CallLimits.requests else { return finish(command, CallRefusal("limit")) }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", ByteString(stringLiteral: type))
    writer.member("id", wire.lastRequest + 1)
    members(&writer)
    writer.endObject()
    var limit = CallLimits.messageBytes
    if case .offer = purpose { limit = CallLimits.descriptionMessageBytes }
    guard writer.bytes.count <= limit else {
      // The peer connection must not wait for an answer that never comes: what is on it goes on, and streams that end make room.
      if case .offer(let peer) = purpose {
        return offerRefused(peer, code: "too_large", retryAfter: CallLimits.retryMilliseconds)
      }
      let refusal = CallRefusal("too_large")
      if case .publish(let source) = purpose { return published(wire.lastRequest + 1, source, nil, refusal, retryAfter: nil) }
      return finish(command, refusal)
    }
    wire.lastRequest += 1
    let isOpen = socket.phase == .open
    if isOpen { say(writer.bytes) }
    wire.requests.append(
      SessionRequest(
        number: wire.lastRequest, text: writer.bytes, purpose: purpose, command: command, sentAt: isOpen ? now : nil))
  }

  mutating func answered(_ message: JSON, isDone: Bool) {
    guard let number = message.integer("id"), let i = wire.requests.firstIndex(where: { $0.number == number }) else {
      return
    }
    let request = wire.requests.remove(at: i)
    if let first = wire.requests.first, first.sentAt != nil { wire.requests[0].sentAt = now }
    let retryAfter = message.integer("retry_after_ms")
    let refusal = isDone ? nil : CallRefusal(message.text("code") ?? "invalid", message.text("message") ?? "")
    switch request.purpose {
    case .plain: finish(request.command, refusal)
    case .publish(let source): published(number, source, CallStream(message["stream"]), refusal, retryAfter: retryAfter)
    case .offer(let peer):
      if let sdp = message.text("sdp"), isDone { return answered(sdp, peer: peer) }
      offerRefused(peer, code: refusal?.code ?? "invalid", retryAfter: retryAfter)
    case .relay(let peer, let data): relayAnswered(data, peer, refusal, retryAfter: retryAfter)
    }
  }

  /// When something is asked for again that the server refused for so long.
  func retryTime(_ wait: Int64) -> Int64 {
    now + min(max(wait, CallLimits.backoffFirstMilliseconds), CallLimits.retryMilliseconds)
  }

  /// Requests that leave nothing to remember here.
  mutating func ask(_ command: SessionCommand, _ id: CommandID) {
    switch command {
    case .signal(let kind, let data, let to): signal(kind, data, to, id)
    case .mute(let stream): request("mute", .plain, id) { $0.member("stream", stream) }
    case .muteAll(let isActive, let except):
      request("mute", .plain, id) { writer in
        writer.member("all", true)
        writer.array("except", except) { $1.write($0) }
        if !isActive { writer.member("active", false) }
      }
    case .forceUnpublish(let stream): request("unpublish", .plain, id) { $0.member("stream", stream) }
    case .disconnect(let connection): request("disconnect", .plain, id) { $0.member("connection", connection) }
    case .record(let isOn):
      request("record", .plain, id) { $0.member("action", isOn ? "start" as ByteString : "stop") }
    default: break
    }
  }

  private mutating func signal(_ kind: ByteString, _ data: ByteString, _ to: ByteString?, _ id: CommandID) {
    guard kind.count <= CallLimits.signalKindBytes, data.count <= CallLimits.signalBytes else {
      return finish(id, CallRefusal("too_large"))
    }
    // Nobody, not everyone.
    if let to, to.isEmpty { return finish(id, CallRefusal("not_found")) }
    request("signal", .plain, id) { writer in
      writer.member("kind", kind)
      writer.member("data", data)
      if let to { writer.member("to", to) }
    }
  }
}
