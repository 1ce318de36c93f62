/// One request as its handler sees it. The body arrives while the handler runs.
package struct Request: Sendable {
  package let method: Method
  package let headers: RequestHeaders
  /// The variables of the route's pattern.
  package internal(set) var parameters = PathParameters()
  /// The pattern of the route, "" when none matched.
  package internal(set) var routePattern = ""
  /// Who asks: the socket's other end or, behind a trusted proxy, what it says in `X-Forwarded-For`.
  package let peer: SocketAddress
  package let id: RequestID
  package internal(set) var body: RequestBody
  /// What middleware leaves for those after it.
  package var context = RequestContext()

  init(method: Method, headers: RequestHeaders, peer: SocketAddress, id: RequestID, body: RequestBody) {
    self.method = method
    self.headers = headers
    self.peer = peer
    self.id = id
    self.body = body
  }

  /// A request that did not come over a socket: the router answers it just so.
  package init(
    _ method: Method, _ target: String, headers fields: [(name: String, value: String)] = [], body: [UInt8] = [],
    peer: SocketAddress = .loopback
  ) {
    var headers = RequestHeaders()
    headers.bytes = Array(target.utf8)
    headers.targetCount = headers.bytes.count
    for field in fields { headers.append(name: field.name, value: field.value) }
    self.init(
      method: method, headers: headers, peer: peer, id: RequestID.next(),
      body: body.isEmpty ? .empty : RequestBody(bytes: body))
  }

  /// The request target as received, query included. Not for logs: queries hold tokens.
  package var target: String { String(decoding: headers.bytes[0..<headers.targetCount], as: UTF8.self) }

  /// The target up to its query, still percent-encoded.
  package var pathBytes: ArraySlice<UInt8> { headers.bytes[0..<pathCount] }

  /// The query, decoded on each call: keep it when more than one key is wanted.
  package var query: Query {
    let start = pathCount + 1
    return start < headers.targetCount ? Query(headers.bytes[start..<headers.targetCount]) : Query()
  }

  private var pathCount: Int {
    headers.bytes[0..<headers.targetCount].firstIndex(of: UInt8(ascii: "?")) ?? headers.targetCount
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
