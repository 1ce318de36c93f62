import JSON

/// WebRTC's `RTCSessionDescriptionInit`.
struct SessionDescription: Sendable {
  let kind: DescriptionKind
  let sdp: ByteString

  init(kind: DescriptionKind, sdp: ByteString) {
    self.kind = kind
    self.sdp = sdp
  }

  /// nil where it is neither an offer nor an answer.
  init?(_ json: JSON?) {
    guard let json, let sdp = json.text("sdp"), let type = json["type"] else { return nil }
    guard type.isString("offer") || type.isString("answer") else { return nil }
    kind = type.isString("offer") ? .offer : .answer
    self.sdp = sdp
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("type", kind == .offer ? "offer" as ByteString : "answer")
      writer.member("sdp", sdp)
    }
  }
}
