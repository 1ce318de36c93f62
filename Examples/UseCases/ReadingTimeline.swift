import MatrixClient

func readTimeline(of room: MatrixRoom) async throws {
  // ARTICLE
  let messages = await room.messages()
  try await room.client.perform(.paginateBack(.live(room.id)))
  for item in await room.state?.timeline.items ?? [] {
    print(item.sender, item.content)
  }
  for await message in messages {
    print(message.sender, message.content)
  }
  // ARTICLE
}
