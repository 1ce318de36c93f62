import HTTPServer
import JSON
import MatrixModel
import Shell
import Telemetry

extension AdminCommand {
  /// Making and listing accounts.
  static let users: [AdminCommand] = [
    AdminCommand(
      "user list",
      options: [
        Option(name: "--search", value: "TEXT"), Option(name: "--admins"), Option(name: "--deactivated"),
        Option(name: "--from", value: "NUMBER"), Option(name: "--limit", value: "NUMBER")
      ],
      "Lists accounts; --search looks in their names, --admins and --deactivated list only those."
    ) { call in
      let answer = try await call.get(
        AdminCall.administration + "/v3/users"
          + call.query([
            ("name", call.arguments.text("--search")), ("admins", call.arguments.has("--admins") ? "true" : nil),
            ("deactivated", call.arguments.has("--deactivated") ? "true" : "false"),
            ("from", try call.arguments.integer("--from", in: 0...Int64.max)?.description),
            ("limit", try call.arguments.integer("--limit", in: 1...1_000)?.description)
          ]))
      call.show(
        answer, each: answer["users"], ["USER", "NAME", "STATE", "CREATED", "LAST SEEN"],
        more: answer["next_token"]?.string.map { "There are more of \(Table.text(answer["total"])): add --from \($0)" }
      ) { user in
        [
          Table.text(user["name"]), Table.text(user["displayname"]), state(user), Table.time(user["creation_ts"]),
          Table.time(user["last_seen_ts"])
        ]
      }
    },
    AdminCommand("user show", ["USER"], "Shows an account.") { call in
      call.showMembers(of: try await call.get(call.path(AdminCall.administration + "/v2/users", call.user())))
    },
    AdminCommand(
      "user add", ["NAME"], options: [Option(name: "--admin")],
      "Creates an account; asks for the password, or reads it from standard input."
    ) { call in
      let path = call.path(AdminCall.administration + "/v2/users", call.user())
      if try await call.exists(path) { throw StartError.failed("the account \(call.user()) exists already") }
      let password = try PasswordPrompt.read()
      let answer = try await call.send(.put, path) { writer in
        writer.member("password", String(decoding: password.reveal(), as: UTF8.self))
        if call.arguments.has("--admin") { writer.member("admin", true) }
      }
      call.show(answer, Table.text(answer["name"]))
    }
  ]

  private static func state(_ user: JSON) -> String {
    let states: [(StaticString, String)] = [
      ("admin", "administrator"), ("is_guest", "guest"), ("locked", "locked"), ("suspended", "suspended"),
      ("deactivated", "deactivated"), ("erased", "erased")
    ]
    let true_ = states.compactMap { key, name in user[key]?.bool == true ? name : nil }
    return true_.isEmpty ? "-" : true_.joined(separator: ", ")
  }

  /// Who may use an account, and as what.
  static let access: [AdminCommand] = [
    change("user lock", "Locks an account: its devices stay signed in but cannot do anything.", "locked", true, "is locked"),
    change("user unlock", "Unlocks an account.", "locked", false, "is unlocked"),
    suspension("user suspend", "Suspends an account: it can read but not write.", true, "is suspended"),
    suspension("user unsuspend", "Ends a suspension.", false, "is no longer suspended"),
    AdminCommand(
      "user admin", ["USER"], options: [Option(name: "--remove")],
      "Makes a user an administrator; --remove takes that back."
    ) { call in
      let isAdmin = !call.arguments.has("--remove")
      let answer = try await call.send(.put, call.path(AdminCall.administration + "/v1/users", call.user(), then: "/admin")) {
        $0.member("admin", isAdmin)
      }
      call.show(answer, "\(call.user()) is \(isAdmin ? "an administrator" : "no longer an administrator")")
    },
    AdminCommand(
      "user deactivate", ["USER"], options: [Option(name: "--erase")],
      "Deactivates an account for good; --erase also hides its messages from users who join later.",
      asks: { "Deactivate the account \($0.operands[0]) for good?" }
    ) { call in
      let answer = try await call.send(.post, call.path(AdminCall.administration + "/v1/deactivate", call.user())) {
        $0.member("erase", call.arguments.has("--erase"))
      }
      call.show(answer, "\(call.user()) is deactivated")
    },
    AdminCommand(
      "user reset-password", ["USER"], options: [Option(name: "--keep-devices")],
      "Sets a password, asked for or read from standard input, and signs all devices out unless --keep-devices is given."
    ) { call in
      let password = try PasswordPrompt.read()
      let answer = try await call.send(.post, call.path(AdminCall.administration + "/v1/reset_password", call.user())) {
        writer in
        writer.member("new_password", String(decoding: password.reveal(), as: UTF8.self))
        writer.member("logout_devices", !call.arguments.has("--keep-devices"))
      }
      call.show(answer, "\(call.user()) has a new password")
    }
  ]

  private static func change(
    _ name: String, _ summary: String, _ member: StaticString, _ value: Bool, _ done: String
  ) -> AdminCommand {
    AdminCommand(name, ["USER"], summary) { call in
      let path = call.path(AdminCall.administration + "/v2/users", call.user())
      // Putting would make an account that is not there.
      _ = try await call.get(path)
      call.show(try await call.send(.put, path) { $0.member(member, value) }, "\(call.user()) \(done)")
    }
  }

  private static func suspension(_ name: String, _ summary: String, _ value: Bool, _ done: String) -> AdminCommand {
    AdminCommand(name, ["USER"], summary) { call in
      let answer = try await call.send(.put, call.path(AdminCall.administration + "/v1/suspend", call.user())) {
        $0.member("suspend", value)
      }
      call.show(answer, "\(call.user()) \(done)")
    }
  }
}

extension AdminCall {
  fileprivate func exists(_ path: String) async throws -> Bool {
    do {
      _ = try await get(path)
      return true
    } catch let error as MatrixError where error.code == .notFound { return false }
  }
}
