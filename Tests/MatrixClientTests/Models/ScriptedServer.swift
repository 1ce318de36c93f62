import Glibc
import JSON
import Synchronization

@testable import MatrixClient

/// A homeserver whose syncs bring what the test says, one after the other; everything else is answered by a closure, or with `{}`.
final class ScriptedServer: Sendable {
  private struct State {
    /// `s1` is what the first sync brings.
    var syncs: [String] = []
    var requests: [FixtureServer.Request] = []
  }

  private let state = Mutex(State())
  private let other: @Sendable (FixtureServer.Request) -> (status: Int, body: String)?

  init(_ other: @escaping @Sendable (FixtureServer.Request) -> (status: Int, body: String)? = { _ in nil }) {
    self.other = other
  }

  /// - Parameter body: members of a sync beside `next_batch`: `"rooms":{…}`.
  func push(_ body: String) { state.withLock { $0.syncs.append(body) } }

  func requests(_ part: String) -> [FixtureServer.Request] {
    state.withLock { $0.requests.filter { $0.target.contains(part) } }
  }

  func answer(_ request: FixtureServer.Request) -> (status: Int, body: String) {
    state.withLock { $0.requests.append(request) }
    if let answer = other(request) { return answer }
    if request.target.hasSuffix("/login") {
      return (200, #"{"user_id":"@me:test","device_id":"D","access_token":"T"}"#)
    }
    guard request.target.contains("/sync?") else { return (200, "{}") }
    let since = request.target.firstRange(of: "since=s")
    let place = since.flatMap { Int(request.target[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
    for _ in 0..<100 where state.withLock({ $0.syncs.count }) <= place { usleep(10_000) }
    let news = state.withLock { $0.syncs.count > place ? $0.syncs[place] : nil }
    guard let news else { return (200, #"{"next_batch":"s\#(place)"}"#) }
    return (200, #"{"next_batch":"s\#(place + 1)""# + (news.isEmpty ? "" : ",") + news + "}")
  }
}

/// What a sync says.
enum Script {
  static func rooms(_ rooms: String..., invited: [String] = []) -> String {
    #""rooms":{"join":{"# + rooms.joined(separator: ",") + #"},"invite":{"# + invited.joined(separator: ",") + "}}"
  }

  static func accountData(_ events: String...) -> String {
    #""account_data":{"events":[\#(events.joined(separator: ","))]}"#
  }

  static func data(_ type: String, _ content: String) -> String { #"{"type":"\#(type)","content":\#(content)}"# }

  static func invite(_ id: String, name: String) -> String {
    #""\#(id)":{"invite_state":{"events":[\#(Script.name(name)),\#(event("m.room.member", #"{"membership":"invite"}"#, stateKey: "@me:test"))]}}"#
  }

  static func room(
    _ id: String, _ events: [String] = [], state: [String] = [], unread: Int? = nil, typing: [String]? = nil,
    data: [String] = [], extra: String = ""
  ) -> String {
    var text =
      #""\#(id)":{"state":{"events":[\#(state.joined(separator: ","))]},"timeline":{"events":[\#(events.joined(separator: ","))],"limited":false}"#
    if let unread { text += #","unread_notifications":{"notification_count":\#(unread),"highlight_count":0}"# }
    if let typing {
      let users = typing.map { "\"\($0)\"" }.joined(separator: ",")
      text += #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":[\#(users)]}}]}"#
    }
    if !data.isEmpty { text += #","account_data":{"events":[\#(data.joined(separator: ","))]}"# }
    return text + extra + "}"
  }

  /// One whose timeline begins behind something that the sync leaves out.
  static func limitedRoom(_ id: String, _ events: [String], from token: String) -> String {
    #""\#(id)":{"timeline":{"events":[\#(events.joined(separator: ","))],"limited":true,"prev_batch":"\#(token)"}}"#
  }

  static func name(_ name: String) -> String { event("m.room.name", #"{"name":"\#(name)"}"#, stateKey: "") }

  static func member(_ user: String, _ name: String) -> String {
    event("m.room.member", #"{"membership":"join","displayname":"\#(name)"}"#, by: user, stateKey: user)
  }

  static func message(_ body: String, _ id: String, by sender: String = "@alice:test", at time: Int = 1) -> String {
    event("m.room.message", #"{"msgtype":"m.text","body":"\#(body)"}"#, id, by: sender, at: time)
  }

  static func event(
    _ type: String, _ content: String, _ id: String? = nil, by sender: String = "@alice:test", stateKey: String? = nil,
    at time: Int = 1
  ) -> String {
    let id = id ?? "$\(UInt64.random(in: 0 ... .max))"
    return #"{"type":"\#(type)","event_id":"\#(id)","sender":"\#(sender)","origin_server_ts":\#(time),"content":\#(content)"#
      + (stateKey.map { #","state_key":"\#($0)""# } ?? "") + "}"
  }
}
