import MatrixClient

/// The README's sample as a program: `Hello [HOMESERVER]`. A test keeps the two the same and runs this one.
@main
struct Hello {
  static func main() async throws {
    let homeserver = CommandLine.arguments.dropFirst().first ?? "http://localhost:8008"
    // README
    let client = try await MatrixClient.logIn(to: homeserver, user: "alice", password: "correct horse battery")
    guard let room = await client.room(named: "Tea") else { return print("There is no room named Tea.") }
    try await room.send("Hello from Swift")
    for await message in await room.messages() {
      print(message.sender, message.text ?? "")
    }
    // README
  }
}
