import MatrixClient

func permanentStore(_ address: String, _ user: String, _ password: String) async throws {
  // ARTICLE
  let store = try SQLiteStore(path: "account.store")
  let client = try await MatrixClient(homeserver: address, store: store)
  if await client.sessionState != .signedIn {
    try await client.logIn(user: user, password: password)
  }
  print(await client.rooms.map(\.name.english))
  // ARTICLE
  await client.stop()
}

func sealedStore(_ passphrase: String) throws -> SQLiteStore {
  // ARTICLE
  let store = try SQLiteStore(path: "account.store", key: .passphrase(passphrase))
  // ARTICLE
  return store
}
