/// One parser under attack: a function that must return for any bytes. Add a file `<Name>Target.swift` with the function, a line here, and inputs
/// of every interesting kind in `Corpus/<name>`.
struct FuzzTarget: Sendable {
  let name: String
  let body: @Sendable (UnsafeRawBufferPointer) -> Void

  static let all = [
    FuzzTarget(name: "json", body: fuzzJSON),
    FuzzTarget(name: "http", body: fuzzHTTP),
    FuzzTarget(name: "room-rules", body: fuzzRoomRules),
    FuzzTarget(name: "push-rules", body: fuzzPushRules),
    FuzzTarget(name: "client-sync", body: fuzzClientSync),
    FuzzTarget(name: "json-web-token", body: fuzzJSONWebToken),
    FuzzTarget(name: "preview", body: fuzzPreview),
    FuzzTarget(name: "formatting", body: fuzzFormatting),
    FuzzTarget(name: "vcard", body: fuzzVCard),
    FuzzTarget(name: "blurhash", body: fuzzBlurHash),
    FuzzTarget(name: "links", body: fuzzLinks),
    FuzzTarget(name: "stun", body: fuzzSTUN),
    FuzzTarget(name: "rtp", body: fuzzRTP),
    FuzzTarget(name: "rtcp", body: fuzzRTCP),
    FuzzTarget(name: "srtp", body: fuzzSRTP),
    FuzzTarget(name: "payloads", body: fuzzPayloads),
    FuzzTarget(name: "sdp", body: fuzzSDP),
    FuzzTarget(name: "router", body: fuzzRouter),
    FuzzTarget(name: "recording", body: fuzzRecording),
    FuzzTarget(name: "relay", body: fuzzRelay)
  ]
}
