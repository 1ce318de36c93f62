/// Answers of a server to `/sync`, as text.
struct SyncAnswer {
  private var rooms: [String] = []
  private(set) var byteCount = 0
  let nextBatch: String

  init(nextBatch: String) { self.nextBatch = nextBatch }

  static func roomID(_ room: Int) -> String { "!room\(room):example.org" }

  /// A room with `events` messages from number `first` on; the first time with its state.
  mutating func add(room: Int, first: Int, events: Int, hasState: Bool) {
    let state = hasState ? SyncAnswer.state(of: room).joined(separator: ",") : ""
    let messages = (first..<first + events).map { SyncAnswer.message($0, in: room) }.joined(separator: ",")
    let summary =
      hasState
      ? #","summary":{"m.joined_member_count":8,"m.heroes":["@user1:example.org","@user2:example.org"]}"# : ""
    let text =
      #""\#(SyncAnswer.roomID(room))":{"state":{"events":[\#(state)]},"timeline":{"limited":\#(first == 0),"prev_batch":"t\#(room)_\#(first)","#
      + #""events":[\#(messages)]},"unread_notifications":{"notification_count":1,"highlight_count":0}\#(summary)}"#
    byteCount += text.utf8.count
    rooms.append(text)
  }

  var bytes: [UInt8] { Array(#"{"next_batch":"\#(nextBatch)","rooms":{"join":{\#(rooms.joined(separator: ","))}}}"#.utf8) }

  static func message(_ number: Int, in room: Int) -> String {
    #"{"type":"m.room.message","event_id":"$e\#(room)_\#(number)_abcdefghijklmnopqrstuvwxyz0123456789","sender":"@user\#(number % 7 + 1):example.org","#
      + #""origin_server_ts":\#(1_700_000_000_000 + number * 1_000 + room),"content":{"msgtype":"m.text","body":"message \#(number) of room \#(room), about as long as messages are, with a few more words"},"#
      + #""unsigned":{"age":1234}}"#
  }

  private static func state(of room: Int) -> [String] {
    let start = #""sender":"@user1:example.org","origin_server_ts":1700000000000,"#
    var events = [
      #"{"type":"m.room.create","state_key":"","event_id":"$c\#(room)",\#(start)"content":{"room_version":"11"}}"#,
      #"{"type":"m.room.power_levels","state_key":"","event_id":"$p\#(room)",\#(start)"content":{"users":{"@user1:example.org":100},"events":{"m.room.name":50,"m.room.power_levels":100,"m.room.history_visibility":100,"m.room.canonical_alias":50,"m.room.avatar":50,"m.room.tombstone":100,"m.room.server_acl":100,"m.room.encryption":100},"users_default":0,"events_default":0,"state_default":50,"ban":50,"kick":50,"redact":50,"invite":0}}"#,
      #"{"type":"m.room.join_rules","state_key":"","event_id":"$j\#(room)",\#(start)"content":{"join_rule":"invite"}}"#,
      #"{"type":"m.room.history_visibility","state_key":"","event_id":"$h\#(room)",\#(start)"content":{"history_visibility":"shared"}}"#
    ]
    // Every other room has a name.
    if room % 2 == 0 {
      events.append(
        #"{"type":"m.room.name","state_key":"","event_id":"$n\#(room)",\#(start)"content":{"name":"Room number \#(room)"}}"#)
    }
    for user in 0..<8 {
      events.append(
        #"{"type":"m.room.member","state_key":"@user\#(user):example.org","event_id":"$m\#(room)_\#(user)","sender":"@user\#(user):example.org","origin_server_ts":1700000000000,"content":{"membership":"join","displayname":"User \#(user)","avatar_url":"mxc://example.org/avatar\#(user)"}}"#
      )
    }
    return events
  }
}
