/// The encryption of a client's device: what an app does about keys. Messages are encrypted and decrypted without it.
///
///     let saved = try await client.encryption.exportRoomKeys(passphrase: "correct horse", to: "keys.txt")
///
/// The value is valid as long as the client.
public struct MatrixEncryption: Sendable {
  public let client: MatrixClient
}

extension MatrixClient {
  public nonisolated var encryption: MatrixEncryption { MatrixEncryption(client: self) }
}
