public import ClientCore
import JSON

/// Completes the stages that a server requires before it carries out a request.
///
///     try await client.deleteDevice(id, by: .password("correct horse battery", user: "@alice:example.org"))
///
/// Spec: Client-Server API, "User-interactive API in the REST API".
public struct Authenticator: Sendable {
  let stage: @Sendable (InteractiveAuthentication) async -> AuthenticationStage?

  /// The number of stages that are completed for one request at most.
  static let stagesLimit = 16

  /// Creates an authenticator.
  /// - Parameter stage: returns the next stage with its proof. If it returns nil, the query ends with `authenticationNeeded`.
  public init(_ stage: @escaping @Sendable (InteractiveAuthentication) async -> AuthenticationStage?) {
    self.stage = stage
  }

  /// Returns an authenticator for the password stage. It gives up if the server needs other stages, or if the password is wrong.
  public static func password(_ password: String, user: String) -> Authenticator {
    Authenticator { needed in
      guard needed.refusal == nil, needed.nextStages.contains("m.login.password") else { return nil }
      return .password(ByteString(password), user: .user(ByteString(user)))
    }
  }
}

extension MatrixClient {
  /// Sends the query, and completes the stages that the server requires.
  /// - Parameter authenticator: if nil, the query ends with `authenticationNeeded` when the server requires a stage.
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
