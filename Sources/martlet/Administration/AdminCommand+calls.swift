import CallServer
import HomeserverAPI
import JSON
import MatrixModel

extension AdminCommand {
  static let callKeys: [AdminCommand] = [
    AdminCommand(
      "call key add", ["NAME"], "Makes an API key for an app's calls and prints it with its secret, which is shown only now."
    ) {
      call in
      let answer = try await call.send(.post, Routes.callKeys) { $0.member("name", call.operand(0)) }
      call.show(answer, "key     \(Table.text(answer["key"]))\nsecret  \(Table.text(answer["secret"]))")
    },
    AdminCommand("call key list", [], "Lists the API keys, without their secrets.") { call in
      let answer = try await call.get(Routes.callKeys)
      call.show(answer, each: answer["keys"], ["KEY", "NAME", "MADE"]) { key in
        [Table.text(key["key"]), Table.text(key["name"]), Table.time(key["created_ts"])]
      }
    },
    AdminCommand(
      "call key remove", ["KEY"], "Takes an API key away; the sessions made with it end.",
      asks: { "Take the API key \($0.operands[0]) away?" }
    ) { call in
      let answer = try await call.send(.delete, call.path(Routes.callKeys, call.operand(0)))
      call.show(answer, "the key is good no longer")
    }
  ]
}
