public import ClientCore
import JSON
public import MatrixModel

/// Functions to sign in and out.
extension MatrixClient {
  /// Logs in with a password and waits for the first sync. If the store has a session of that user, the client continues it instead, even if
  /// it cannot reach the server.
  /// - Parameters:
  ///   - address: a URL, or a server name or user ID for discovery.
  ///   - encrypts: see `init`.
  /// - Throws: `alreadySignedIn` if the store has a session of another user or server.
  public static func logIn(
    to address: String, user: String, password: String, store: any Store = MemoryStore(),
    transport: any Transport = standardTransport(), syncMode: SyncMode = .automatic, encrypts: Bool = true
  ) async throws(ClientError) -> MatrixClient {
    let login = Login.password(ByteString(password), user: .user(ByteString(user)))
    return try await logIn(
      to: address, with: login, store: store, transport: transport, syncMode: syncMode, encrypts: encrypts)
  }

  /// Logs in and waits for the first sync. If the store has a session, the client continues it instead, even if it cannot reach the server.
  /// - Parameters:
  ///   - address: a URL, or a server name or user ID for discovery.
  ///   - deviceID: the ID of an existing device of the user; nil for a new device.
  ///   - encrypts: see `init`.
  /// - Throws: `alreadySignedIn` if the store has a session of another user or server.
  public static func logIn(
    to address: String, with login: Login, deviceID: DeviceID? = nil, store: any Store = MemoryStore(),
    transport: any Transport = standardTransport(), deviceDisplayName: String = "Martlet",
    syncMode: SyncMode = .automatic, encrypts: Bool = true
  ) async throws(ClientError) -> MatrixClient {
    // Not with the address: a token that is stored is for the server that it is of.
    let client = try await open(nil, store, transport, deviceDisplayName, syncMode, encrypts)
    do throws(ClientError) {
      try await client.goOn(or: login, deviceID, at: address)
      return client
    } catch {
      await client.stop()
      throw error
    }
  }

  private static func open(
    _ homeserver: String?, _ store: any Store, _ transport: any Transport, _ deviceDisplayName: String, _ syncMode: SyncMode,
    _ encrypts: Bool
  ) async throws(ClientError) -> MatrixClient {
    do throws(StoreError) {
      return try await MatrixClient(
        homeserver: homeserver, store: store, transport: transport, deviceDisplayName: deviceDisplayName,
        syncMode: syncMode, encrypts: encrypts)
    } catch { throw .storeUnavailable(reason: ByteString(error.description)) }
  }

  /// Continues the stored session. Logs in if there is no session, or if the server has ended it.
  private func goOn(or login: Login, _ deviceID: DeviceID?, at address: String) async throws(ClientError) {
    if core.sessionState == .signedIn, let session = core.session {
      let url = ServerURL(address)
      guard login.isOf(session), url == nil || session.homeserver == nil || url == session.homeserver else {
        throw .alreadySignedIn(session.userID)
      }
      if session.homeserver == nil { try await useHomeserver(at: address) }
      try await firstSync(endsOffline: true)
      if core.sessionState == .signedIn { return setUpIdentity(with: login) }
    }
    try await useHomeserver(at: address)
    try await perform(.session(.logIn(login, deviceID: deviceID)))
    try await firstSync()
    guard core.sessionState == .signedIn else { throw .notSignedIn }
    setUpIdentity(with: login)
  }

  /// Creates an account and signs in to it. `authenticator` completes the stages that the server requires, except those that need no
  /// input.
  /// - Parameters:
  ///   - address: a URL, or a server name or user ID for discovery.
  ///   - token: a registration token, if the server requires one.
  ///   - encrypts: see `init`.
  public static func register(
    at address: String, username: String, password: String, token: String? = nil,
    authenticator: Authenticator? = nil, store: any Store = MemoryStore(),
    transport: any Transport = standardTransport(), deviceDisplayName: String = "Martlet",
    syncMode: SyncMode = .automatic, encrypts: Bool = true
  ) async throws(ClientError) -> MatrixClient {
    let client = try await open(
      try await Homeserver.url(of: address, transport: transport), store, transport, deviceDisplayName, syncMode, encrypts)
    var command = SessionCommand.register(
      username: ByteString(username), password: ByteString(password), token: token.map { ByteString($0) })
    for _ in 0..<Authenticator.stagesLimit {
      do throws(ClientError) {
        try await client.perform(.session(command))
        try await client.firstSync()
        await client.setUpIdentity(with: .password(ByteString(password), user: .user(ByteString(username))))
        return client
      } catch {
        guard case .authenticationNeeded(let needed) = error, let stage = await authenticator?.stage(needed) else {
          await client.stop()
          throw error
        }
        command = .continueRegistration(stage)
      }
    }
    await client.stop()
    throw .unsupportedFlow
  }

  /// Continues a login from elsewhere, and stores it. Does not wait for the server.
  /// - Parameters:
  ///   - homeserver: the URL of the homeserver; nil for `session.homeserver`.
  ///   - encrypts: see `init`.
  public static func restore(
    _ session: Session, homeserver: String? = nil, store: any Store = MemoryStore(),
    transport: any Transport = standardTransport(), syncMode: SyncMode = .automatic, encrypts: Bool = true
  ) async throws(ClientError) -> MatrixClient {
    let client = try await open(homeserver ?? session.homeserver?.string, store, transport, "Martlet", syncMode, encrypts)
    let stored = await client.session
    if stored?.userID != session.userID || stored?.isOlder(than: session) ?? false {
      try await client.performOrStop(.session(.restore(session)))
    }
    return client
  }

  /// The login with its tokens, so that the app can keep it elsewhere; nil if the client is signed out.
  public var session: Session? { core.session }

  /// Logs in with a password and waits for the first sync. For a client that was created without a session.
  public func logIn(user: String, password: String) async throws(ClientError) {
    try await findHomeserver()
    try await perform(.session(.logIn(.password(ByteString(password), user: .user(ByteString(user))))))
    try await firstSync()
  }

  /// Logs in again after a soft logout. The device and the stored data stay the same.
  public func logInAgain(_ login: Login) async throws(ClientError) {
    try await perform(.session(.logIn(login)))
    try await firstSync()
  }

  public func logInAgain(password: String) async throws(ClientError) {
    guard let user = core.session?.userID else { throw .notSignedIn }
    try await logInAgain(.password(ByteString(password), user: .user(user.text)))
  }

  /// Ends the session on the server and empties the store, even if the server refuses.
  public func logOut() async throws(ClientError) { try await perform(.session(.logOut)) }

  /// Ends the sessions of all devices of the account.
  public func logOutEverywhere() async throws(ClientError) { try await perform(.session(.logOutEverywhere)) }

  func performOrStop(_ command: Command) async throws(ClientError) {
    do throws(ClientError) {
      try await perform(command)
    } catch {
      await stop()
      throw error
    }
  }
}

extension ClientCore.Session {
  /// Returns whether the other one is a later login of the same device.
  fileprivate func isOlder(than other: Self) -> Bool { deviceID == other.deviceID && accessToken != other.accessToken }
}

extension Login {
  /// Returns whether the user name in the login, if there is one, belongs to the user of the session.
  fileprivate func isOf(_ session: Session) -> Bool {
    guard case .password(_, .user(let name)) = self else { return true }
    if let user = UserID(name) { return user == session.userID }
    return name.string.lowercased() == session.userID.localpart.string.lowercased()
  }
}
