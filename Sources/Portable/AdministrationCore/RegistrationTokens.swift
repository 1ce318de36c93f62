import JSON
import MatrixModel
import ServerQueries

/// A word that lets strangers create an account.
package struct RegistrationToken: Listed, Hashable {
  package let token: ByteString
  /// How often it may be used; nil for any number.
  package let usesAllowed: Int64?
  package let used: Int64
  /// Accounts that are being made with it now.
  package let pending: Int64
  /// Milliseconds since 1970; nil if it does not expire.
  package let expires: Int64?

  package var key: ByteString { token }

  init?(_ json: JSON) {
    guard let token = json.text("token") else { return nil }
    self.token = token
    usesAllowed = json.integer("uses_allowed")
    used = json.integer("completed") ?? 0
    pending = json.integer("pending") ?? 0
    expires = json.integer("expiry_time")
  }

  package func isValid(at time: Int64) -> Bool {
    if let expires, expires <= time { return false }
    guard let usesAllowed else { return true }
    return used < usesAllowed
  }
}

extension Endpoint {
  fileprivate static let tokens = Endpoint(
    .get, "/_synapse/admin/v1/registration_tokens", .administrator, rateLimited: true)
  fileprivate static let createToken = Endpoint(
    .post, "/_synapse/admin/v1/registration_tokens/new", .administrator, rateLimited: true)
  fileprivate static let revokeToken = Endpoint(
    .delete, "/_synapse/admin/v1/registration_tokens/{token}", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Over HTTP".
extension Query {
  package static func registrationTokens() -> Query<PagedList<RegistrationToken>.Page> {
    Query<PagedList<RegistrationToken>.Page>(.tokens, Endpoint.tokens.path()) { json in
      json["registration_tokens"].map { list in
        PagedList<RegistrationToken>.Page(list.elements.compactMap { RegistrationToken($0) }, total: Int64(list.count))
      }
    }
  }

  /// - Parameters:
  ///   - token: empty for one that the server chooses.
  ///   - uses: nil for any number.
  ///   - expires: milliseconds since 1970; nil for never.
  package static func createRegistrationToken(
    _ token: ByteString, uses: Int64?, expires: Int64?
  ) -> Query<RegistrationToken> {
    let body = JSONWriter.object { writer in
      if !token.isEmpty { writer.member("token", token) }
      if let uses { writer.member("uses_allowed", uses) }
      if let expires { writer.member("expiry_time", expires) }
    }
    return Query<RegistrationToken>(.createToken, Endpoint.createToken.path(), body: body) { RegistrationToken($0) }
  }

  package static func revokeRegistrationToken(_ token: ByteString) -> Query<Void> {
    Query<Void>(.revokeToken, Endpoint.revokeToken.path(token))
  }
}
