import Glibc
import MatrixModel
import Testing

@testable import MatrixClient

@Suite struct StoreGuestTests {
  @Test(.timeLimit(.minutes(1))) func `what a guest hands over is sent once, by the owner`() async throws {
    let homeserver = OneRoomServer()
    let server = FixtureServer(answer: homeserver.answer)
    defer { server.stop() }
    let folder = TemporaryFolder()
    let path = folder.path + "/store"
    let client = try await MatrixClient.logIn(
      to: server.url, user: "me", password: "secret", store: try SQLiteStore(path: path))
    let guest = try await StoreGuest(path: path)
    #expect(await guest.userID?.string == "@me:test")
    let room = try #require(await guest.rooms.first)
    #expect(room.name.english == "Tea")
    try await guest.send("from the share sheet", to: room.id)
    await client.checkInbox()
    while homeserver.bodies.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    // While nobody syncs it waits for the next start.
    await client.stop()
    try await guest.send("later", to: room.id)
    let next = try await MatrixClient(homeserver: server.url, store: try SQLiteStore(path: path))
    while homeserver.bodies.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
    await next.stop()
    #expect(homeserver.bodies == ["from the share sheet", "later"])
    await guest.close()
  }
}
