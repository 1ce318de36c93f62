import MatrixClient

/// The samples of the documentation's articles, one after the other: `UseCases HOMESERVER USER PASSWORD ROOM`. What stands between
/// the markers is what the articles show; a test keeps the two the same, another runs this.
@main
struct UseCases {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5 else { return print("usage: UseCases HOMESERVER USER PASSWORD ROOM") }
    let (address, user, password) = (arguments[1], arguments[2], arguments[3])
    try await publicRooms(of: address)
    let client = try await roomsOfAccount(address, user, password)
    try await permanentStore(address, user, password)
    guard let room = await client.room(named: arguments[4]) else { return print("There is no such room.") }
    try await sendText(to: room)
    try await readTimeline(of: room)
    await client.stop()
  }
}
