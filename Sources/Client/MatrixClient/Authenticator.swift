public import ClientCore
import JSON

/// Goes through the stages that a server wants before it does what was asked.
///
///     try await client.deleteDevice(id, by: .password("correct horse battery", user: "@alice:example.org"))
///
/// Spec: Client-Server API, "User-interactive API in the REST API".
public struct Authenticator: Sendable {
  let stage: @Sendable (InteractiveAuthentication) async -> AuthenticationStage?

  /// Stages of one question that are gone through.
  static let stagesLimit = 16

  /// - Parameter stage: the next stage with what proves it; nil gives up, and the query ends with `authenticationNeeded`.
  public init(_ stage: @escaping @Sendable (InteractiveAuthentication) async -> AuthenticationStage?) {
    self.stage = stage
  }

  /// Where the password does not do, or is wrong, it gives up.
  public static func password(_ password: String, user: String) -> Authenticator {
    Authenticator { needed in
      guard needed.refusal == nil, needed.nextStages.contains("m.login.password") else { return nil }
      return .password(ByteString(password), user: .user(ByteString(user)))
    }
  }
}

extension MatrixClient {
  /// Asks, and goes through the stages that the server wants.
  /// - Parameter authenticator: nil ends with `authenticationNeeded` where it wants any.
  public func perform<Answer>(
    _ query: Query<Answer>, by authenticator: Authenticator?
  ) async throws(ClientError) -> Answer {
    var query = query
    for _ in 0..<Authenticator.stagesLimit {
      do throws(ClientError) { return try await perform(query) } catch {
        guard case .authenticationNeeded(let needed) = error, let stage = await authenticator?.stage(needed) else {
          throw error
        }
        query = query.authenticated(by: stage, needed)
      }
    }
    throw .unsupportedFlow
  }
}
