import MatrixClient

func keep(_ client: MatrixClient) async throws {
  // ARTICLE
  let key = try await client.encryption.setUpRecovery()
  print("Write this down:", key)
  // ARTICLE
}

func recover(_ client: MatrixClient, with key: String) async throws {
  // ARTICLE
  do {
    try await client.encryption.recover(with: key)
  } catch EncryptionError.wrongRecoveryKey {
    print("That is another key.")
  }
  for await status in await client.encryption.statuses() {
    if let restore = status.restore { print("\(restore.done) of \(restore.count) keys") }
  }
  // ARTICLE
}

func accept(_ client: MatrixClient) async {
  // ARTICLE
  for change in await client.encryption.changedIdentities() {
    print(change.user, "has other keys now", change.wasVerified ? "and was verified" : "")
    await client.encryption.accept(change)
  }
  // ARTICLE
}

func watch(_ client: MatrixClient) async {
  // ARTICLE
  for await event in await client.encryption.events() {
    switch event {
    case .identityChanged(let user, _): print(user, "has other keys now")
    case .deviceAppeared(let user, let device, let name, _) where await client.session?.userID == user:
      print("Was this you?", name ?? device.text)
    default: if event.isWarning { print(event.english) }
    }
  }
  // ARTICLE
}
