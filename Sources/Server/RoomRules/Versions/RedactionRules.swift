import JSON
import MatrixModel

/// Which keys survive a redaction. Spec: "Redactions" of each room version.
struct RedactionRules: Sendable {
  /// A key of `content` that survives; with `inner`, only that key of the object it holds.
  struct ContentKey: Sendable {
    let name: StaticString
    var inner: StaticString?
  }

  let topLevel: [StaticString]
  private let createKeepsAll: Bool
  private let create: [ContentKey]
  private let member: [ContentKey]
  private let powerLevels: [ContentKey]
  private let redaction: [ContentKey]
  private let joinRules: [ContentKey]
  private let historyVisibility: [ContentKey] = [ContentKey(name: "history_visibility")]

  /// What of the content survives, or nil where all of it does.
  func contentKeys(of type: EventType) -> [ContentKey]? {
    switch type {
    case .create: createKeepsAll ? nil : create
    case .member: member
    case .powerLevels: powerLevels
    case .joinRules: joinRules
    case .historyVisibility: historyVisibility
    case .redaction: redaction
    default: []
    }
  }

  /// Room versions 6 and 7.
  static let v6 = RedactionRules(
    topLevel: earlyTopLevel, createKeepsAll: false, create: [ContentKey(name: "creator")],
    member: [ContentKey(name: "membership")], powerLevels: commonPowerLevels.map { ContentKey(name: $0) }, redaction: [],
    joinRules: [ContentKey(name: "join_rule")])

  /// Room version 8.
  static let v8 = RedactionRules(
    topLevel: earlyTopLevel, createKeepsAll: false, create: [ContentKey(name: "creator")],
    member: [ContentKey(name: "membership")], powerLevels: commonPowerLevels.map { ContentKey(name: $0) }, redaction: [])

  /// Room versions 9 and 10.
  static let v9 = RedactionRules(
    topLevel: earlyTopLevel, createKeepsAll: false, create: [ContentKey(name: "creator")],
    member: [ContentKey(name: "join_authorised_via_users_server"), ContentKey(name: "membership")],
    powerLevels: commonPowerLevels.map { ContentKey(name: $0) }, redaction: [])

  /// Room versions 11 and 12.
  static let v11 = RedactionRules(
    topLevel: commonTopLevel, createKeepsAll: true, create: [],
    member: [
      ContentKey(name: "join_authorised_via_users_server"), ContentKey(name: "membership"),
      ContentKey(name: "third_party_invite", inner: "signed")
    ],
    powerLevels: (commonPowerLevels + ["invite"]).map { ContentKey(name: $0) },
    redaction: [ContentKey(name: "redacts")])

  private static let commonTopLevel: [StaticString] = [
    "auth_events", "content", "depth", "event_id", "hashes", "origin_server_ts", "prev_events", "room_id", "sender",
    "signatures", "state_key", "type"
  ]

  /// Before room version 11.
  private static let earlyTopLevel = commonTopLevel + ["membership", "origin", "prev_state"]

  private static let commonPowerLevels: [StaticString] = [
    "ban", "events", "events_default", "kick", "redact", "state_default", "users", "users_default"
  ]

  private init(
    topLevel: [StaticString], createKeepsAll: Bool, create: [ContentKey], member: [ContentKey],
    powerLevels: [ContentKey], redaction: [ContentKey],
    joinRules: [ContentKey] = [ContentKey(name: "allow"), ContentKey(name: "join_rule")]
  ) {
    self.topLevel = topLevel
    self.createKeepsAll = createKeepsAll
    self.create = create
    self.member = member
    self.powerLevels = powerLevels
    self.redaction = redaction
    self.joinRules = joinRules
  }
}
