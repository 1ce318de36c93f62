import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// The account as one object that administrators get and put.
struct AccountEditor: Sendable {
  private let homeserver: Homeserver
  private var accounts: Accounts { homeserver.accounts }

  /// The types an administrator may give an account.
  private static let userTypes: [StaticString] = ["bot", "support"]

  init(_ homeserver: Homeserver) { self.homeserver = homeserver }

  /// Throws `M_NOT_FOUND`.
  func answer(_ userID: UserID, status: Status = .ok) async throws -> Response {
    let overview = try await accounts.overview(userID)
    let identifiers = try await homeserver.thirdPartyIdentifiers.all(of: userID)
    let external = try await accounts.externalIDs(of: userID)
    return .json(status: status, capacity: 1_024) { writer in
      writer.object { writer in
        overview.writeMembers(to: &writer)
        writer.member("appservice_id", orNull: overview.account.appService)
        writer.member("expiration_ts", orNull: overview.account.standing.validUntil)
        writer.list("threepids", identifiers) { identifier, writer in
          writer.member("medium", identifier.medium)
          writer.member("address", identifier.address)
          writer.member("added_at", identifier.added)
          writer.member("validated_at", identifier.validated)
        }
        writer.list("external_ids", external) { identifier, writer in
          writer.member("auth_provider", identifier.provider)
          writer.member("external_id", identifier.subject)
        }
        for key: StaticString in ["consent_server_notice_sent", "consent_version", "consent_ts"] {
          writer.member(key, orNull: nil as Int64?)
        }
      }
    }
  }

  /// Makes or changes an account; the answer is whether it is new.
  func put(_ userID: UserID, _ body: JSON, by administrator: Administrator) async throws -> Bool {
    let change = try Change(body)
    let isNew = try await accounts.account(userID) == nil
    try await homeserver.audit.record(
      isNew ? "user.create" : "user.change", of: userID.string, by: administrator, details: change.describe
    ) {
      if isNew { try await create(userID, change) } else { try await apply(change, to: userID, by: administrator) }
    }
    return isNew
  }

  /// What a body asks for, checked before anything is done.
  private struct Change: Sendable {
    let password: Redacted<String>?
    let logsOut: Bool
    let displayName: ByteString?
    let avatarURL: ByteString?
    let isAdmin: Bool?
    let isLocked: Bool?
    let isDeactivated: Bool?
    /// The outer nil leaves it as it is.
    let userType: ByteString??

    init(_ body: JSON) throws(MatrixError) {
      password = try body.optionalText("password").map { Redacted($0.string) }
      logsOut = try body.optionalBool("logout_devices") ?? true
      displayName = try body.optionalText("displayname")
      avatarURL = try body.optionalText("avatar_url")
      isAdmin = try body.optionalBool("admin")
      isLocked = try body.optionalBool("locked")
      isDeactivated = try body.optionalBool("deactivated")
      for key: StaticString in ["threepids", "external_ids"] where body.given(key) != nil {
        throw .invalidParameter("'\(key)' cannot be set here; users add e-mail addresses and providers themselves.")
      }
      guard let type = body["user_type"] else {
        userType = nil
        return
      }
      if type.isNull {
        userType = .some(nil)
      } else if let known = type.text, AccountEditor.userTypes.contains(where: { known == $0 }) {
        userType = .some(known)
      } else {
        throw .invalidParameter("'user_type' is null, 'bot' or 'support'.")
      }
    }

    func describe(_ writer: inout JSONWriter) {
      if password != nil { writer.member("password", "changed") }
      if let displayName { writer.member("displayname", displayName) }
      if let avatarURL { writer.member("avatar_url", avatarURL) }
      if let isAdmin { writer.member("admin", isAdmin) }
      if let isLocked { writer.member("locked", isLocked) }
      if let isDeactivated { writer.member("deactivated", isDeactivated) }
      if let userType { writer.member("user_type", orNull: userType) }
    }
  }

  private func create(_ userID: UserID, _ change: Change) async throws {
    var account = NewAccount(userID.localpart)
    account.standing.isAdmin = change.isAdmin ?? false
    account.standing.isLocked = change.isLocked ?? false
    account.userType = change.userType ?? nil
    if let name = change.displayName, !name.isEmpty { account.displayName = name }
    if let name = account.displayName { try Profiles.check("displayname", JSON.parse(JSON.text(name))) }
    if let avatar = change.avatarURL, !avatar.isEmpty {
      try Profiles.check("avatar_url", JSON.parse(JSON.text(avatar)))
      account.avatarURL = avatar
    }
    _ = try await accounts.create(account, password: change.password)
    if change.isDeactivated == true { try await accounts.deactivate(userID, erase: false) }
  }

  private func apply(_ change: Change, to userID: UserID, by administrator: Administrator) async throws {
    if change.isAdmin == false, administrator == .user(userID) {
      throw MatrixError(status: 400, .unknown, "You cannot take your own administration away.")
    }
    if let password = change.password { try Accounts.checkStrength(of: password) }
    let account = try await accounts.existing(userID)
    guard account.userType != ServerNotices.userType else {
      throw MatrixError.forbidden("This is the user in whose name the server speaks; nobody else may.")
    }
    let isDeactivated = account.isDeactivated
    if isDeactivated, change.isDeactivated == false { try await accounts.reactivate(userID) }
    if let password = change.password {
      try await accounts.resetPassword(userID, to: password, loggingOut: change.logsOut)
    }
    if let name = change.displayName { try await set("displayname", name, of: userID) }
    if let avatar = change.avatarURL { try await set("avatar_url", avatar, of: userID) }
    if let isAdmin = change.isAdmin { try await accounts.setAdmin(userID, isAdmin) }
    if let isLocked = change.isLocked { try await accounts.setLocked(userID, isLocked) }
    if let userType = change.userType { try await accounts.setUserType(userID, userType) }
    if change.isDeactivated == true, !isDeactivated { try await accounts.deactivate(userID, erase: false) }
  }

  /// An empty text deletes the field.
  private func set(_ field: ByteString, _ value: ByteString, of userID: UserID) async throws {
    try await homeserver.profiles.set(field, to: value.isEmpty ? nil : try JSON.parse(JSON.text(value)), of: userID)
  }
}
