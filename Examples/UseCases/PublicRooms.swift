import MatrixClient

func publicRooms(of address: String) async throws {
  // ARTICLE
  let homeserver = Homeserver(address)
  for room in try await homeserver.publicRooms(limit: 20).rooms {
    print(room.name ?? room.id.text, room.memberCount)
  }
  // ARTICLE
}
