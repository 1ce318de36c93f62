import JSON
import MatrixModel

/// What all events of calls have in common. Spec: "Voice over IP", "Common Fields".
struct MatrixCallContent: Sendable {
  let json: JSON
  let callID: ByteString
  /// nil only from clients of version 0.
  let party: ByteString?
  let isVersion0: Bool

  /// nil where it belongs to no call.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= CallLimits.contentBytes, let json = try? JSON.parse(bytes),
      let id = json.text("call_id"), !id.isEmpty, id.count <= CallLimits.callIDBytes
    else { return nil }
    self.json = json
    callID = id
    let party = json.text("party_id")
    isVersion0 = json["version"].map { $0.integer == 0 } ?? true
    if !isVersion0, party == nil { return nil }
    self.party = isVersion0 ? nil : party
  }

  var lifetime: Int64 {
    let claimed = json.integer("lifetime") ?? CallLimits.lifetimeMilliseconds
    return min(max(0, claimed), CallLimits.longestLifetimeMilliseconds)
  }
}

extension EventType {
  public static let callInvite: EventType = "m.call.invite"
  public static let callCandidates: EventType = "m.call.candidates"
  public static let callAnswer: EventType = "m.call.answer"
  public static let callSelectAnswer: EventType = "m.call.select_answer"
  public static let callReject: EventType = "m.call.reject"
  public static let callNegotiate: EventType = "m.call.negotiate"
  public static let callHangup: EventType = "m.call.hangup"
  public static let callStreamMetadataChanged: EventType = "m.call.sdp_stream_metadata_changed"
}
