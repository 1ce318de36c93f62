import JSON
import MatrixModel
import ServerRooms

/// What a push gateway, or a browser by Web Push, is told. Spec: Push Gateway API, `POST /_matrix/push/v1/notify`; MSC4174.
struct PushNotification: Sendable {
  /// An event and what the push rules made of it.
  struct News: Sendable {
    let event: StoredEvent
    let room: RoomSnapshot
    /// The rule's JSON array.
    let actions: [UInt8]
  }

  let pusher: Pusher
  /// Milliseconds since 1970 when the pusher was set last.
  let updated: Int64
  let badge: UnreadBadge
  /// nil for numbers alone.
  let news: News?

  /// How much is told of an event.
  private enum Detail {
    case whole
    /// Of the content only what kind of message it is, and as much of its text as fits into these bytes of JSON.
    case text(bytesLimit: Int)
    /// What cannot be long.
    case identifiers
  }

  /// The body of the request.
  var bytes: [UInt8] { bytes(.whole) }

  /// The same where there is a limit to it: as much as fits, text before everything else.
  func bytes(upTo limit: Int) -> [UInt8] {
    let whole = bytes(.whole)
    if whole.count <= limit { return whole }
    let room = limit - bytes(.text(bytesLimit: 0)).count
    return room >= 0 ? bytes(.text(bytesLimit: room)) : bytes(.identifiers)
  }

  private func bytes(_ detail: Detail) -> [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.key("notification")
      writer.object { writer in
        if let news { write(news, detail, to: &writer) } else { writer.member("prio", "low") }
        writer.key("counts")
        writer.object { writer in
          // "Counts whose value is zero should be omitted."
          if badge.unread > 0 { writer.member("unread", badge.unread) }
          if badge.missedCalls > 0 { writer.member("missed_calls", badge.missedCalls) }
        }
        writer.key("devices")
        writer.array { writeDevice(detail, to: &$0) }
      }
    }
    return writer.bytes
  }

  private func write(_ news: News, _ detail: Detail, to writer: inout JSONWriter) {
    let (event, room) = (news.event, news.room)
    writer.member("event_id", event.eventID)
    writer.member("room_id", room.roomID)
    writer.member("prio", isUrgent ? "high" : "low")
    if case .identifiers = detail { return }
    if pusher.isEventIDOnly { return }
    writer.member("type", event.type)
    writer.member("sender", event.sender)
    if let name = room.members[event.sender]?.event.content["displayname"]?.text {
      writer.member("sender_display_name", name.inOneLine)
    }
    if let name = room[.name]?.content["name"]?.text, !name.isEmpty { writer.member("room_name", name.inOneLine) }
    if let alias = room[.canonicalAlias]?.content["alias"]?.text, !alias.isEmpty { writer.member("room_alias", alias) }
    if event.type == .member, let stateKey = event.stateKey {
      writer.member("user_is_target", stateKey == pusher.id.userID.text)
      if let membership = event.content["membership"] { writer.member("membership", membership) }
    }
    if case .text(let bytesLimit) = detail {
      writer.key("content")
      writer.object { Self.writeText(of: event.content, upTo: bytesLimit, to: &$0) }
    } else {
      writer.member("content", event.content)
    }
  }

  private static func writeText(of content: JSON, upTo bytesLimit: Int, to writer: inout JSONWriter) {
    if let kind = content["msgtype"]?.text { writer.member("msgtype", kind) }
    if let body = content["body"]?.string { writer.member("body", body.beginning(upTo: bytesLimit)) }
  }

  /// Whether a phone should be woken for it: what sounds or is for this user, and what is encrypted and may be either.
  var isUrgent: Bool {
    guard let news else { return false }
    guard news.event.type != .encrypted else { return true }
    guard let actions = (try? JSON.parse(news.actions)).flatMap({ PushActions($0) }) else { return true }
    return actions.sound != nil || actions.highlights
  }

  private func writeDevice(_ detail: Detail, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("app_id", pusher.id.appID)
      writer.member("pushkey", pusher.id.pushkey)
      writer.member("pushkey_ts", updated / 1_000)
      if case .identifiers = detail { return }
      writer.key("data")
      writer.object { writer in
        for member in pusher.data.members where !member.isKey("url") && !(member.isKey("auth") && pusher.kind == .webPush) {
          writer.key(member.key)
          writer.write(member.value)
        }
      }
      guard let news, let actions = try? JSON.parse(news.actions) else { return }
      writer.key("tweaks")
      writer.object { Self.writeTweaks(of: actions, to: &$0) }
    }
  }

  /// The last value of a tweak counts; a highlight without a value is one.
  private static func writeTweaks(of actions: JSON, to writer: inout JSONWriter) {
    var names: [ByteString] = []
    var values: [ByteString: JSON?] = [:]
    for action in actions.elements {
      guard let name = action["set_tweak"]?.text else { continue }
      if values.updateValue(action["value"], forKey: name) == nil { names.append(name) }
    }
    for name in names {
      if let value = values[name] ?? nil {
        writer.key(name)
        writer.write(value)
      } else if name == "highlight" {
        writer.member("highlight", true)
      }
    }
  }
}

extension String {
  /// As much of the beginning as takes no more bytes in JSON, with an ellipsis where something is missing.
  fileprivate func beginning(upTo bytesLimit: Int) -> String {
    let ellipsis: Unicode.Scalar = "…"
    var kept = ""
    var bytes = 0
    for scalar in unicodeScalars {
      // RFC 8259 §7: \u and four digits, or a backslash before the character.
      bytes += scalar.value < 0x20 || scalar.value == 0x7F ? 6 : scalar == "\"" || scalar == "\\" ? 2 : scalar.utf8.count
      guard bytes + ellipsis.utf8.count <= bytesLimit else {
        if ellipsis.utf8.count <= bytesLimit { kept.unicodeScalars.append(ellipsis) }
        return kept
      }
      kept.unicodeScalars.append(scalar)
    }
    return kept
  }
}
