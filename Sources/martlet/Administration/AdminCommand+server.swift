import HTTPServer
import JSON
import MatrixModel
import Shell

extension AdminCommand {
  static let notices: [AdminCommand] = [
    AdminCommand("notice send", ["USER", "TEXT"], "Sends a user a server notice.") { call in
      let answer = try await call.send(.post, AdminCall.administration + "/v1/send_server_notice") { writer in
        writer.member("user_id", call.user())
        call.writeNotice(call.operand(1), to: &writer)
      }
      call.show(answer, "sent to \(call.user())")
    },
    AdminCommand(
      "notice broadcast", ["TEXT"],
      "Sends all users a server notice; an interrupted broadcast goes on and reaches nobody twice.",
      asks: { _ in "Send this to all users?" }
    ) { call in
      let started = try await call.send(.post, AdminCall.ownAdministration + "/broadcasts") {
        call.writeNotice(call.operand(0), to: &$0)
      }
      let answer = try await call.wait(
        call.path(AdminCall.ownAdministration + "/broadcasts", started["broadcast_id"]?.string ?? ""),
        while: { $0["status"]?.string == "active" }, { "\(Table.text($0["reached"])) of \(Table.text($0["total"]))" })
      let failed = answer["failed"]?.integer ?? 0
      call.show(
        answer,
        "sent to \(AdminCall.count((answer["reached"]?.integer ?? 0) - failed, "user"))\(failed > 0 ? "; \(failed) failed" : "")"
      )
    }
  ]

  static let server: [AdminCommand] = [
    AdminCommand(
      "statistics", options: [Option(name: "--days", value: "NUMBER")],
      "Shows the numbers of users, rooms, messages and files; with --days those of each of the last days."
    ) { call in
      guard let days = try call.arguments.integer("--days", in: 1...400) else {
        return call.showMembers(of: try await call.get(AdminCall.ownAdministration + "/statistics"))
      }
      let answer = try await call.get(AdminCall.ownAdministration + "/statistics/daily?days=\(days)")
      call.show(answer, each: answer["days"], ["DAY", "USERS", "ACTIVE", "MESSAGES", "ROOMS", "MEDIA"]) { day in
        [
          String(Table.time(day["day"]).prefix(10)), Table.text(day["users"]), Table.text(day["active_users"]),
          Table.text(day["messages"]), Table.text(day["rooms"]), day["media_bytes"].map { Table.bytes($0) } ?? "-"
        ]
      }
    },
    AdminCommand("health", [], "Shows the version, the disk, the database, what waits, and how long requests take.") { call in
      call.showMembers(of: try await call.get(AdminCall.ownAdministration + "/health"))
    },
    AdminCommand(
      "audit",
      options: [
        Option(name: "--actor", value: "USER"), Option(name: "--action", value: "ACTION"),
        Option(name: "--target", value: "ID"),
        Option(name: "--before", value: "NUMBER"), Option(name: "--limit", value: "NUMBER")
      ],
      "Shows the actions of administrators, the newest first; those of these commands are by 'operator'."
    ) { call in
      let answer = try await call.get(
        AdminCall.ownAdministration + "/audit"
          + call.query([
            ("actor", call.arguments.text("--actor")), ("action", call.arguments.text("--action")),
            ("target", call.arguments.text("--target")),
            ("before", try call.arguments.integer("--before", in: 0...Int64.max)?.description),
            ("limit", try call.arguments.integer("--limit", in: 1...500)?.description)
          ]))
      call.show(
        answer, each: answer["entries"], ["TIME", "BY", "ACTION", "TARGET", "DETAILS", "OUTCOME"],
        more: answer["next_before"]?.integer.map { "There are older ones: add --before \($0)" }
      ) { entry in
        [
          Table.time(entry["time"]), Table.text(entry["actor"]), Table.text(entry["action"]), Table.text(entry["target"]),
          entry["details"]?.count == 0 ? "-" : Table.text(entry["details"]), Table.text(entry["outcome"])
        ]
      }
    }
  ]
}

extension AdminCall {
  fileprivate func writeNotice(_ text: String, to writer: inout JSONWriter) {
    writer.key("content")
    writer.object { writer in
      writer.member("msgtype", "m.text")
      writer.member("body", text)
    }
  }
}
