import JSON

/// The rules every user has until they change them.
///
/// Spec: Client-Server API v1.19, "Predefined Rules".
enum DefaultPushRules {
  /// A rule as the spec's table has it. Conditions that name the user are made by `conditions(for:)`.
  struct Definition: Sendable {
    let kind: PushRuleKind
    let ruleID: ByteString
    let isEnabled: Bool
    let conditions: [PushCondition]
    let actions: PushActions
    let matcher: PushRule.Matcher
  }

  /// In the order they are tried, kind by kind.
  static let definitions: [Definition] = table.indices.map { index in
    let row = table[index]
    return Definition(
      kind: row.kind, ruleID: ByteString(row.ruleID.description), isEnabled: row.isEnabled,
      conditions: list(row.conditions).elements.compactMap { PushCondition($0) },
      actions: PushActions(list(row.actions)) ?? .none, matcher: row.matcher ?? .shared(index: index))
  }

  /// The most important rule: it turns all others off.
  static let master: StaticString = ".m.rule.master"

  /// The user's own copies.
  static func rules(_ kind: PushRuleKind, for userID: UserID) -> [PushRule] {
    var rules: [PushRule] = []
    for definition in definitions where definition.kind == kind {
      rules.append(
        PushRule(
          ruleID: definition.ruleID, isDefault: true, isEnabled: definition.isEnabled, actions: definition.actions,
          conditions: definition.conditions + conditions(definition.matcher, for: userID), pattern: nil,
          matcher: definition.matcher))
    }
    return rules
  }

  private static func conditions(_ matcher: PushRule.Matcher, for userID: UserID) -> [PushCondition] {
    var writer = JSONWriter()
    switch matcher {
    case .invitesMe:
      writer.object { writer in
        writer.member("kind", "event_match" as ByteString)
        writer.member("key", "state_key" as ByteString)
        writer.member("pattern", userID)
      }
    case .mentionsMe:
      writer.object { writer in
        writer.member("kind", "event_property_contains" as ByteString)
        writer.member("key", #"content.m\.mentions.user_ids"# as ByteString)
        writer.member("value", userID)
      }
    default: return []
    }
    guard let json = try? JSON.parse(writer.bytes), let condition = PushCondition(json) else { return [] }
    return [condition]
  }

  private static func list(_ text: StaticString) -> JSON {
    let bytes = [UInt8](UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    guard let json = try? JSON.parse(bytes) else { preconditionFailure("the table of default rules is JSON") }
    return json
  }

  private struct Row {
    let kind: PushRuleKind
    let ruleID: StaticString
    var isEnabled = true
    let conditions: StaticString
    let actions: StaticString
    var matcher: PushRule.Matcher?
  }

  private static let silent: StaticString = "[]"
  private static let sounding: StaticString = #"["notify",{"set_tweak":"sound","value":"default"}]"#
  private static let highlighting: StaticString = #"["notify",{"set_tweak":"highlight"}]"#

  private static let table: [Row] = [
    Row(kind: .override, ruleID: master, isEnabled: false, conditions: "[]", actions: silent),
    Row(
      kind: .override, ruleID: ".m.rule.suppress_notices",
      conditions: #"[{"kind":"event_match","key":"content.msgtype","pattern":"m.notice"}]"#, actions: silent),
    Row(
      kind: .override, ruleID: ".m.rule.invite_for_me",
      conditions: #"""
        [{"kind":"event_match","key":"type","pattern":"m.room.member"},
        {"kind":"event_match","key":"content.membership","pattern":"invite"}]
        """#, actions: sounding, matcher: .invitesMe),
    Row(
      kind: .override, ruleID: ".m.rule.member_event",
      conditions: #"[{"kind":"event_match","key":"type","pattern":"m.room.member"}]"#, actions: silent),
    Row(
      kind: .override, ruleID: ".m.rule.is_user_mention", conditions: "[]",
      actions: #"["notify",{"set_tweak":"sound","value":"default"},{"set_tweak":"highlight"}]"#, matcher: .mentionsMe),
    Row(
      kind: .override, ruleID: ".m.rule.is_room_mention",
      conditions: #"""
        [{"kind":"event_property_is","key":"content.m\\.mentions.room","value":true},
        {"kind":"sender_notification_permission","key":"room"}]
        """#, actions: highlighting),
    Row(
      kind: .override, ruleID: ".m.rule.tombstone",
      conditions: #"""
        [{"kind":"event_match","key":"type","pattern":"m.room.tombstone"},
        {"kind":"event_match","key":"state_key","pattern":""}]
        """#, actions: highlighting),
    Row(
      kind: .override, ruleID: ".m.rule.reaction",
      conditions: #"[{"kind":"event_match","key":"type","pattern":"m.reaction"}]"#, actions: silent),
    Row(
      kind: .override, ruleID: ".m.rule.room.server_acl",
      conditions: #"""
        [{"kind":"event_match","key":"type","pattern":"m.room.server_acl"},
        {"kind":"event_match","key":"state_key","pattern":""}]
        """#, actions: silent),
    Row(
      kind: .override, ruleID: ".m.rule.suppress_edits",
      conditions: #"[{"kind":"event_property_is","key":"content.m\\.relates_to.rel_type","value":"m.replace"}]"#,
      actions: silent),
    Row(
      kind: .underride, ruleID: ".m.rule.call",
      conditions: #"[{"kind":"event_match","key":"type","pattern":"m.call.invite"}]"#,
      actions: #"["notify",{"set_tweak":"sound","value":"ring"}]"#),
    Row(
      kind: .underride, ruleID: ".m.rule.encrypted_room_one_to_one",
      conditions: #"""
        [{"kind":"room_member_count","is":"2"},{"kind":"event_match","key":"type","pattern":"m.room.encrypted"}]
        """#, actions: sounding),
    Row(
      kind: .underride, ruleID: ".m.rule.room_one_to_one",
      conditions: #"""
        [{"kind":"room_member_count","is":"2"},{"kind":"event_match","key":"type","pattern":"m.room.message"}]
        """#, actions: sounding),
    Row(
      kind: .underride, ruleID: ".m.rule.message",
      conditions: #"[{"kind":"event_match","key":"type","pattern":"m.room.message"}]"#, actions: #"["notify"]"#),
    Row(
      kind: .underride, ruleID: ".m.rule.encrypted",
      conditions: #"[{"kind":"event_match","key":"type","pattern":"m.room.encrypted"}]"#, actions: #"["notify"]"#)
  ]
}
