import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Events and rooms as a server writes them.
enum Wire {
  static func message(
    _ body: String, _ id: String, by sender: String = "@alice:test", time: Int = 1_700_000_000_000,
    transaction: String? = nil
  ) -> String {
    event(
      "m.room.message", id, by: sender, time: time, #"{"msgtype":"m.text","body":"\#(body)"}"#,
      unsigned: transaction.map { #"{"transaction_id":"\#($0)"}"# })
  }

  static func event(
    _ type: String, _ id: String, by sender: String = "@alice:test", time: Int = 1_700_000_000_000, _ content: String,
    stateKey: String? = nil, unsigned: String? = nil, extra: String = ""
  ) -> String {
    var text =
      #"{"type":"\#(type)","event_id":"\#(id)","sender":"\#(sender)","origin_server_ts":\#(time),"content":\#(content)"#
    if let stateKey { text += #","state_key":"\#(stateKey)""# }
    if let unsigned { text += #","unsigned":\#(unsigned)"# }
    return text + extra + "}"
  }

  static func member(
    _ user: String, _ membership: String = "join", name: String? = nil, avatar: String? = nil, _ id: String? = nil
  ) -> String {
    var content = #"{"membership":"\#(membership)""#
    if let name { content += #","displayname":"\#(name)""# }
    if let avatar { content += #","avatar_url":"\#(avatar)""# }
    return event("m.room.member", id ?? "$m\(user)\(membership)\(name ?? "")", by: user, content + "}", stateKey: user)
  }

  /// Events as the timeline reads them.
  static func read(_ events: [String]) -> [TimelineEvent] {
    events.compactMap { (try? JSON.parse(Array($0.utf8))).flatMap { TimelineEvent($0) } }
  }

  /// `"join":{…}` with one room.
  static func join(
    _ events: [String] = [], state: [String] = [], limited: Bool = false, token: String? = "t0",
    room: String = "!room:test", extra: String = ""
  ) -> String {
    #""join":{"# + joined(events, state: state, limited: limited, token: token, room: room, extra: extra) + "}"
  }

  static func joined(
    _ events: [String], state: [String] = [], limited: Bool = false, token: String? = "t0", room: String,
    extra: String = ""
  ) -> String {
    #""\#(room)":{"state":{"events":[\#(state.joined(separator: ","))]},"timeline":{"limited":\#(limited),"#
      + (token.map { #""prev_batch":"\#($0)","# } ?? "") + #""events":[\#(events.joined(separator: ","))]}"# + extra
      + "}"
  }

  /// The room's first sync: the user, Alice and Bob.
  static let members = [
    member("@me:test", name: "Me"), member("@alice:test", name: "Alice"), member("@bob:test", name: "Bob")
  ]

  static let counts =
    #","summary":{"m.joined_member_count":3,"m.invited_member_count":0,"m.heroes":["@alice:test","@bob:test"]}"#
}

extension Host {
  /// Signed in, one room with these messages, open.
  static func inRoom(_ events: [String] = [Wire.message("one", "$1")], seed: UInt64 = 1) -> Host {
    var host = Host.signedIn(seed: seed)
    host.sync(Wire.join(events, state: Wire.members, extra: Wire.counts))
    host.command(.timeline(.openRoom(.test)))
    return host
  }

  /// The transaction ID in the request that sends a message.
  var transaction: String {
    guard let target = request("/send/m.room.message/")?.request.target, let slash = target.lastIndex(of: "/") else {
      return ""
    }
    return String(target[target.index(after: slash)...])
  }
}

extension OutboxEntry {
  /// The text of a message.
  var body: String { (try? JSON.parse(payload.content))?["body"]?.string ?? "" }
}
