import MatrixClient

func sendText(to room: MatrixRoom) async throws {
  // ARTICLE
  try await room.send("Hello World!")
  // ARTICLE
}
