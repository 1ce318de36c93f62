import JSON
import MatrixModel

/// The body of a request for simplified sliding sync. Spec: MSC4186, "Request Body", in the form of its unstable path.
struct SlidingRequest: Sendable {
  /// How many rooms from the top.
  let rooms: Int
  /// Rooms of which more is wanted.
  let subscriptions: [RoomID]
  /// Up to where the device has its messages.
  let toDevice: ByteString?

  static let listName: StaticString = "all"

  var body: [UInt8] {
    var writer = JSONWriter(capacity: 2_048)
    writer.object { writer in
      writer.member("conn_id", "martlet")
      writer.key("lists")
      writer.object { writer in
        writer.key(Self.listName)
        writer.object { writer in
          writer.key("ranges")
          writer.array { writer in
            writer.array { writer in
              writer.write(0)
              writer.write(rooms - 1)
            }
          }
          Self.write(timelineLimit: Limits.listedRoomEvents, to: &writer)
        }
      }
      if !subscriptions.isEmpty {
        writer.key("room_subscriptions")
        writer.object { writer in
          for room in subscriptions {
            writer.key(room.text)
            writer.object { Self.write(timelineLimit: Limits.subscribedRoomEvents, to: &$0) }
          }
        }
      }
      writer.key("extensions")
      writer.object { writeExtensions(to: &$0) }
    }
    return writer.bytes
  }

  private static func write(timelineLimit: Int, to writer: inout JSONWriter) {
    writer.member("timeline_limit", timelineLimit)
    writer.member("required_state", raw: requiredState)
  }

  private func writeExtensions(to writer: inout JSONWriter) {
    writer.key("to_device")
    writer.object { writer in
      writer.member("enabled", true)
      if let toDevice { writer.member("since", toDevice) }
    }
    for name in ["e2ee", "account_data", "receipts", "typing"] as [StaticString] {
      writer.key(name)
      writer.object { $0.member("enabled", true) }
    }
  }

  /// What `RoomState` reads, and what apps ask for as a room's state. Members come with what they have written.
  private static let requiredState = Array(
    (#"[["m.room.create",""],["m.room.name",""],["m.room.avatar",""],["m.room.topic",""],["m.room.canonical_alias",""],"#
      + #"["m.room.encryption",""],["m.room.power_levels",""],["m.room.tombstone",""],["m.room.pinned_events",""],"#
      + #"["m.room.join_rules",""],["m.room.history_visibility",""],["m.room.guest_access",""],["m.room.server_acl",""],"#
      + #"["martlet.slow_mode",""],"#
      + #"["m.space.child","*"],["m.space.parent","*"],["m.room.third_party_invite","*"],"#
      + #"["im.vector.modular.widgets","*"],["org.matrix.msc3401.call.member","*"],"#
      + #"["m.room.member","$LAZY"],["m.room.member","$ME"]]"#).utf8)
}

extension Client {
  /// Rooms whose timeline is in memory, the ones used last.
  var subscriptions: [RoomID] {
    Array(keptTimelines.filter { rooms[$0]?.membership == .join }.suffix(Limits.subscribedRooms))
  }

  /// More is wanted of a room: what the server holds until there are news is asked for once more.
  mutating func renewSubscriptions() {
    guard syncLoop.isHeld, let request = syncLoop.request else { return }
    guard subscriptions.contains(where: { !syncLoop.subscriptions.contains($0) }) else { return }
    syncLoop.request = nil
    cancelRequest(request)
    startSync()
  }

  mutating func requestSliding() {
    let position = syncLoop.position
    // The first answer after a break comes at once, and so do those that tell further rooms.
    syncLoop.isHeld = syncLoop.isRunning && position.isComplete
    syncLoop.subscriptions = subscriptions
    let body = SlidingRequest(rooms: syncLoop.window, subscriptions: syncLoop.subscriptions, toDevice: position.toDevice).body
    let timeout = syncLoop.isHeld ? Limits.longPollMilliseconds : 0
    var query = "?timeout=\(timeout)"
    if let token = position.token { query += "&pos=" + PercentEncoding.encode(token) }
    if let presence = syncPresence { query += "&set_presence=" + presence.name }
    syncLoop.request = request(
      .slidingSync, Endpoint.slidingSync.path(), query: query, body: body,
      timeoutMilliseconds: timeout + Limits.syncGraceMilliseconds, for: .sync)
  }
}
