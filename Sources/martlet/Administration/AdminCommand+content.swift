import HTTPServer
import JSON
import MatrixModel
import ServerCore
import Shell

extension AdminCommand {
  static let media: [AdminCommand] = [
    AdminCommand(
      "media check", options: [Option(name: "--repair")],
      "Compares the bucket with the database and ends with 1 if it lacks files. --repair lets the server remove files that nothing names, a day later."
    ) { call in
      let path = AdminCall.ownAdministration + "/media/check"
      let answer = try await call.arguments.has("--repair") ? call.send(.post, path) : call.get(path)
      let unnamed = answer["unnamed_count"]?.integer ?? 0
      let missing = answer["missing_count"]?.integer ?? 0
      call.show(
        answer, "\(AdminCall.count(answer["objects"]?.integer ?? 0, "file")), \(Table.bytes(answer["bytes"]))",
        "not named in the database: \(unnamed)")
      guard missing > 0 else { return }
      let names = (answer["missing"]?.elements.map { Table.text($0) } ?? []).prefix(20).joined(separator: "\n")
      throw StartError.failed("the bucket lacks \(AdminCall.count(missing, "file")) that the database names:\n\(names)")
    },
    AdminCommand(
      "media list", ["USER"], options: [Option(name: "--from", value: "NUMBER"), Option(name: "--limit", value: "NUMBER")],
      "Lists a user's uploads, the newest first."
    ) { call in
      let answer = try await call.get(
        call.path(AdminCall.administration + "/v1/users", call.user(), then: "/media")
          + call.query([
            ("from", try call.arguments.integer("--from", in: 0...Int64.max)?.description),
            ("limit", try call.arguments.integer("--limit", in: 1...500)?.description)
          ]))
      call.show(
        answer, each: answer["media"], ["MEDIA", "NAME", "TYPE", "SIZE", "UPLOADED", "QUARANTINED BY"],
        more: answer["next_token"]?.integer.map { "There are more of \(Table.text(answer["total"])): add --from \($0)" }
      ) { item in
        [
          Table.text(item["media_id"]), Table.text(item["upload_name"]), Table.text(item["media_type"]),
          Table.bytes(item["media_length"]), Table.time(item["created_ts"]), Table.text(item["quarantined_by"])
        ]
      }
    },
    AdminCommand("media quarantine", ["MEDIA"], "Quarantines a file: it is kept but no longer served.") { call in
      let answer = try await call.send(
        .post, call.path(AdminCall.administration + "/v1/media/quarantine", call.connection.serverName, call.media()))
      call.show(answer, "the file is no longer served")
    },
    AdminCommand("media unquarantine", ["MEDIA"], "Serves a quarantined file again.") { call in
      let answer = try await call.send(
        .post, call.path(AdminCall.administration + "/v1/media/unquarantine", call.connection.serverName, call.media()))
      call.show(answer, "the file is served again")
    },
    AdminCommand(
      "media delete", ["MEDIA"], "Deletes a file.", asks: { "Delete the file \($0.operands[0])?" }
    ) { call in
      let answer = try await call.send(
        .delete, call.path(AdminCall.administration + "/v1/media", call.connection.serverName, call.media()))
      call.show(answer, "the file is deleted")
    },
    AdminCommand("media statistics", [], "Shows how much each user has uploaded, the largest amount first.") { call in
      let answer = try await call.get(
        AdminCall.administration + "/v1/statistics/users/media?order_by=media_length&dir=b")
      call.show(answer, each: answer["users"], ["USER", "FILES", "SIZE"]) { user in
        [Table.text(user["user_id"]), Table.text(user["media_count"]), Table.bytes(user["media_length"])]
      }
    }
  ]

  static let tokens: [AdminCommand] = [
    AdminCommand("token list", [], "Lists the registration tokens that administrators created.") { call in
      let answer = try await call.get(AdminCall.administration + "/v1/registration_tokens")
      call.show(answer, each: answer["registration_tokens"], ["TOKEN", "USED", "PENDING", "LIMIT", "EXPIRES"]) { token in
        [
          Table.text(token["token"]), Table.text(token["completed"]), Table.text(token["pending"]),
          Table.text(token["uses_allowed"]), Table.time(token["expiry_time"])
        ]
      }
    },
    AdminCommand(
      "token create",
      options: [
        Option(name: "--token", value: "TOKEN"), Option(name: "--uses", value: "NUMBER"),
        Option(name: "--days", value: "NUMBER")
      ],
      "Creates a registration token; --uses and --days limit how often and how long it can be used."
    ) { call in
      let days = try call.arguments.integer("--days", in: 1...36_500)
      let uses = try call.arguments.integer("--uses", in: 1...1_000_000_000)
      let answer = try await call.send(.post, AdminCall.administration + "/v1/registration_tokens/new") { writer in
        if let token = call.arguments.text("--token") { writer.member("token", token) }
        if let uses { writer.member("uses_allowed", uses) }
        if let days { writer.member("expiry_time", AdminCall.now() + days * 24 * 60 * 60 * 1_000) }
      }
      call.show(answer, Table.text(answer["token"]))
    },
    AdminCommand("token delete", ["TOKEN"], "Deletes a registration token.") { call in
      let answer = try await call.send(
        .delete, call.path(AdminCall.administration + "/v1/registration_tokens", call.operand(0)))
      call.show(answer, "the token is deleted")
    }
  ]

  static let inviteLinks: [AdminCommand] = [
    AdminCommand("invite-link list", [], "Lists the invite links of all users, the newest first.") { call in
      let answer = try await call.get(AdminCall.ownAdministration + "/invite_links")
      call.show(answer, each: answer["invite_links"], ["ID", "BY", "TO", "USED", "LIMIT", "EXPIRES"]) { link in
        [
          Table.text(link["id"]), Table.text(link["user_id"]), Table.text(link["room_name"] ?? link["room_id"]),
          Table.text(link["uses"]), Table.text(link["uses_allowed"]), Table.time(link["expires_ts"])
        ]
      }
    },
    AdminCommand("invite-link revoke", ["ID"], "Ends an invite link at once.") { call in
      let answer = try await call.send(.delete, call.path(AdminCall.ownAdministration + "/invite_links", call.operand(0)))
      call.show(answer, "the invite link is revoked")
    }
  ]

  static let reports: [AdminCommand] = [
    AdminCommand("report list", [], "Lists the reports of users, the newest first.") { call in
      let answer = try await call.get(AdminCall.ownAdministration + "/reports")
      call.show(answer, each: answer["reports"], ["NUMBER", "TIME", "BY", "ABOUT", "REASON"]) { report in
        [
          Table.text(report["id"]), Table.time(report["received_ts"]), Table.text(report["user_id"]),
          Table.text(report["reported_user_id"] ?? report["event_id"] ?? report["room_id"]), Table.text(report["reason"])
        ]
      }
    },
    AdminCommand("report show", ["NUMBER"], "Shows a report, with the reported event if there is one.") { call in
      call.showMembers(of: try await call.get(call.path(AdminCall.administration + "/v1/event_reports", call.operand(0))))
    },
    AdminCommand("report delete", ["NUMBER"], "Deletes a report.") { call in
      let answer = try await call.send(
        .delete, call.path(AdminCall.administration + "/v1/event_reports", call.operand(0)))
      call.show(answer, "the report is deleted")
    }
  ]
}

extension AdminCall {
  /// Milliseconds since 1970.
  static func now() -> Int64 { WallClock.system.now() }

  /// A media ID, given as such or as a whole `mxc://` URI.
  fileprivate func media() -> String { operand(0).split(separator: "/").last.map(String.init) ?? operand(0) }
}
