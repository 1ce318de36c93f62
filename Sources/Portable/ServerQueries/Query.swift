import EventContent
import JSON
import MatrixModel

/// One request to the server that leaves the client's state as it is: a value that says what to ask and how to read the answer.
///
///     let page = try await client.perform(.publicRooms(matching: "tea"))
///
/// The core adds the access token, refreshes it where the server refuses it, and waits where the server says
/// `M_LIMIT_EXCEEDED`. The queries of the API are static members of `Query<Answer>`, one file a chapter.
public struct Query<Answer: Sendable>: Sendable {
  public package(set) var request: QueryRequest
  private let read: @Sendable (JSON) -> Answer?

  /// - Parameters:
  ///   - path: of the endpoint, its segments filled in.
  ///   - body: a JSON object; nil for an empty one where the method wants a body.
  ///   - read: nil where the answer is not what the spec says.
  package init(
    _ endpoint: Endpoint, _ path: String, parameters: URLQuery = URLQuery(), body: [UInt8]? = nil,
    read: @escaping @Sendable (JSON) -> Answer?
  ) {
    request = QueryRequest(endpoint: endpoint, target: path + parameters.text, body: body)
    self.read = read
  }

  /// The answer as a value. Throws `ClientError.badAnswer` where it is not what the spec says.
  public func answer(_ result: QueryResult) throws(ClientError) -> Answer {
    switch result {
    case .failed(let error): throw error
    case .answer(let json):
      guard let answer = read(json) else { throw .badAnswer }
      return answer
    }
  }

  /// The same query with the next stage of what the server wants (`ClientError.authenticationNeeded`).
  ///
  /// Spec: Client-Server API, "User-interactive API in the REST API".
  public func authenticated(by stage: AuthenticationStage, _ needed: InteractiveAuthentication) -> Query {
    var query = self
    query.request.authentication = stage.body(session: needed.session)
    return query
  }
}

extension Query {
  /// A query whose body is a file of the host.
  package init(
    _ endpoint: Endpoint, _ path: String, parameters: URLQuery, blob: BlobHandle, mimeType: ByteString,
    read: @escaping @Sendable (JSON) -> Answer?
  ) {
    self.init(endpoint, path, parameters: parameters, read: read)
    request.blob = blob
    request.contentType = mimeType
  }
}

extension Query where Answer == Void {
  /// A query whose answer says only that it is done.
  package init(
    _ endpoint: Endpoint, _ path: String, parameters: URLQuery = URLQuery(), body: [UInt8]? = nil, endsSession: Bool = false
  ) {
    self.init(endpoint, path, parameters: parameters, body: body) { _ in }
    request.endsSession = endsSession
  }
}

/// What a query asks, without how its answer is read.
public struct QueryRequest: Sendable {
  package let endpoint: Endpoint
  /// Path and query, percent-encoded.
  package let target: String
  package let body: [UInt8]?
  /// A file that is sent in the place of the body.
  package var blob: BlobHandle?
  /// Of the body; nil for JSON.
  package var contentType: ByteString?
  /// The `auth` object that goes into the body.
  package var authentication: [UInt8]?
  /// Whether the session is over once it is done.
  package var endsSession = false
  /// Whether it is asked for another program (`Query.passedOn`).
  package var isPassedOn = false

  package init(endpoint: Endpoint, target: String, body: [UInt8]?) {
    self.endpoint = endpoint
    self.target = target
    self.body = body
  }

  /// The body with the stage of authentication in it.
  package var wholeBody: [UInt8]? {
    guard let authentication else { return body }
    let object = body ?? Array("{}".utf8)
    let isEmpty = object.count <= 2
    return object.dropLast() + (isEmpty ? [] : [UInt8(ascii: ",")]) + Array(#""auth":"#.utf8) + authentication
      + [UInt8(ascii: "}")]
  }
}

/// How a query ended.
public enum QueryResult: Sendable {
  /// The server's JSON, for `Query.answer(_:)`.
  case answer(JSON)
  case failed(ClientError)
}
