import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell
import Telemetry

/// Logging in and out.
extension TerminalCommand {
  static let logIn = TerminalCommand(
    "login", ["USER"], options: [Option(name: "--homeserver", value: "URL"), Option(name: "--password-stdin")],
    choosesAccount: false,
    "Logs in as @name:server and asks for the password; finds the homeserver by the server's name unless --homeserver is given."
  ) { call in
    let name = call.arguments.operands[0]
    let homeserver = call.arguments.text("--homeserver")
    let user = UserID(name)
    guard user != nil || homeserver != nil else {
      throw TerminalError.usage("name the user whole (@\(name):server), or the server with --homeserver https://…")
    }
    let root = try AccountFolder.root(processEnvironment())
    let known = user.map { AccountFolder($0, in: root) }
    let address = try await Homeserver(homeserver ?? name).discover().url
    let password = try password(isGiven: call.arguments.has("--password-stdin"))
    // The keys of the device are made in its store, below.
    let client = try await MatrixClient(
      homeserver: address.string, deviceDisplayName: "Martlet in a terminal", encrypts: false)
    // As the device that it was, so that none is left behind.
    let login = Login.password(ByteString(decoding: password.reveal()), user: .user(ByteString(name)))
    try await client.perform(.session(.logIn(login, deviceID: known?.session?.session.deviceID)))
    guard let session = await client.session else { throw ClientError.badAnswer }
    await client.stop()
    let folder = AccountFolder(session.userID, in: root)
    try keep(session, in: folder)
    let isVerified = try await introduce(folder, password)
    let hint = isVerified ? "" : "\nThis device is not verified; martlet recovery use verifies it"
    call.show("\(session.userID) is logged in at \(address)\(hint)") { writer in
      writer.member("user_id", session.userID)
      writer.member("device_id", session.deviceID)
      writer.member("homeserver", address.text)
      writer.member("verified", isVerified)
    }
  }

  private static func keep(_ session: Session, in folder: AccountFolder) throws {
    guard let lock = try folder.lock() else {
      throw TerminalError.failed("another martlet uses this account; end it, then log in again")
    }
    // The keys of the device are in its store.
    if folder.session?.session.deviceID != session.deviceID { folder.forgetStore() }
    try folder.save(session)
    withExtendedLifetime(lock) {}
  }

  /// From then on others can write to this device, and an account without an identity has one. If the server is not there any more, the next
  /// command does the first.
  ///
  /// - Returns: whether the device is verified.
  private static func introduce(_ folder: AccountFolder, _ password: Redacted<[UInt8]>) async throws -> Bool {
    let account = try await Account.open(folder)
    if (try? await account.client.waitForSync()) != nil {
      let user = folder.userID.string, words = String(decoding: password.reveal(), as: UTF8.self)
      let setUp = Task { try? await account.client.encryption.setUpIdentity(by: .password(words, user: user)) }
      // A server may not have encryption.
      let timeout = Task {
        if (try? await Task.sleep(for: .seconds(10))) != nil { setUp.cancel() }
      }
      await setUp.value
      timeout.cancel()
    }
    let isVerified = await account.client.encryption.status.isVerified
    await account.close()
    return isVerified
  }

  private static func password(isGiven: Bool) throws -> Redacted<[UInt8]> {
    if isGiven { return try PasswordPrompt.line() }
    guard isatty(STDIN_FILENO) == 1 else {
      throw TerminalError.usage(
        "there is no terminal to ask for the password on; --password-stdin reads it from standard input")
    }
    return try PasswordPrompt.readKnown()
  }

  static let logOut = TerminalCommand("logout", [], "Ends the session on the server and forgets what is stored here.") { call in
    let folder = try call.folder()
    let account = try await Account.open(folder)
    guard account.hasStore else {
      await account.close()
      throw TerminalError.failed("another martlet uses this account; end it first")
    }
    try? await account.client.logOut()
    await account.client.stop()
    folder.remove()
    call.show("\(folder.userID) is logged out") { $0.member("user_id", folder.userID) }
  }
}
