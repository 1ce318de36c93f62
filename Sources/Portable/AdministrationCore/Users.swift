import JSON
import MatrixModel
import ServerQueries

/// An account as administrators see it.
package struct AdministeredUser: Listed, Hashable {
  package let id: UserID
  package let name: ByteString?
  package let avatar: MediaURI?
  package let isAdministrator: Bool
  package let isGuest: Bool
  package let isDeactivated: Bool
  package let isLocked: Bool
  package let isSuspended: Bool
  package let isShadowBanned: Bool
  /// `bot`, `support` or the server's own; nil for a person.
  package let type: ByteString?
  /// Milliseconds since 1970.
  package let created: Int64?
  package let lastSeen: Int64?
  /// Only of one that was asked for by itself.
  package let emails: [ByteString]

  package var key: ByteString { id.text }
  /// The display name, or the ID without one.
  package var title: ByteString { name.flatMap { $0.isEmpty ? nil : $0 } ?? id.text }

  init?(_ json: JSON) {
    guard let id = UserID(json["name"]) else { return nil }
    self.id = id
    name = json.text("displayname")
    avatar = MediaURI(json["avatar_url"])
    isAdministrator = json.bool("admin") ?? false
    isGuest = json.bool("is_guest") ?? false
    isDeactivated = json.bool("deactivated") ?? false
    isLocked = json.bool("locked") ?? false
    isSuspended = json.bool("suspended") ?? false
    isShadowBanned = json.bool("shadow_banned") ?? false
    type = json.text("user_type")
    created = json.integer("creation_ts")
    lastSeen = json.integer("last_seen_ts")
    emails =
      json["threepids"]?.elements.compactMap { $0["medium"]?.isString("email") ?? false ? $0.text("address") : nil } ?? []
  }
}

/// Which accounts a list shows.
package enum UserFilter: Sendable, CaseIterable {
  case everybody, administrators, locked, deactivated

  package var name: StaticString {
    switch self {
    case .everybody: "everybody"
    case .administrators: "administrators"
    case .locked: "locked"
    case .deactivated: "deactivated"
    }
  }
}

/// A login of somebody.
package struct AdministeredDevice: Listed, Hashable {
  package let id: DeviceID
  package let name: ByteString?
  package let address: ByteString?
  package let lastSeen: Int64?

  package var key: ByteString { id.text }

  init?(_ json: JSON) {
    guard let id = DeviceID(json["device_id"]) else { return nil }
    self.id = id
    name = json.text("display_name")
    address = json.text("last_seen_ip")
    lastSeen = json.integer("last_seen_ts")
  }
}

