import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerPush

/// A request as a route reads it: identifiers from the path, parameters from query and body, each with its precise error.
package struct APIRequest: Sendable {
  package let http: Request
  private let bodyLimit: Int
  private let authentication: Authentication?
  private let admission: Admission?

  init(_ http: Request, bodyLimit: Int, authentication: Authentication? = nil, admission: Admission? = nil) {
    self.http = http
    self.bodyLimit = bodyLimit
    self.authentication = authentication
    self.admission = admission
  }

  /// Who asks, for an endpoint that anyone may call: nil without a token. Throws for a token that is not known or may not be
  /// used here.
  package func session() async throws -> Session? {
    guard let authentication, let admission else { return nil }
    return try await authentication.optionalSession(of: http, admission)
  }

  /// The application service that asks with its own token, for an endpoint that anyone may call. Throws `M_MISSING_TOKEN`,
  /// `M_UNKNOWN_TOKEN`.
  package func appService() throws -> AppService {
    guard let authentication else { throw MatrixError.missingToken() }
    return try authentication.appService(of: http)
  }

  // MARK: Path

  /// A segment of the path, percent-decoded.
  package func path(_ name: StaticString) -> ByteString {
    ByteString(http.parameters[name.description] ?? "")
  }

  /// An identifier in the path. Throws `M_INVALID_PARAM` where it does not fit its grammar.
  package func path<ID: Identifier>(_ name: StaticString, as type: ID.Type = ID.self) throws -> ID {
    guard let id = ID(path(name)) else { throw MatrixError.invalidParameter("'\(name)' in the path is not valid.") }
    return id
  }

  // MARK: Query

  /// The query, decoded once. Throws `M_INVALID_PARAM` where it is not UTF-8.
  package func query() throws -> QueryParameters { try QueryParameters(http.query) }

  // MARK: Body

  /// The bytes of the body. Throws `M_TOO_LARGE` beyond the route's limit.
  package func bytes() async throws -> [UInt8] {
    let bytes = try await http.body.collect(upTo: bodyLimit)
    http.context[KeptBody.Key.self]?.keep(bytes)
    return bytes
  }

  /// The body as a JSON object. Throws `M_NOT_JSON` for what does not parse (an empty body included), `M_BAD_JSON` for
  /// another kind of value, `M_TOO_LARGE`.
  package func object() async throws -> JSON {
    let body = try await bytes()
    guard !body.isEmpty else { throw MatrixError.notJSON("The body is empty; a JSON object is needed.") }
    return try Self.object(body)
  }

  /// Returns the body as a JSON object, `{}` for an empty body. For endpoints whose parameters are all optional.
  package func optionalObject() async throws -> JSON {
    let body = try await bytes()
    return try Self.object(body.isEmpty ? Array("{}".utf8) : body)
  }

  /// Containers inside each other in a body. What it brings comes back inside other containers (an event in a room in a sync),
  /// and parsers of the recipients have limits too: ours, like those of libraries in use, is a little above 100.
  package static let bodyDepthLimit = 80

  private static func object(_ body: [UInt8]) throws -> JSON {
    let json: JSON
    do { json = try JSON.parse(body, limits: JSONLimits(depth: bodyDepthLimit)) } catch {
      throw error.reason == .tooDeep
        ? MatrixError.badJSON("The body has too many values inside each other.")
        : MatrixError.notJSON("The body is not JSON: \(error.reason) at byte \(error.offset).")
    }
    guard json.isObject else { throw MatrixError.badJSON("The body is not a JSON object.") }
    return json
  }
}
