import MatrixClient

/// `Consumer HOMESERVER`: makes an account, writes into a room of its own, and reads it back.
@main
struct Consumer {
  static func main() async throws {
    guard let homeserver = CommandLine.arguments.dropFirst().first else { return print("usage: Consumer HOMESERVER") }
    let name = "consumer" + String(UInt64.random(in: 0 ... .max), radix: 36)
    let client = try await MatrixClient.register(at: homeserver, username: name, password: "correct horse battery")
    guard let id = try await client.perform(.rooms(.create(NewRoom(name: "Consumer")))) else { return }
    let room: MatrixRoom = client.room(id)
    let changes = await client.changes()
    if await room.state == nil {
      for await _ in changes where await room.state != nil { break }
    }
    let messages = await room.messages()
    try await room.send("Hello from outside")
    for await message in messages {
      guard case .message(let content) = message.content else { continue }
      print(message.sender, content.body)
      break
    }
    try await client.logOut()
  }
}
