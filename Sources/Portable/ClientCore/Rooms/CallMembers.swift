import JSON
import MatrixModel

/// The state events by which devices are in the room's call (MSC4143, in the form of MSC3401), as they came: what they say is for
/// `CallCore`.
struct CallMembers: Sendable {
  private(set) var events: [(key: ByteString, json: [UInt8])] = []

  /// Returns false if the event is not of this type or changes nothing.
  mutating func take(_ event: Event, _ stateKey: ByteString) -> Bool {
    guard event.type == .callMember else { return false }
    let count = events.count
    events.removeAll { $0.key == stateKey }
    let isLeaving = event.content.count == 0
    guard !isLeaving, event.content.bytes.count <= Limits.callMemberBytes, events.count < Limits.callMembers else {
      return events.count != count
    }
    let json = JSONWriter.object { writer in
      writer.member("type", event.type.text)
      writer.member("state_key", stateKey)
      if let sender = event.sender { writer.member("sender", sender) }
      writer.member("origin_server_ts", event.originServerTimestamp ?? 0)
      writer.member("content", event.content)
    }
    events.append((stateKey, json))
    return true
  }

  var users: [UserID] {
    var users: [UserID] = []
    for event in events {
      if let user = (try? JSON.parse(event.json)).flatMap({ UserID($0["sender"]) }), !users.contains(user) {
        users.append(user)
      }
    }
    return users
  }

  func write(to writer: inout JSONWriter) {
    guard !events.isEmpty else { return }
    writer.key("call")
    writer.array { writer in for event in events { writer.raw(event.json) } }
  }

  init() {}

  init(record: JSON) {
    guard let listed = record["call"] else { return }
    for json in listed.elements {
      if let key = json.text("state_key") { events.append((key, Array(json.bytes))) }
    }
  }
}
