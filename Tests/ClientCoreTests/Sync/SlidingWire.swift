import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Rooms as a server writes them in sliding sync, in the shape of Synapse: without `membership`, names of what is absent left out.
enum Sliding {
  /// `"!room:test":{…}`.
  static func room(
    _ id: String = "!room:test", _ events: [String] = [], initial: Bool = false, state: [String] = [], limited: Bool = false,
    token: String? = "t0", extra: String = ""
  ) -> String {
    var text = #""\#(id)":{"notification_count":0,"highlight_count":0,"num_live":\#(initial ? 0 : events.count)"#
    if initial { text += #","initial":true"# }
    if !state.isEmpty { text += #","required_state":[\#(state.joined(separator: ","))]"# }
    if !events.isEmpty { text += #","timeline":[\#(events.joined(separator: ","))]"# }
    text += #","limited":\#(limited)"#
    if let token { text += #","prev_batch":"\#(token)""# }
    return text + extra + "}"
  }

  /// The room's first response: the user, Alice and Bob.
  static func first(_ id: String = "!room:test", _ events: [String], limited: Bool = false, extra: String = "") -> String {
    room(id, events, initial: true, state: Wire.members, limited: limited, extra: counts + extra)
  }

  static let counts =
    #","joined_count":3,"invited_count":0,"heroes":[{"user_id":"@alice:test","displayname":"Alice"},{"user_id":"@bob:test","displayname":"Bob"}]"#

  static func named(_ id: String, _ name: String, _ events: [String] = [], extra: String = "") -> String {
    let state = [Wire.event("m.room.name", "$n\(id)", #"{"name":"\#(name)"}"#, stateKey: "")]
    return room(id, events, initial: true, state: Wire.members + state, extra: #","joined_count":3,"invited_count":0"# + extra)
  }

  static func invite(_ id: String, extra: String = "") -> String {
    let events = [
      #"{"type":"m.room.name","state_key":"","sender":"@alice:test","content":{"name":"Tea"}}"#,
      #"{"type":"m.room.member","state_key":"@me:test","sender":"@alice:test","content":{"membership":"invite","is_direct":true}}"#
    ]
    return
      #""\#(id)":{"initial":true,"notification_count":0,"highlight_count":0,"invite_state":[\#(events.joined(separator: ","))]"#
      + extra + "}"
  }

  static let path = "msc3575/sync"
}

extension Host {
  static func sliding(_ rooms: [String] = [], seed: UInt64 = 1) -> Host {
    var host = Host.signedIn(seed: seed, mode: .sliding)
    host.slide(rooms)
    return host
  }

  static func slidingInRoom(_ events: [String] = [Wire.message("one", "$1")], limited: Bool = false) -> Host {
    var host = Host.sliding([Sliding.first(events, limited: limited)])
    host.command(.timeline(.openRoom(.test)))
    // What opening it has asked for.
    host.slide()
    return host
  }

  /// Answers the sliding sync with these rooms. `pos` counts up by itself.
  mutating func slide(
    _ rooms: [String] = [], count: Int = 1, extensions: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) {
    batch += 1
    answer(
      Sliding.path,
      #"{"pos":"p\#(batch)","lists":{"all":{"count":\#(count)}},"rooms":{\#(rooms.joined(separator: ","))},"extensions":{\#(extensions)}}"#,
      sourceLocation: sourceLocation)
  }

  var slidingTarget: String? { request(Sliding.path)?.request.target }
  var slidingBody: JSON? { body(Sliding.path) }
  /// The last place of the list that is asked for.
  var slidingEnd: Int64? {
    slidingBody?["lists"]?["all"]?["ranges"]?.elements.first { _ in true }?.elements.map { $0.integer }[1]
  }
}
