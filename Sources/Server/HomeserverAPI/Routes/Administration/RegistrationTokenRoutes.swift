import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// The tokens that let strangers register.
extension Routes {
  mutating func addRegistrationTokenRoutes() {
    let tokens = homeserver.accounts.registrationTokens
    addRegistrationTokenCreation()
    addRegistrationTokenChanges()

    onAdmin(.get, Self.registrationTokens) { request, _ in
      let found = try await tokens.list(isValid: try request.query().bool("valid"))
      return .json(capacity: found.count * 128 + 64) { writer in
        writer.object { writer in writer.list("registration_tokens", found) { Self.write($0, to: &$1) } }
      }
    }

    onAdmin(.get, Self.registrationTokens + "/{token}") { request, _ in
      Self.answer(try await tokens.token(request.path("token")))
    }
  }

  private mutating func addRegistrationTokenCreation() {
    let (tokens, audit) = (homeserver.accounts.registrationTokens, homeserver.audit)

    onAdmin(.post, Self.registrationTokens + "/new") { request, administrator in
      let body = try await request.object()
      let token = try body.optionalText("token")
      if let length = try body.optionalInteger("length"), !(1...64).contains(length) {
        throw MatrixError.invalidParameter("'length' is from 1 to 64.")
      }
      let length = try body.optionalInteger("length").map { Int($0) }
      let made = try await audit.record("token.create", of: "", by: administrator) {
        try await tokens.create(
          token
            ?? length.map {
              ByteString(RandomText.name(length: $0, of: "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"))
            },
          usesAllowed: try body.optionalInteger("uses_allowed"), expires: try body.optionalInteger("expiry_time"))
      }
      return Self.answer(made)
    }
  }

  private mutating func addRegistrationTokenChanges() {
    let (tokens, audit) = (homeserver.accounts.registrationTokens, homeserver.audit)
    let path = Self.registrationTokens + "/{token}"

    onAdmin(.put, path) { request, administrator in
      let token = request.path("token")
      let body = try await request.object()
      // A limit that is null is taken away, one that is not there stays.
      let uses: Int64?? = body["uses_allowed"] == nil ? nil : .some(try body.optionalInteger("uses_allowed"))
      let expires: Int64?? = body["expiry_time"] == nil ? nil : .some(try body.optionalInteger("expiry_time"))
      let changed = try await audit.record("token.change", of: "", by: administrator) {
        try await tokens.update(token, usesAllowed: uses, expires: expires)
      }
      return Self.answer(changed)
    }

    onAdmin(.delete, path) { request, administrator in
      let token = request.path("token")
      try await audit.record("token.delete", of: "", by: administrator) { try await tokens.delete(token) }
      return .emptyObject
    }
  }

  private static let registrationTokens = administration + "/v1/registration_tokens"

  private static func answer(_ token: RegistrationTokens.RegistrationToken) -> Response {
    .json { $0.object { write(token, to: &$0) } }
  }

  private static func write(_ token: RegistrationTokens.RegistrationToken, to writer: inout JSONWriter) {
    writer.member("token", token.token)
    writer.member("uses_allowed", orNull: token.usesAllowed)
    writer.member("pending", token.pending)
    writer.member("completed", token.completed)
    writer.member("expiry_time", orNull: token.expires)
  }
}
