import MatrixClient

func roomsOfAccount(_ address: String, _ user: String, _ password: String) async throws -> MatrixClient {
  // ARTICLE
  let client = try await MatrixClient.logIn(to: address, user: user, password: password)
  for room in await client.rooms {
    print(room.name.english, room.notificationCount)
  }
  // ARTICLE
  return client
}
