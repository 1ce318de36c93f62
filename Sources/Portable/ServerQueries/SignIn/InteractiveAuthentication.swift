import JSON
import MatrixModel

/// What the server wants to know before it does what was asked: one of several flows of stages, some of them done already.
///
/// Spec: Client-Server API, "User-interactive API in the REST API".
public struct InteractiveAuthentication: Sendable {
  /// Comes back with every stage; nil where the server keeps none.
  public let session: ByteString?
  /// Each is a list of stages; all of one have to be done.
  public let flows: [[ByteString]]
  public let completed: [ByteString]
  /// What the stages need to know, by stage (`params`).
  public let parameters: JSON?
  /// Why the stage that was tried last was refused; nil where none was.
  public let refusal: MatrixError?

  /// Flows and stages of a flow that are looked at.
  static let flowsLimit = 64

  /// nil where the answer has no flows.
  package init?(_ body: JSON) {
    guard let listed = body["flows"], listed.isArray else { return nil }
    var flows: [[ByteString]] = []
    for flow in listed.elements.prefix(Self.flowsLimit) {
      flows.append(flow["stages"]?.elements.prefix(Self.flowsLimit).map { $0.text ?? "" } ?? [])
    }
    self.flows = flows
    session = body.text("session")
    completed = body["completed"]?.elements.prefix(Self.flowsLimit).compactMap { $0.text } ?? []
    parameters = body["params"]
    refusal = body["errcode"] == nil ? nil : MatrixError(status: 401, body: body)
  }

  /// The stages that may come next: the first open one of each flow, without repetition.
  public var nextStages: [ByteString] {
    var stages: [ByteString] = []
    for flow in flows {
      if let stage = flow.first(where: { !completed.contains($0) }), !stages.contains(stage) { stages.append(stage) }
    }
    return stages
  }

  /// What the server says about a stage.
  public func parameters(of stage: ByteString) -> JSON? { parameters?[stage] }

  /// Path and query of the page on the homeserver where a person goes through a stage that the program does not have; afterwards
  /// comes `AuthenticationStage.completedElsewhere`. Spec: "Fallback".
  public func fallback(for stage: ByteString) -> String {
    "/_matrix/client/v3/auth/" + PercentEncoding.encode(stage) + "/fallback/web"
      + URLQuery().adding("session", session).text
  }

  /// The documents to agree to at `m.login.terms`, each in the language asked for, else in English, else in any.
  ///
  /// Spec: "Terms of service at registration".
  public func policies(language: ByteString = "en") -> [Policy] {
    guard let listed = parameters(of: AuthenticationStage.termsType)?["policies"] else { return [] }
    return listed.members.prefix(Self.flowsLimit).compactMap { member in
      let policy = member.value
      let english: ByteString = "en"
      let text = policy[language] ?? policy[english] ?? policy.members.first { $0.value.isObject }?.value
      guard let text, let name = text.text("name"), let url = text.text("url") else { return nil }
      return Policy(id: member.key, version: policy.text("version") ?? "", name: name, url: url)
    }
  }

  /// A document that the server wants one to agree to.
  public struct Policy: Sendable, Hashable {
    /// `privacy_policy`, for example.
    public let id: ByteString
    public let version: ByteString
    public let name: ByteString
    public let url: ByteString
  }
}
