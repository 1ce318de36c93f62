import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerDirectory

/// Profiles and the user directory.
extension Routes {
  mutating func addProfileRoutes() {
    addProfileReadingRoutes()
    addProfileChangingRoutes()
    addUserDirectoryRoute()
  }

  private mutating func addProfileReadingRoutes() {
    let profiles = homeserver.profiles

    on(.getUserProfile) { request in
      let profile = try await profiles.profile(of: request.path("userId"))
      return .json { writer in
        writer.object { writer in
          for field in profile.fields {
            writer.key(field.name)
            writer.raw(field.value)
          }
        }
      }
    }

    on(.getProfileField) { request in
      let name = request.path("keyName")
      let profile = try await profiles.profile(of: request.path("userId"))
      guard let value = profile[name] else {
        throw MatrixError.notFound("The user has no such field in their profile.")
      }
      return .json { writer in
        writer.object { writer in
          writer.key(name)
          writer.raw(value)
        }
      }
    }
  }

  private mutating func addProfileChangingRoutes() {
    let profiles = homeserver.profiles

    on(.setProfileField) { request, session in
      let name = request.path("keyName")
      try Self.requireOwn(request, session)
      try profiles.requireChangeable(name, by: session)
      let body = try await request.object()
      guard let value = body[name] else { throw MatrixError.missingParameter(name.string) }
      // Clients of old unset a name by null or the empty string; a name that is not there says the same.
      let isUnset = value.isNull && (name == "displayname" || name == "avatar_url")
      try await profiles.set(name, to: isUnset ? nil : value, of: session.userID)
      return .emptyObject
    }

    on(.deleteProfileField) { request, session in
      try Self.requireOwn(request, session)
      try profiles.requireChangeable(request.path("keyName"), by: session)
      try await profiles.set(request.path("keyName"), to: nil, of: session.userID)
      return .emptyObject
    }
  }

  private mutating func addUserDirectoryRoute() {
    let directory = homeserver.userDirectory

    on(.searchUserDirectory) { request, session in
      let body = try await request.object()
      let term = try body.requiredText("search_term")
      let limit = try body.optionalInteger("limit") ?? Int64(UserDirectory.resultsDefault)
      let (results, isLimited) = try await directory.search(term, by: session.userID, limit: Int(clamping: limit))
      return .json(capacity: 4096) { writer in
        writer.object { writer in
          writer.member("limited", isLimited)
          writer.array("results", results) { Self.write($0, to: &$1) }
        }
      }
    }
  }

  /// Throws `M_FORBIDDEN` unless the path's `userId` is the session's user.
  static func requireOwn(_ request: APIRequest, _ session: Session) throws {
    guard try request.path("userId", as: UserID.self) == session.userID else {
      throw MatrixError.forbidden("This is another user's.")
    }
  }

  private static func write(_ entry: UserDirectory.Entry, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("user_id", entry.userID)
      if let name = entry.profile.displayName { writer.member("display_name", name) }
      if let avatar = entry.profile.avatarURL { writer.member("avatar_url", avatar) }
    }
  }
}
