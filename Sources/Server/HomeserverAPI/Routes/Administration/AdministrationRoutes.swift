import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What administrators may do, at the paths and in the shapes that tools for Matrix homeservers use (`/_synapse/admin/…`), and
/// what is ours (`/_matrix/client/unstable/martlet.administration/…`). Whatever is not here answers `M_UNRECOGNIZED`.
extension Routes {
  mutating func addAdministrationRoutes(_ configuration: APIConfiguration) {
    addUserAdministrationRoutes()
    addUserAccessRoutes()
    addUserDeviceAdministrationRoutes()
    addMediaAdministrationRoutes()
    addBucketRoutes()
    addRoomAdministrationRoutes()
    addRoomDeletionRoutes()
    addReportAdministrationRoutes()
    addRegistrationTokenRoutes()
    addInviteLinkAdministrationRoutes()
    addServerAdministrationRoutes()
    addHealthRoute(configuration)
    addNoticeRoutes()
  }

  static let administration = "/_synapse/admin"
  static let ownAdministration = "/_matrix/client/unstable/martlet.administration"
}

extension APIRequest {
  /// A user of this server. Throws `M_INVALID_PARAM`.
  func localUser(_ name: StaticString, of server: ServerName) throws -> UserID {
    let userID: UserID = try path(name)
    try userID.requireLocal(to: server)
    return userID
  }
}

extension UserID {
  /// Throws `M_INVALID_PARAM` for users of other servers.
  func requireLocal(to server: ServerName) throws(MatrixError) {
    guard serverName == server else { throw .invalidParameter("This user is not of this server.") }
  }
}

extension QueryParameters {
  /// Where a page begins. Throws `M_INVALID_PARAM` for what is no number, or a negative one.
  func offset() throws -> Int64 { try integer("from") ?? 0 }

  /// How long a page is at most; lists have limits of their own as well.
  func limit(default standard: Int = 100) throws -> Int {
    try pageLimit() ?? standard
  }

  /// `f` or `b`. Throws `M_INVALID_PARAM`.
  func isBackwards(default standard: Bool = false) throws -> Bool {
    guard let text = text("dir") else { return standard }
    guard text == "f" || text == "b" else { throw MatrixError.invalidParameter("'dir' is 'f' or 'b'.") }
    return text == "b"
  }
}

extension JSONWriter {
  mutating func member(_ key: StaticString, orNull value: ByteString?) {
    if let value { return member(key, value) }
    self.key(key)
    null()
  }

  mutating func member(_ key: StaticString, orNull value: Int64?) {
    if let value { return member(key, value) }
    self.key(key)
    null()
  }

  /// Where the next page begins, unless this one, of `count` from `offset` on, is the last.
  mutating func next(_ key: StaticString, after count: Int, from offset: Int64, of total: some BinaryInteger) {
    if let next = Self.nextOffset(after: count, from: offset, of: total) { member(key, next) }
  }

  static func nextOffset(after count: Int, from offset: Int64, of total: some BinaryInteger) -> Int64? {
    let next = offset.addingReportingOverflow(Int64(count)).partialValue
    return count > 0 && next < total ? next : nil
  }
}
