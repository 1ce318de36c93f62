import MatrixClient

func sendText(to room: MatrixRoom) async throws {
  // ARTICLE
  let sending = try await room.send("Hello World!")
  print(try await sending.sent())
  // ARTICLE
}
