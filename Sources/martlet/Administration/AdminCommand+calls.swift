import CallServer
import HomeserverAPI
import JSON
import MatrixModel
import Shell

extension AdminCommand {
  static let callKeys: [AdminCommand] = [
    AdminCommand(
      "call key add", ["NAME"],
      "Creates an API key for an app's calls and prints it with its secret, which cannot be shown again."
    ) {
      call in
      let answer = try await call.send(.post, Routes.callKeys) { $0.member("name", call.operand(0)) }
      call.show(answer, "key     \(Table.text(answer["key"]))", "secret  \(Table.text(answer["secret"]))")
    },
    AdminCommand("call key list", [], "Lists the API keys, without their secrets.") { call in
      let answer = try await call.get(Routes.callKeys)
      call.show(answer, each: answer["keys"], ["KEY", "NAME", "CREATED", "CALLBACK"]) { key in
        [Table.text(key["key"]), Table.text(key["name"]), Table.time(key["created_ts"]), Table.text(key["callback"])]
      }
    },
    AdminCommand(
      "call key callback", ["KEY", "URL"], "Sends the events of the key's sessions to a URL; 'none' stops it."
    ) { call in
      let url = call.operand(1)
      let answer = try await call.send(.put, call.path(Routes.callKeys, call.operand(0)) + "/callback") {
        $0.key("url")
        if url == "none" { $0.null() } else { $0.write(url) }
      }
      call.show(answer, url == "none" ? "the callback is removed" : "events go to \(url), signed with the key's secret")
    },
    AdminCommand(
      "call key remove", ["KEY"], "Deletes an API key; its sessions end.",
      asks: { "Delete the API key \($0.operands[0]) and end its sessions?" }
    ) { call in
      let answer = try await call.send(.delete, call.path(Routes.callKeys, call.operand(0)))
      call.show(answer, "the key is deleted; its sessions have ended")
    }
  ]
}
