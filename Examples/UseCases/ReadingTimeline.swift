import MatrixClient

func readTimeline(of room: MatrixRoom) async throws {
  // ARTICLE
  let messages = await room.messages()
  let timeline = room.timeline()
  try await timeline.paginateBack()
  for item in await timeline.items { print(item.sender, item.text ?? "") }
  for await message in messages {
    print(message.sender, message.text ?? "")
  }
  // ARTICLE
}
