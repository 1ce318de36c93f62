import Encryption
public import JSON
public import MatrixModel

/// Something about the keys of a user that views may want to show, while it happens. Lists that the client sees for the first time are no events.
///
/// Be calm about it: a new signed device of somebody needs no words. `identityChanged` belongs where one writes to the user, and stays true until
/// `MatrixEncryption.accept` (`changedIdentities()`). A new device of the own user is the question "Was this you?". Spec: Client-Server API,
/// "Tracking the device list for a user" and "Cross-signing".
public enum EncryptionEvent: Hashable, Sendable {
  /// - name: what its owner calls it; nothing proves that. isSigned: whether its user has signed it so far. Most sign a new device a moment later.
  case deviceAppeared(UserID, DeviceID, name: ByteString?, isSigned: Bool)
  case deviceGone(UserID, DeviceID)
  /// The server lists a device whose keys cannot be its own, or are not those that it had. It gets no messages.
  case deviceRefused(UserID, DeviceID)
  /// The server no longer gives the user's signature of a device, or no longer lists this device.
  case signatureHidden(UserID, DeviceID)
  /// The user has other cross-signing keys now.
  /// - wasVerified: whether the user was verified before.
  case identityChanged(UserID, wasVerified: Bool)
  /// The server no longer gives the user's cross-signing keys, or gives false ones. Those that were known stay.
  case identityHidden(UserID)
  /// A device of the user has the name of one of their keys. Nobody can verify them.
  case namesCollided(UserID)

  public var user: UserID {
    switch self {
    case .deviceAppeared(let user, _, _, _), .deviceGone(let user, _), .deviceRefused(let user, _),
      .signatureHidden(let user, _), .identityChanged(let user, _), .identityHidden(let user), .namesCollided(let user):
      user
    }
  }

  /// nil for what concerns the user's identity.
  public var device: DeviceID? {
    switch self {
    case .deviceAppeared(_, let device, _, _), .deviceGone(_, let device), .deviceRefused(_, let device),
      .signatureHidden(_, let device):
      device
    case .identityChanged, .identityHidden, .namesCollided: nil
    }
  }

  /// Whether a message to the user, or from the user, is less sure than before.
  public var isWarning: Bool {
    switch self {
    case .deviceAppeared, .deviceGone: false
    case .deviceRefused, .signatureHidden, .identityChanged, .identityHidden, .namesCollided: true
    }
  }

  /// One sentence, with the IDs.
  public var english: String {
    switch self {
    case .deviceAppeared(let user, let device, let name, let isSigned):
      "\(user) has a new device \(device)" + (name.map { " (\($0))" } ?? "") + (isSigned ? "." : ", which is not signed yet.")
    case .deviceGone(let user, let device): "\(user) no longer has the device \(device)."
    case .deviceRefused(let user, let device):
      "The keys of the device \(device) of \(user) cannot be right. It gets no messages."
    case .signatureHidden(let user, let device): "The server no longer says that \(user) has signed the device \(device)."
    case .identityChanged(let user, let wasVerified):
      "The keys of \(user) have changed" + (wasVerified ? ", who was verified." : ".")
    case .identityHidden(let user): "The server no longer gives the keys of \(user). Those that were known stay."
    case .namesCollided(let user): "A device of \(user) has the name of one of their keys. They cannot be verified."
    }
  }
}

extension EncryptionEvent {
  init(_ news: TrustNews) {
    self =
      switch news {
      case .deviceAppeared(let user, let device, let name, let isSigned):
        .deviceAppeared(user, device, name: name, isSigned: isSigned)
      case .deviceGone(let user, let device): .deviceGone(user, device)
      case .deviceRefused(let user, let device, _): .deviceRefused(user, device)
      case .signatureHidden(let user, let device): .signatureHidden(user, device)
      case .identityChanged(let user, let wasVerified): .identityChanged(user, wasVerified: wasVerified)
      case .identityHidden(let user), .identityRefused(let user, _): .identityHidden(user)
      case .namesCollided(let user): .namesCollided(user)
      }
  }
}

extension MatrixEncryption {
  /// Returns a stream of what happens to the keys of users from now on. It ends with `stop`. If nobody reads it, the newest 1,000 are kept.
  public func events() async -> AsyncStream<EncryptionEvent> { await client.watchEncryptionEvents() }
}

extension MatrixClient {
  private static let keptEvents = 1_000

  func publish(_ news: TrustNews) {
    let event = EncryptionEvent(news)
    for watcher in encryptionEventWatchers.values { watcher.yield(event) }
  }

  fileprivate func watchEncryptionEvents() -> AsyncStream<EncryptionEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: EncryptionEvent.self, bufferingPolicy: .bufferingNewest(Self.keptEvents))
    guard !isStopped else {
      continuation.finish()
      return stream
    }
    lastStatusWatcher += 1
    let id = lastStatusWatcher
    encryptionEventWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.stopWatchingEncryptionEvents(id) } }
    return stream
  }

  private func stopWatchingEncryptionEvents(_ id: Int) { encryptionEventWatchers[id] = nil }
}
