import ClientCore
import Encryption
public import MatrixModel

/// Verifications.
///
///     let asked = try await client.encryption.verifyDevices()
///     for await now in await client.encryption.changes(of: asked) {
///       if case .ready = now.stage { try await client.encryption.compare(now) }
///       if case .comparing(let shown) = now.stage, await people.see(shown.emoji) { try await client.encryption.confirm(now) }
///     }
///
/// If another device or user asks, it appears in `verifications()` with the stage `requested`: `accept` it or `cancel` it.
extension MatrixEncryption {
  // MARK: What is under way

  public var currentVerifications: [KeyVerification] {
    get async { await client.encryptionHost?.verifications.map { KeyVerification($0) } ?? [] }
  }

  /// Returns a stream of the verifications under way and of those that have ended until `cancel` forgets them, the oldest first. It starts with the
  /// current ones and ends with `stop`.
  public func verifications() async -> AsyncStream<[KeyVerification]> { await client.watchVerifications() }

  /// Returns a stream of one verification's stages. It starts with the current one and ends when the verification is over.
  public func changes(of verification: KeyVerification) async -> AsyncStream<KeyVerification> {
    let all = await verifications()
    return AsyncStream { continuation in
      let task = Task {
        var last: KeyVerification?
        for await current in all {
          guard let now = current.first(where: { $0.id == verification.id }) else { break }
          if now != last { continuation.yield(now) }
          last = now
          if now.isOver { break }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  // MARK: Asking

  /// Asks the user's other devices. The first that accepts takes part.
  public func verifyDevices() async throws(EncryptionError) -> KeyVerification { try await begin(.ownDevices) }

  /// Asks one of the user's other devices. Once it is done the devices trust each other, and the one that was not verified gets the account's keys
  /// and the backup from the other.
  public func verify(device: DeviceID) async throws(EncryptionError) -> KeyVerification { try await begin(.ownDevice(device)) }

  /// Asks another user.
  ///
  /// - Parameter room: a joined room with the user. nil for the direct room of both.
  /// - Throws: `unverified` if this device is not verified, `noRoom` if there is no direct room.
  public func verify(_ user: UserID, in room: RoomID? = nil) async throws(EncryptionError) -> KeyVerification {
    let direct = await client.rooms.first { $0.directUserID == user && $0.membership == .join }?.id
    guard let room = room ?? direct else { throw .noRoom }
    return try await begin(.user(user, in: room))
  }

  private func begin(_ target: VerificationTarget) async throws(EncryptionError) -> KeyVerification {
    guard case .verification(let id) = try await client.perform(.verify(target)),
      let view = await client.encryptionHost?.verifications.first(where: { $0.id == id })
    else { throw .unavailable }
    return KeyVerification(view)
  }

  /// Sets what this client can do with QR codes, for verifications that begin later. Both, until this is said.
  public func offerCodes(shows: Bool, scans: Bool) async throws(EncryptionError) {
    _ = try await client.perform(.offer(showsCodes: shows, scansCodes: scans))
  }

  // MARK: Steps

  /// Accepts a request of the other side.
  public func accept(_ verification: KeyVerification) async throws(EncryptionError) { try await step(verification, .accept) }

  /// Begins to compare emoji or numbers.
  public func compare(_ verification: KeyVerification) async throws(EncryptionError) { try await step(verification, .compare) }

  /// Takes the bytes of a QR code that the other side shows. Those of another code end with `badAnswer`, and change nothing.
  public func scanned(_ code: [UInt8], in verification: KeyVerification) async throws(EncryptionError) {
    try await step(verification, .scanned(code))
  }

  /// Both sides show the same, or the other side says that it has scanned the code.
  public func confirm(_ verification: KeyVerification) async throws(EncryptionError) { try await step(verification, .confirm) }

  /// The sides show different things.
  public func mismatch(_ verification: KeyVerification) async throws(EncryptionError) {
    try await step(verification, .mismatch)
  }

  /// Ends it, or declines the request. One that is over is forgotten.
  public func cancel(_ verification: KeyVerification) async throws(EncryptionError) { try await step(verification, .cancel) }

  private func step(_ verification: KeyVerification, _ step: VerificationStep) async throws(EncryptionError) {
    try await client.perform(.verification(verification.id, step))
  }

  /// Waits until what follows from a finished verification is done: the signatures are at the server, and the devices have given each other what
  /// they ask for. A program that ends before leaves that to its next start. It waits 10 seconds at most, and for the backup's keys as long as they come.
  public func settle(_ verification: KeyVerification) async {
    await client.verificationsSettle()
    guard verification.isOwn else { return }
    for await status in await statuses() where status.restore == nil { return }
  }

  // MARK: Trust

  /// Returns the devices of a user, and whether each is verified: signed by its user, who is verified.
  public func devices(of user: UserID) async throws(EncryptionError) -> [(device: DeviceID, isVerified: Bool)] {
    guard case .trust(let trust) = try await client.perform(.inspectUser(user)) else { throw .unavailable }
    return trust.devices.map { ($0.device, $0.isVerified) }
  }
}
