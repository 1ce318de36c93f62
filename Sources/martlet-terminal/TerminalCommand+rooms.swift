import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell

/// Rooms: which there are, writing, reading.
extension TerminalCommand {
  static let rooms = TerminalCommand(
    "rooms", [], isHandedOver: true, "Lists the rooms you are in or invited to, the latest first."
  ) { call in
    try await call.withAccount { account in
      let rooms = await account.client.rooms
      guard !call.arguments.isJSON else {
        for room in rooms { call.showJSON { room.write(to: &$0) } }
        return
      }
      let rows = rooms.map { room in
        [
          room.name.english.string, room.membership == .invite ? "invited" : "\(room.notificationCount)",
          "\(room.joinedMemberCount)", Clock.text(room.lastActivityMilliseconds), room.id.string
        ]
      }
      call.surroundings.write(Table(["NAME", "UNREAD", "MEMBERS", "LAST", "ROOM"], rows).text)
    }
  }

  static let send = TerminalCommand(
    "send", ["ROOM", "[TEXT]"],
    options: [
      Option(name: "--file", value: "PATH"), Option(name: "--notice"), Option(name: "--emote"), Option(name: "--plain"),
      Option(name: "--reply-to", value: "EVENT")
    ], isHandedOver: true, input: { try OutgoingMessage.input($0) },
    "Sends a text as Markdown (--plain: as it is), standard input if no text is given, or a file; waits until the server has it."
  ) { call in
    let message = try OutgoingMessage.read(call)
    try await call.withAccount { account in
      let room = try await RoomFinder.find(call.arguments.operands[0], of: account.client)
      let event = try await Sending.send(message, to: room.id, by: account.client, call.surroundings.progressBar())
      guard call.arguments.isJSON else { return }
      call.showJSON { writer in
        writer.member("room_id", room.id)
        writer.member("event_id", event)
      }
    }
  }

  static let read = TerminalCommand(
    "read", ["ROOM"], options: [Option(name: "--limit", value: "NUMBER"), Option(name: "--follow")],
    isHandedOver: true,
    "Shows the last 20 messages of a room, or as many as --limit says; --follow also shows new ones, edits, reactions and deletions."
  ) { call in
    let limit = try call.arguments.integer("--limit", in: 0...10_000) ?? 20
    try await call.withAccount { account in
      let room = try await RoomFinder.find(call.arguments.operands[0], of: account.client)
      let reading = Reading(client: account.client, room: room.id) { line in
        if call.arguments.isJSON {
          call.showJSON { line.write(to: &$0, in: room.id) }
        } else {
          call.surroundings.write(line.text)
        }
      }
      try await call.arguments.has("--follow") ? reading.follow(after: Int(limit)) : reading.showLast(Int(limit))
    }
  }
}

extension Room {
  /// Its members in `rooms --json`.
  func write(to writer: inout JSONWriter) {
    writer.member("room_id", id)
    writer.member("name", name.english)
    writer.member("membership", membership.name)
    if let canonicalAlias { writer.member("alias", canonicalAlias) }
    if let topic { writer.member("topic", topic) }
    writer.member("members", joinedMemberCount)
    writer.member("unread", notificationCount)
    writer.member("highlights", highlightCount)
    writer.member("direct", isDirect)
    writer.member("encrypted", isEncrypted)
    writer.member("last_activity_ts", lastActivityMilliseconds)
  }
}

extension Membership {
  fileprivate var name: String {
    switch self {
    case .join: "join"
    case .invite: "invite"
    case .leave: "leave"
    case .ban: "ban"
    case .knock: "knock"
    }
  }
}

/// Times as the terminal client writes them.
enum Clock {
  /// Milliseconds since 1970 as `2026-11-20 22:48` in UTC; `-` for none.
  static func text(_ milliseconds: Int64) -> String {
    guard milliseconds > 0, let json = try? JSON.object({ $0.member("t", milliseconds) }) else { return "-" }
    return Table.time(json["t"])
  }

  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
