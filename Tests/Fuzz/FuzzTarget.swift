/// One parser under attack: a function that must return for any bytes. Add a file `<Name>Target.swift` with the function, a line here, and inputs
/// of every interesting kind in `Corpus/<name>`. If the function needs `@testable import`, its file and line stand under `#if DEBUG || FUZZING`.
struct FuzzTarget: Sendable {
  let name: String
  let body: @Sendable (UnsafeRawBufferPointer) -> Void

  static let all = outside + inside

  private static let outside = [
    FuzzTarget(name: "json", body: fuzzJSON),
    FuzzTarget(name: "room-rules", body: fuzzRoomRules),
    FuzzTarget(name: "push-rules", body: fuzzPushRules),
    FuzzTarget(name: "client-sync", body: fuzzClientSync),
    FuzzTarget(name: "json-web-token", body: fuzzJSONWebToken),
    FuzzTarget(name: "preview", body: fuzzPreview),
    FuzzTarget(name: "formatting", body: fuzzFormatting),
    FuzzTarget(name: "vcard", body: fuzzVCard),
    FuzzTarget(name: "blurhash", body: fuzzBlurHash),
    FuzzTarget(name: "links", body: fuzzLinks),
    FuzzTarget(name: "recording", body: fuzzRecording),
    FuzzTarget(name: "olm-message", body: fuzzOlmMessage),
    FuzzTarget(name: "olm-key", body: fuzzOlmKey),
    FuzzTarget(name: "olm-record", body: fuzzOlmRecord),
    FuzzTarget(name: "dehydrated-account", body: fuzzDehydratedAccount),
    FuzzTarget(name: "key-file", body: fuzzKeyFile),
    FuzzTarget(name: "encrypted-file", body: fuzzEncryptedFile),
    FuzzTarget(name: "notes", body: fuzzNotes)
  ]

  // These see their modules from the inside, as unit tests do. A release build allows that only if it is made for it, as by `Scripts/fuzz`.
  #if DEBUG || FUZZING
    private static let inside = [
      FuzzTarget(name: "http", body: fuzzHTTP),
      FuzzTarget(name: "stun", body: fuzzSTUN),
      FuzzTarget(name: "rtp", body: fuzzRTP),
      FuzzTarget(name: "rtcp", body: fuzzRTCP),
      FuzzTarget(name: "srtp", body: fuzzSRTP),
      FuzzTarget(name: "payloads", body: fuzzPayloads),
      FuzzTarget(name: "sdp", body: fuzzSDP),
      FuzzTarget(name: "router", body: fuzzRouter),
      FuzzTarget(name: "relay", body: fuzzRelay),
      FuzzTarget(name: "backup", body: fuzzBackup),
      FuzzTarget(name: "key-query", body: fuzzKeyQuery),
      FuzzTarget(name: "secrets", body: fuzzSecrets),
      FuzzTarget(name: "encryption-record", body: fuzzEncryptionRecord),
      FuzzTarget(name: "verification", body: fuzzVerification),
      FuzzTarget(name: "device-messages", body: fuzzDeviceMessages),
      FuzzTarget(name: "key-bundle", body: fuzzKeyBundle)
    ]
  #else
    private static let inside: [FuzzTarget] = []
  #endif
}