extension Endpoint {
  fileprivate static let users = Endpoint(.get, "/_synapse/admin/v3/users", .administrator, rateLimited: true)
  fileprivate static let user = Endpoint(.get, "/_synapse/admin/v2/users/{userId}", .administrator, rateLimited: true)
  fileprivate static let putUser = Endpoint(.put, "/_synapse/admin/v2/users/{userId}", .administrator, rateLimited: true)
  fileprivate static let suspend = Endpoint(.put, "/_synapse/admin/v1/suspend/{userId}", .administrator, rateLimited: true)
  fileprivate static let resetPassword = Endpoint(
    .post, "/_synapse/admin/v1/reset_password/{userId}", .administrator, rateLimited: true)
  fileprivate static let deactivate = Endpoint(
    .post, "/_synapse/admin/v1/deactivate/{userId}", .administrator, rateLimited: true)
  fileprivate static let devices = Endpoint(
    .get, "/_synapse/admin/v2/users/{userId}/devices", .administrator, rateLimited: true)
  fileprivate static let endDevices = Endpoint(
    .post, "/_synapse/admin/v2/users/{userId}/delete_devices", .administrator, rateLimited: true)
  fileprivate static let joinedRooms = Endpoint(
    .get, "/_synapse/admin/v1/users/{userId}/joined_rooms", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Over HTTP".
extension Query {
  /// - Parameter search: in names and IDs.
  package static func administeredUsers(
    matching search: ByteString, _ filter: UserFilter, from: Int64?, limit: Int
  ) -> Query<PagedList<AdministeredUser>.Page> {
    var parameters = URLQuery().adding("name", search.isEmpty ? nil : search).adding("limit", limit).adding("from", from)
    switch filter {
    case .everybody: break
    case .administrators: parameters = parameters.adding("admins", true)
    case .locked: parameters = parameters.adding("locked", true)
    case .deactivated: parameters = parameters.adding("deactivated", true)
    }
    return Query<PagedList<AdministeredUser>.Page>(.users, Endpoint.users.path(), parameters: parameters) { json in
      json.page("users", from: from, total: "total") { AdministeredUser($0) }
    }
  }

  package static func administeredUser(_ user: UserID) -> Query<AdministeredUser> {
    Query<AdministeredUser>(.user, Endpoint.user.path(user.text)) { AdministeredUser($0) }
  }

  /// - Parameter password: empty for an account that nobody can sign in to yet.
  package static func createUser(
    _ user: UserID, password: ByteString, name: ByteString, isAdministrator: Bool
  ) -> Query<AdministeredUser> {
    let body = JSONWriter.object { writer in
      if !password.isEmpty { writer.member("password", password) }
      if !name.isEmpty { writer.member("displayname", name) }
      writer.member("admin", isAdministrator)
    }
    return Query<AdministeredUser>(.putUser, Endpoint.putUser.path(user.text), body: body) { AdministeredUser($0) }
  }

  package static func setLocked(_ user: UserID, _ isLocked: Bool) -> Query<Void> {
    Query<Void>(.putUser, Endpoint.putUser.path(user.text), body: JSONWriter.object { $0.member("locked", isLocked) })
  }

  package static func setAdministrator(_ user: UserID, _ isAdministrator: Bool) -> Query<Void> {
    Query<Void>(.putUser, Endpoint.putUser.path(user.text), body: JSONWriter.object { $0.member("admin", isAdministrator) })
  }

  package static func setSuspended(_ user: UserID, _ isSuspended: Bool) -> Query<Void> {
    Query<Void>(.suspend, Endpoint.suspend.path(user.text), body: JSONWriter.object { $0.member("suspend", isSuspended) })
  }

  /// - Parameter endsDevices: whether all devices of the user are signed out.
  package static func resetPassword(of user: UserID, to password: ByteString, endsDevices: Bool) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("new_password", password)
      writer.member("logout_devices", endsDevices)
    }
    return Query<Void>(.resetPassword, Endpoint.resetPassword.path(user.text), body: body)
  }

  /// - Parameter erases: whether new members of rooms see nothing of what the user wrote.
  package static func deactivate(_ user: UserID, erases: Bool) -> Query<Void> {
    Query<Void>(
      .deactivate, Endpoint.deactivate.path(user.text), body: JSONWriter.object { $0.member("erase", erases) })
  }

  package static func devices(of user: UserID) -> Query<[AdministeredDevice]> {
    Query<[AdministeredDevice]>(.devices, Endpoint.devices.path(user.text)) { json in
      json["devices"]?.elements.compactMap { AdministeredDevice($0) }
    }
  }

  package static func endDevices(_ devices: [DeviceID], of user: UserID) -> Query<Void> {
    let body = JSONWriter.object { $0.array("devices", devices) { $1.write($0) } }
    return Query<Void>(.endDevices, Endpoint.endDevices.path(user.text), body: body)
  }

  package static func joinedRooms(of user: UserID) -> Query<[RoomID]> {
    Query<[RoomID]>(.joinedRooms, Endpoint.joinedRooms.path(user.text)) { json in
      json["joined_rooms"]?.elements.compactMap { RoomID($0) }
    }
  }
}

extension JSON {
  /// A page of a list that is counted in rows.
  func page<Item>(
    _ list: StaticString, from: Int64?, total: StaticString, _ read: (JSON) -> Item?
  ) -> PagedList<Item>.Page? {
    guard let listed = self[list], listed.isArray else { return nil }
    let total = integer(total)
    let (end, overflows) = (from ?? 0).addingReportingOverflow(Int64(listed.count))
    let hasMore = !overflows && listed.count > 0 && end < total ?? 0
    return PagedList<Item>.Page(
      listed.elements.compactMap { read($0) }, total: total, next: hasMore ? end : nil, countsRows: true)
  }

  /// A page of a list that goes back in time.
  func page<Item>(_ list: StaticString, before: StaticString, _ read: (JSON) -> Item?) -> PagedList<Item>.Page? {
    guard let listed = self[list], listed.isArray else { return nil }
    return PagedList<Item>.Page(listed.elements.compactMap { read($0) }, next: integer(before))
  }
}
