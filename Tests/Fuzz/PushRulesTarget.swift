import JSON
import MatrixModel

/// Any bytes as a user's push rules and as the event they are tried on: nothing traps, and what is written is read back as
/// the same rules.
func fuzzPushRules(_ bytes: UnsafeRawBufferPointer) {
  guard let json = try? JSON.parse(Array(bytes)) else { return }
  let userID = UserID(trusted: "@fuzz:example.org")
  let rules = PushRuleSet(json, for: userID)
  let content = rules.content()
  guard let again = try? JSON.parse(content) else { fatalError("the rules written are no JSON") }
  guard PushRuleSet(again, for: userID).content() == content else { fatalError("the rules came back as others") }
  let event = PushEvent(
    type: json["type"]?.text.map { EventType(trusted: $0) } ?? .message, stateKey: json["state_key"]?.text,
    sender: UserID(trusted: "@you:example.org"), roomID: RoomID(trusted: "!room:example.org"), eventID: nil,
    content: json["content"] ?? json, memberCount: 2, senderPowerLevel: 50, notificationLevels: json["notifications"])
  _ = PushEvaluator(event).actions(of: rules, displayName: json["name"]?.text ?? "fuzz")
}
