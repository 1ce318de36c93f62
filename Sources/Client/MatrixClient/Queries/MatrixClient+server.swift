public import ClientCore
import JSON
public import MatrixModel

/// Queries about the server and the account.
extension MatrixClient {
  public func versions() async throws(ClientError) -> ServerVersions { try await perform(.versions()) }
  public func capabilities() async throws(ClientError) -> Capabilities { try await perform(.capabilities()) }
  public func loginFlows() async throws(ClientError) -> LoginFlows { try await perform(.loginFlows()) }
  /// Returns the user and the device to which this session's access token belongs.
  public func whoAmI() async throws(ClientError) -> TokenOwner { try await perform(.whoAmI()) }

  /// Changes the password of the account.
  /// - Parameter logsOutOthers: whether the sessions of the account's other devices end.
  public func changePassword(
    _ password: String, logsOutOthers: Bool = true, by authenticator: Authenticator? = nil
  ) async throws(ClientError) {
    try await perform(.changePassword(ByteString(password), logsOutOthers: logsOutOthers), by: authenticator)
  }

  /// Deactivates the account permanently, and ends this session.
  /// - Parameter erases: whether the server hides the account's messages from users who have not received them yet.
  public func deactivateAccount(erases: Bool = false, by authenticator: Authenticator? = nil) async throws(ClientError) {
    _ = try ownUserID()
    try await perform(.deactivateAccount(erases: erases), by: authenticator)
  }

  public func thirdPartyIDs() async throws(ClientError) -> [ThirdPartyID] { try await perform(.thirdPartyIDs()) }

  /// Returns a token that proves the user's identity to a third party.
  public func openIDToken() async throws(ClientError) -> OpenIDToken {
    try await perform(.openIDToken(of: try ownUserID()))
  }

  /// Returns a token that signs in another device of the account.
  public func loginToken(by authenticator: Authenticator? = nil) async throws(ClientError) -> LoginToken {
    try await perform(.loginToken(), by: authenticator)
  }

  func ownUserID() throws(ClientError) -> UserID {
    guard let user = core.session?.userID else { throw .notSignedIn }
    return user
  }
}

/// Queries about the devices of the account.
extension MatrixClient {
  public func devices() async throws(ClientError) -> [Device] { try await perform(.devices()) }
  public func device(_ id: DeviceID) async throws(ClientError) -> Device { try await perform(.device(id)) }

  public func renameDevice(_ id: DeviceID, _ name: String) async throws(ClientError) {
    try await perform(.renameDevice(id, ByteString(name)))
  }

  /// Deletes a device and ends its session.
  public func deleteDevice(_ id: DeviceID, by authenticator: Authenticator? = nil) async throws(ClientError) {
    try await perform(.deleteDevice(id), by: authenticator)
  }

  public func deleteDevices(_ ids: [DeviceID], by authenticator: Authenticator? = nil) async throws(ClientError) {
    try await perform(.deleteDevices(ids), by: authenticator)
  }

  /// Tells the account's other sessions which program this device runs. Writes the account data only if it changes.
  /// - Parameter information: the program; nil removes the information.
  public func setClientInformation(_ information: ClientInformation?) async throws(ClientError) {
    guard let session = core.session else { throw .notSignedIn }
    let type = ClientInformation.type(of: session.deviceID)
    let present: JSON?
    do throws(ClientError) { present = try await perform(.accountData(type, of: session.userID)) } catch {
      guard case .refused(404, _, _, _) = error else { throw error }
      present = nil
    }
    guard information != present.flatMap({ ClientInformation($0) }) else { return }
    try await perform(.setAccountData(type, information?.content ?? Array("{}".utf8), of: session.userID))
  }
}
