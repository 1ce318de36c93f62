import JSON

/// A condition of a push rule, compiled, beside the JSON it came from.
///
/// Spec: Client-Server API, "Conditions".
public struct PushCondition: Sendable {
  enum Comparison: UInt8, Sendable { case equal, less, greater, lessOrEqual, greaterOrEqual }

  enum Test: Sendable {
    case eventMatch(PropertyPath, GlobPattern, isBody: Bool)
    case propertyIs(PropertyPath, Scalar)
    case propertyContains(PropertyPath, Scalar)
    case containsDisplayName
    case memberCount(Comparison, Int64)
    case senderNotificationPermission(ByteString)
    /// Not recognised: matches nothing.
    case never
  }

  /// A value of JSON that is no container, compared exactly.
  enum Scalar: Sendable, Equatable {
    case text(ByteString)
    case integer(Int64)
    case bool(Bool)
    case null

    /// nil for containers and for numbers that are no integers.
    init?(_ json: JSON?) {
      guard let json else { return nil }
      switch json.kind {
      case .null: self = .null
      case .bool: self = .bool(json.bool ?? false)
      case .number:
        guard let integer = json.integer, integer.magnitude <= JSON.integerMagnitudeLimit else { return nil }
        self = .integer(integer)
      case .string: self = .text(json.text ?? "")
      case .array, .object: return nil
      }
    }
  }

  /// The condition as it was given.
  public let json: [UInt8]
  let test: Test

  /// Whether the kind is one of the standard, and its fields are not: it matches nothing. Kinds of later versions match nothing either, but
  /// are valid.
  public let lacksFields: Bool

  /// nil where it is no object with a `kind`.
  public init?(_ json: JSON) {
    guard json.isObject, let kind = json["kind"], kind.isString else { return nil }
    self.json = [UInt8](json.bytes)
    test = Self.test(kind, json)
    if case .never = test { lacksFields = Self.kinds.contains { kind.isString($0) } } else { lacksFields = false }
  }

  private static let kinds: [StaticString] = [
    "event_match", "event_property_is", "event_property_contains", "contains_display_name", "room_member_count",
    "sender_notification_permission"
  ]

  private static func test(_ kind: JSON, _ json: JSON) -> Test {
    let path = json["key"]?.text.map { PropertyPath($0) }
    if kind.isString("event_match") {
      guard let path, let pattern = json.text("pattern") else { return .never }
      return .eventMatch(path, GlobPattern(pattern), isBody: path == PropertyPath("content.body"))
    }
    if kind.isString("event_property_is") {
      guard let path, let value = Scalar(json["value"]) else { return .never }
      return .propertyIs(path, value)
    }
    if kind.isString("event_property_contains") {
      guard let path, let value = Scalar(json["value"]) else { return .never }
      return .propertyContains(path, value)
    }
    if kind.isString("contains_display_name") { return .containsDisplayName }
    if kind.isString("room_member_count") { return json["is"]?.text.map { memberCount($0) } ?? .never }
    if kind.isString("sender_notification_permission") {
      return json["key"]?.text.map { .senderNotificationPermission($0) } ?? .never
    }
    return .never
  }

  /// `2`, `==2`, `<2`, `>2`, `>=2`, `<=2`.
  private static func memberCount(_ text: ByteString) -> Test {
    var rest = text.utf8[...]
    let sign = rest.prefix { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "=") }
    rest = rest[sign.endIndex...]
    var count: Int64 = 0
    guard !rest.isEmpty, rest.count <= 15 else { return .never }
    for byte in rest {
      guard byte &- 48 < 10 else { return .never }
      count = count * 10 + Int64(byte &- 48)
    }
    let signs: [(StaticString, Comparison)] = [
      ("", .equal), ("==", .equal), ("<", .less), (">", .greater), ("<=", .lessOrEqual), (">=", .greaterOrEqual)
    ]
    let found = ByteString(decoding: sign)
    for (text, comparison) in signs where found == text { return .memberCount(comparison, count) }
    return .never
  }

  /// - Parameters:
  ///   - displayName: of the rules' owner in the room; nil if they have none.
  ///   - budget: steps that all patterns of one evaluation have together, see `PushEvaluator.stepsLimit`.
  func holds(for event: PushEvent, displayName: ByteString?, budget: inout Int) -> Bool {
    switch test {
    case .eventMatch(let path, let pattern, let isBody):
      let text: ByteString? =
        switch event.property(path) {
        case .text(let text): text
        case .json(let json): json.text
        case nil: nil
        }
      guard let text else { return false }
      // What was copied to be looked at was work as well.
      budget -= text.count >> 4
      return isBody ? pattern.matchesWords(in: text, budget: &budget) : pattern.matches(text, budget: &budget)
    case .propertyIs(let path, let value):
      switch event.property(path) {
      case .text(let text): return value == .text(text)
      case .json(let json): return Scalar(json) == value
      case nil: return false
      }
    case .propertyContains(let path, let value):
      guard case .json(let json) = event.property(path) else { return false }
      for element in json.elements where Scalar(element) == value { return true }
      return false
    case .containsDisplayName:
      guard let displayName, !displayName.isEmpty, let body = event.content.text("body") else { return false }
      return GlobPattern(literal: displayName).matchesWords(in: body, budget: &budget)
    case .memberCount(let comparison, let count): return Self.compare(Int64(event.memberCount), comparison, count)
    case .senderNotificationPermission(let key): return event.senderMayNotify(key)
    case .never: return false
    }
  }

  private static func compare(_ count: Int64, _ comparison: Comparison, _ limit: Int64) -> Bool {
    switch comparison {
    case .equal: count == limit
    case .less: count < limit
    case .greater: count > limit
    case .lessOrEqual: count <= limit
    case .greaterOrEqual: count >= limit
    }
  }
}
