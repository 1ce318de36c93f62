import HTTPServer
import HomeserverAPI
import JSON
import MatrixModel

/// A request whose project is proven.
struct RESTRequest: Sendable {
  let http: Request
  let project: ProjectID

  /// A JSON object.
  func object() async throws -> JSON {
    let bytes = try await bytes()
    guard let json = try? JSON.parse(bytes, limits: JSONLimits(depth: CallLimits.messageDepth)), json.isObject else {
      throw RESTError.invalid("The body is no JSON object.")
    }
    return json
  }

  func form() async throws -> Query {
    let form = Query(try await bytes()[...])
    guard !form.isMalformed else { throw RESTError.invalid("The body is not a form in UTF-8.") }
    return form
  }

  /// The body, which is kept for the node that may have to answer.
  func bytes() async throws -> [UInt8] {
    if let kept = http.context[KeptBody.Key.self]?.bytes { return kept }
    let bytes = try await http.body.collect(upTo: CallLimits.restBodyBytes)
    http.context[KeptBody.Key.self]?.keep(bytes)
    return bytes
  }

  /// A name in the path.
  func path<ID: Identifier>(_ name: String) throws(RESTError) -> ID {
    guard let id = ID(http.parameters[name] ?? "") else { throw RESTError(.notFound, "There is no such \(name).") }
    return id
  }
}
