public import ClientCore
public import JSON
public import MatrixModel

/// Queries for rooms and users.
extension MatrixClient {
  /// Returns a page of the public rooms, see `Query.publicRooms`.
  public func publicRooms(
    matching term: String? = nil, types: [ByteString?] = [], on server: ServerName? = nil, limit: Int? = nil,
    since: ByteString? = nil
  ) async throws(ClientError) -> RoomPage {
    try await perform(
      .publicRooms(
        matching: term.map { ByteString($0) }, types: types, on: server, limit: limit, since: since))
  }

  /// Returns a summary of a room. The user need not be a member.
  /// - Parameter room: the room ID or alias.
  public func roomSummary(_ room: String, via servers: [ServerName] = []) async throws(ClientError) -> RoomSummary {
    try await perform(.roomSummary(ByteString(room), via: servers))
  }

  public func resolve(_ alias: RoomAlias) async throws(ClientError) -> ResolvedAlias {
    try await perform(.resolve(alias))
  }

  public func deleteAlias(_ alias: RoomAlias) async throws(ClientError) { try await perform(.deleteAlias(alias)) }

  // MARK: People

  public func profile(of user: UserID) async throws(ClientError) -> Profile { try await perform(.profile(of: user)) }

  /// Sets a field of the user's profile.
  /// - Parameter value: JSON; nil removes the field.
  public func setProfileField(_ name: String, _ value: [UInt8]?) async throws(ClientError) {
    let user = try ownUserID()
    let name = ByteString(name)
    try await perform(value.map { .setProfileField(name, $0, of: user) } ?? .deleteProfileField(name, of: user))
  }

  public func setDisplayName(_ name: String) async throws(ClientError) {
    try await perform(.account(.setDisplayName(ByteString(name))))
  }

  /// Uploads a picture and sets it as the user's avatar.
  /// - Parameter path: the path of the picture.
  public func setAvatar(path: String, mimeType: String) async throws(ClientError) {
    try await perform(.account(.setAvatar(BlobHandle(ByteString(path)), mimeType: ByteString(mimeType))))
  }

  public func searchUsers(_ term: String, limit: Int? = nil) async throws(ClientError) -> UserSearch {
    try await perform(.searchUsers(ByteString(term), limit: limit))
  }

  public func mutualRooms(with user: UserID, from: ByteString? = nil) async throws(ClientError) -> MutualRooms {
    try await perform(.mutualRooms(with: user, from: from))
  }

  public func report(_ user: UserID, reason: String) async throws(ClientError) {
    try await perform(.report(user, reason: ByteString(reason)))
  }

  // MARK: Other networks

  public func thirdPartyProtocols() async throws(ClientError) -> [ThirdPartyProtocol] {
    try await perform(.thirdPartyProtocols())
  }

  public func thirdPartyUsers(
    _ protocolID: ByteString, fields: [(name: ByteString, value: ByteString)] = []
  ) async throws(ClientError) -> [ThirdPartyUser] {
    try await perform(.thirdPartyUsers(protocolID, fields: fields))
  }

  public func thirdPartyLocations(
    _ protocolID: ByteString, fields: [(name: ByteString, value: ByteString)] = []
  ) async throws(ClientError) -> [ThirdPartyLocation] {
    try await perform(.thirdPartyLocations(protocolID, fields: fields))
  }
}
