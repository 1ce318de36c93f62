import Telemetry

/// One request as its handler sees it. The body arrives while the handler runs.
///
/// What never changes lies in one object, so that a request passed through middleware costs two references.
package struct Request: Sendable {
  private final class Content: Sendable {
    let method: Method
    let headers: RequestHeaders
    let parameters: PathParameters
    let routePattern: String
    let peer: SocketAddress
    let id: RequestID
    let body: RequestBody

    init(
      method: Method, headers: RequestHeaders, parameters: PathParameters, routePattern: String, peer: SocketAddress,
      id: RequestID, body: RequestBody
    ) {
      self.method = method
      self.headers = headers
      self.parameters = parameters
      self.routePattern = routePattern
      self.peer = peer
      self.id = id
      self.body = body
    }
  }

  private let content: Content
  /// What middleware leaves for those after it.
  package var context = RequestContext()

  init(
    method: Method, headers: RequestHeaders, route: Router.Resolution, peer: SocketAddress, id: RequestID, body: RequestBody
  ) {
    content = Content(
      method: method, headers: headers, parameters: route.parameters, routePattern: route.pattern, peer: peer, id: id,
      body: body)
  }

  /// A request that did not come over a socket, for `Router.respond(to:)`.
  package init(
    _ method: Method, _ target: String, headers fields: [(name: String, value: String)] = [], body: [UInt8] = [],
    peer: SocketAddress = .loopback
  ) {
    var headers = RequestHeaders()
    headers.bytes = Array(target.utf8)
    headers.targetCount = headers.bytes.count
    for field in fields { headers.append(name: field.name, value: field.value) }
    self.init(
      method: method, headers: headers, route: .none, peer: peer, id: RequestID.next(),
      body: body.isEmpty ? .empty : RequestBody(bytes: body))
  }

  /// The same request with what the router found out about it.
  func routed(_ route: Router.Resolution) -> Request {
    var routed = Request(method: method, headers: headers, route: route, peer: peer, id: id, body: body)
    routed.context = context
    return routed
  }

  package var method: Method { content.method }
  package var headers: RequestHeaders { content.headers }
  /// The variables of the route's pattern.
  package var parameters: PathParameters { content.parameters }
  /// The pattern of the route, "" when none matched.
  package var routePattern: String { content.routePattern }
  /// Who asks: the socket's other end or, behind a trusted proxy, what it says in `X-Forwarded-For`.
  package var peer: SocketAddress { content.peer }
  package var id: RequestID { content.id }
  package var body: RequestBody { content.body }

  /// The request target as received, query included. Not for logs: queries hold tokens.
  package var target: String { String(decoding: headers.bytes[0..<headers.targetCount], as: UTF8.self) }

  /// The target up to its query, still percent-encoded.
  package var pathBytes: ArraySlice<UInt8> { headers.pathBytes }

  /// The query, decoded on each call: keep it when more than one key is wanted.
  package var query: Query {
    let start = headers.pathBytes.endIndex + 1
    return start < headers.targetCount ? Query(headers.bytes[start..<headers.targetCount]) : Query()
  }
}

/// The variables a route's pattern found in the path, percent-decoded, valid UTF-8.
package struct PathParameters: Sendable {
  var names: [String] = []
  var values: [String] = []

  /// The value of `{name}`; nil when the pattern has no such variable.
  package subscript(_ name: String) -> String? {
    for (index, candidate) in names.enumerated() where candidate.utf8.elementsEqual(name.utf8) { return values[index] }
    return nil
  }
}

/// Values by the type of their key, as `request.context[Account.self]` with `enum Account: ContextKey`.
package struct RequestContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  package init() {}

  package subscript<Key: ContextKey>(_ key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

/// Names a value in a `RequestContext`.
package protocol ContextKey {
  associatedtype Value: Sendable
}
