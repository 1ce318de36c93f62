import Database
import JSON
import MatrixModel

/// What a user shows of themselves.
package struct Profile: Sendable {
  /// Field by field, each one JSON value.
  package var fields: [(name: ByteString, value: [UInt8])]

  /// nil where it is absent or no string.
  package var displayName: ByteString? { text("displayname") }
  /// nil where it is absent or no string.
  package var avatarURL: ByteString? { text("avatar_url") }

  package subscript(_ name: ByteString) -> [UInt8]? { fields.first { $0.name == name }?.value }

  /// Bytes of the whole as JSON: each field with its quotes, colon and comma.
  var bytesCount: Int { fields.reduce(2) { $0 + $1.name.count + 4 + $1.value.count } }

  private func text(_ name: ByteString) -> ByteString? {
    guard let value = self[name] else { return nil }
    return (try? JSON.parse(value))?.text
  }
}

/// Profiles of this server's users. Spec: Client-Server API, "Profiles".
package final class Profiles: Sendable {
  /// Bytes of a profile in all, given by the spec.
  package static let bytesLimit = 64 << 10
  /// Bytes of a field's name, given by the spec.
  package static let nameBytesLimit = 255
  /// Bytes of a display name; it is copied into every room.
  package static let displayNameBytesLimit = 256
  /// Bytes of an avatar's URL.
  package static let avatarURLBytesLimit = 1_000

  private let database: Database
  private let accounts: Accounts

  /// Which fields users may change themselves. Spec: Client-Server API, "`m.profile_fields` capability".
  package struct Policy: Sendable {
    /// Only these; nil for all but the disallowed.
    package var allowed: [ByteString]?
    package var disallowed: [ByteString] = []

    package init() {}

    package func allows(_ name: ByteString) -> Bool { allowed?.contains(name) ?? !disallowed.contains(name) }
  }

  package init(database: Database, accounts: Accounts) {
    self.database = database
    self.accounts = accounts
  }

  /// Throws `M_NOT_FOUND` for users this server does not know.
  package func profile(of userID: UserID) async throws -> Profile {
    let profile = try await database.read { tx -> Profile? in
      let profile = try Self.profile(tx, of: userID)
      return try profile.fields.isEmpty && Accounts.account(tx, userID) == nil ? nil : profile
    }
    guard let profile else { throw MatrixError.notFound("There is no such user.") }
    return profile
  }

  /// For commands that copy the profile into an event.
  package static func profile(_ tx: ReadTransaction, of userID: UserID) throws -> Profile {
    Profile(
      fields: try tx.all("SELECT name, value FROM profile_field WHERE user_id = $1 ORDER BY name", userID) { row in
        (ByteString(row.text(0)), row.blob(1))
      })
  }

  /// Throws `M_FORBIDDEN` for a field that the session's user may not change, `M_GUEST_ACCESS_FORBIDDEN` for any but the
  /// display name of a guest.
  package func requireChangeable(_ name: ByteString, by session: Session) throws(MatrixError) {
    if session.isGuest, name != "displayname" {
      throw .guestAccessForbidden("Guests may change their display name only; register an account first.")
    }
    guard accounts.configuration.profileFields.allows(name) else {
      throw .forbidden("On this server, the field '\(name)' is not for users to change.")
    }
  }

  /// Sets a field, or deletes it where `value` is nil, then has the rooms follow.
  ///
  /// Throws `M_INVALID_PARAM`, `M_KEY_TOO_LARGE`, `M_PROFILE_TOO_LARGE`.
  package func set(_ name: ByteString, to value: JSON?, of userID: UserID) async throws {
    try Self.check(name, value)
    let bytes = value.map { [UInt8]($0.bytes) }
    try await database.write { tx in
      if let bytes {
        try Self.store(tx, name, bytes, of: userID)
      } else {
        try tx.execute("DELETE FROM profile_field WHERE user_id = $1 AND name = $2", userID, name)
      }
      let profile = try Self.profile(tx, of: userID)
      guard profile.bytesCount < Self.bytesLimit else {
        throw MatrixError(status: 400, "M_PROFILE_TOO_LARGE", "A profile has less than \(Self.bytesLimit) bytes.")
      }
      try tx.execute(
        "UPDATE account SET search_text = $1 WHERE user_id = $2 AND deactivated = 0",
        Self.searchText(userID, displayName: profile.displayName), userID)
    }
    guard name == "displayname" || name == "avatar_url" else { return }
    for observer in accounts.observers { try await observer.profileChanged(of: userID) }
  }

  static func store(_ tx: WriteTransaction, _ name: ByteString, _ value: [UInt8], of userID: UserID) throws {
    try tx.execute(
      """
      INSERT INTO profile_field(user_id, name, value) VALUES($1, $2, $3)
      ON CONFLICT(user_id, name) DO UPDATE SET value = excluded.value
      """, userID, name, value)
  }

  /// Throws `M_INVALID_PARAM`, `M_KEY_TOO_LARGE` for what no profile can have.
  package static func check(_ name: ByteString, _ value: JSON?) throws(MatrixError) {
    guard name.count <= nameBytesLimit else {
      throw MatrixError(status: 400, "M_KEY_TOO_LARGE", "The name of a field has at most \(nameBytesLimit) bytes.")
    }
    guard CommonName.accepts(name) else { throw .invalidParameter("This is not a name a profile field can have.") }
    guard let value else { return }
    switch name.string {
    case "displayname":
      guard let text = value.text, text.count <= displayNameBytesLimit else {
        throw .invalidParameter("A display name is a string of at most \(displayNameBytesLimit) bytes.")
      }
    case "avatar_url":
      guard let text = value.text, text.count <= avatarURLBytesLimit, text.isEmpty || MediaURI(text) != nil else {
        throw .invalidParameter("An avatar is an mxc:// URI.")
      }
    case "m.tz":
      guard let text = value.text, !text.isEmpty else {
        throw .invalidParameter("A time zone is a name of the IANA's.")
      }
    default: break
    }
  }

  /// What the user directory looks through.
  static func searchText(_ userID: UserID, displayName: ByteString?) -> String {
    (userID.string + "\n" + (displayName?.string ?? "")).lowercased()
  }
}

/// Spec: Appendices, "Common Namespaced Identifier Grammar", without its requirement of a namespace: a field named by a
/// later version of the specification has none.
enum CommonName {
  static func accepts(_ name: ByteString) -> Bool {
    guard let first = name.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
    return name.count <= 255
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
