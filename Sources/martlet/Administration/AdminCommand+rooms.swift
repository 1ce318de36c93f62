import HTTPServer
import JSON
import MatrixModel
import Shell

extension AdminCommand {
  static let rooms: [AdminCommand] = [
    AdminCommand(
      "room list",
      options: [
        Option(name: "--search", value: "TEXT"), Option(name: "--order", value: "ORDER"),
        Option(name: "--from", value: "NUMBER"), Option(name: "--limit", value: "NUMBER")
      ],
      "Lists rooms by name; --order joined_members, state_events … sorts them by that."
    ) { call in
      let answer = try await call.get(
        AdminCall.administration + "/v1/rooms"
          + call.query([
            ("search_term", call.arguments.text("--search")), ("order_by", call.arguments.text("--order")),
            ("from", try call.arguments.integer("--from", in: 0...Int64.max)?.description),
            ("limit", try call.arguments.integer("--limit", in: 1...1_000)?.description)
          ]))
      call.show(
        answer, each: answer["rooms"], ["ROOM", "NAME", "ALIAS", "MEMBERS", "JOIN RULE", "CREATOR"],
        more: answer["next_batch"]?.integer.map { "There are more of \(Table.text(answer["total_rooms"])): add --from \($0)" }
      ) { room in
        [
          Table.text(room["room_id"]), Table.text(room["name"]), Table.text(room["canonical_alias"]),
          Table.text(room["joined_members"]), Table.text(room["join_rules"]), Table.text(room["creator"])
        ]
      }
    },
    AdminCommand("room show", ["ROOM"], "Shows a room and its members.") { call in
      let path = AdminCall.administration + "/v1/rooms"
      call.showMembers(of: try await call.get(call.path(path, call.operand(0))))
      let members = try await call.get(call.path(path, call.operand(0), then: "/members"))
      if !call.arguments.isJSON { StandardOutput.write("\n") }
      call.show(members, each: members["members"], ["MEMBER"]) { [Table.text($0)] }
    },
    AdminCommand(
      "room delete", ["ROOM"], options: [Option(name: "--block"), Option(name: "--keep")],
      "Removes all members from a room and deletes it with its history; --keep keeps the history, --block prevents new joins.",
      asks: { "Remove all members from \($0.operands[0])\($0.has("--keep") ? "" : " and delete its history")?" }
    ) { call in
      let started = try await call.send(.delete, call.path(AdminCall.administration + "/v2/rooms", call.operand(0))) { writer in
        writer.member("block", call.arguments.has("--block"))
        writer.member("purge", !call.arguments.has("--keep"))
      }
      let id = started["delete_id"]?.string ?? ""
      let answer = try await call.wait(
        call.path(AdminCall.administration + "/v2/rooms/delete_status", id),
        while: { $0["status"]?.string == "shutting_down" || $0["status"]?.string == "purging" },
        { $0["status"]?.string == "purging" ? "deleting the history …" : "removing the members …" })
      let count = answer["shutdown_room"]?["kicked_users"]?.count ?? 0
      call.show(answer, "the room is deleted; \(AdminCall.count(Int64(count), "member")) removed")
    },
    AdminCommand(
      "room redact", ["ROOM", "EVENT"], options: [Option(name: "--reason", value: "TEXT")],
      "Removes a message from a room for everybody.", asks: { "Remove \($0.operands[1]) from \($0.operands[0])?" }
    ) { call in
      let path = call.path(AdminCall.ownAdministration + "/rooms", call.operand(0), then: "/redact")
      let answer = try await call.send(.post, call.path(path, call.operand(1))) { writer in
        if let reason = call.arguments.text("--reason") { writer.member("reason", reason) }
      }
      call.show(answer, "the message is removed")
    },
    AdminCommand(
      "room purge-history", ["ROOM"],
      options: [Option(name: "--before-event", value: "EVENT"), Option(name: "--older-than-days", value: "NUMBER")],
      "Deletes the messages before an event, or those older than a number of days.",
      asks: { "Delete old messages of \($0.operands[0])?" }
    ) { call in
      let event = call.arguments.text("--before-event")
      let days = try call.arguments.integer("--older-than-days", in: 0...36_500)
      guard (event == nil) != (days == nil) else {
        throw UsageError("room purge-history takes either --before-event or --older-than-days")
      }
      let started = try await call.send(.post, call.path(AdminCall.administration + "/v1/purge_history", call.operand(0))) {
        writer in
        writer.member("delete_local_events", true)
        if let event { writer.member("purge_up_to_event_id", event) }
        if let days { writer.member("purge_up_to_ts", AdminCall.now() - days * 24 * 60 * 60 * 1_000) }
      }
      let answer = try await call.wait(
        call.path(AdminCall.administration + "/v1/purge_history_status", started["purge_id"]?.string ?? ""),
        while: { $0["status"]?.string == "active" }, { _ in "deleting …" })
      call.show(answer, "\(AdminCall.count(answer["martlet.deleted"]?.integer ?? 0, "message")) deleted")
    },
    block("room block", "Blocks a room: nobody can join it; its members stay.", true, "is blocked"),
    block("room unblock", "Unblocks a room.", false, "is no longer blocked")
  ]

  private static func block(_ name: String, _ summary: String, _ blocks: Bool, _ done: String) -> AdminCommand {
    AdminCommand(name, ["ROOM"], summary) { call in
      let answer = try await call.send(.put, call.path(AdminCall.administration + "/v1/rooms", call.operand(0), then: "/block"))
      {
        $0.member("block", blocks)
      }
      call.show(answer, "\(call.operand(0)) \(done)")
    }
  }
}
