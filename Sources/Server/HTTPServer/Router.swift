/// Answers a request. What it throws becomes a response through the router's `errorResponse`.
package typealias Handler = @Sendable (Request) async throws -> Response

/// Goes around a handler: may answer itself, change the request, or change the response. The handler it is given never
/// throws: errors from within have already become responses, so that for example CORS headers get onto them.
package typealias Middleware = @Sendable (Request, Handler) async throws -> Response

/// Which handler answers which method and path. Built once, then immutable.
///
/// A pattern is a path of segments; `{name}` matches one segment that is not empty, `{name...}` at the end matches all that
/// follow, slashes included, possibly nothing. A literal segment wins over a variable, a variable over a tail.
package struct Router: Sendable {
  struct Route: Sendable {
    let pattern: String
    let parameterNames: [String]
    let bodyLimit: Int
    let endsOnShutdown: Bool
    let answer: Answer
  }

  /// A handler with its middleware around it, whose errors have become responses.
  typealias Answer = @Sendable (Request) async -> Response

  /// What routing found out about a request.
  struct Resolution: Sendable {
    var answer: Answer
    var bodyLimit = Router.defaultBodyLimit
    var endsOnShutdown = false
    var pattern = ""
    var parameters = PathParameters()

    /// Before routing.
    static let none = Resolution(answer: { _ in Response(status: .notFound) })
  }

  enum Match: Sendable {
    case route(Route, parameters: [String])
    case notFound
    case methodNotAllowed([Method])
    case malformed
  }

  /// The default of a route's `bodyLimit` in bytes.
  package static let defaultBodyLimit = 1 << 20

  /// Answers when no pattern matches the path.
  package var notFound: Handler = { _ in .text("Not Found\n", status: .notFound) }
  /// Answers when a pattern matches, but not with this method. Gets the methods that would have matched, sorted; the
  /// `Allow` header is added to its response.
  package var methodNotAllowed: @Sendable (Request, [Method]) async throws -> Response = { _, _ in
    .text("Method Not Allowed\n", status: .methodNotAllowed)
  }
  /// Turns what a handler or a middleware threw into a response.
  package let errorResponse: @Sendable (any Error, Request) -> Response

  /// Completes every response of the routes added afterwards and, at the top level, of the fallbacks: errors are responses by
  /// then. For what needs no wait: middleware costs each parked request its async frames, this costs nothing.
  package var completion: (@Sendable (Request, inout Response) -> Void)?

  /// What it answers, as `GET /path/{name}`, in the order of adding.
  package private(set) var patterns: [String] = []

  private var trie = RouteTrie()
  private var prefix = ""
  private var middleware: [Middleware] = []

  package init(errorResponse: @escaping @Sendable (any Error, Request) -> Response = Router.plainErrorResponse) {
    self.errorResponse = errorResponse
  }

  /// The status of an `HTTPError`, else 500, with its name as text.
  package static let plainErrorResponse: @Sendable (any Error, Request) -> Response = { error, _ in
    let status = (error as? HTTPError)?.status ?? .internalServerError
    return .text("\(status.reason)\n", status: status)
  }

  // MARK: Building

  /// Puts middleware around all routes and groups added afterwards and, at the top level, around the two fallbacks. The
  /// first added is the outermost.
  package mutating func use(_ middleware: @escaping Middleware) { self.middleware.append(middleware) }

  /// Adds a route.
  ///
  /// - Parameters:
  ///   - bodyLimit: bytes the request's body may have; reading a longer one throws `HTTPError.bodyTooLarge`.
  ///   - endsOnShutdown: whether the handler's task is cancelled as soon as the server goes down, as long polls want,
  ///     rather than at the end of the grace.
  /// - Precondition: the pattern begins with `/`, is well-formed, and the pair of method and pattern is new.
  package mutating func on(
    _ method: Method, _ pattern: String, bodyLimit: Int = Router.defaultBodyLimit, endsOnShutdown: Bool = false,
    _ handler: @escaping Handler
  ) {
    let full = prefix + pattern
    let segments = RouteTrie.Segment.parse(full)
    let route = Route(
      pattern: full, parameterNames: segments.compactMap(\.variableName), bodyLimit: bodyLimit,
      endsOnShutdown: endsOnShutdown, answer: wrapped(handler, in: middleware))
    trie.insert(segments, method, route)
    patterns.append("\(method) \(full)")
  }

  /// Adds what `build` adds, with `prefix` before each pattern and `middleware` inside that of the surroundings.
  package mutating func group(_ prefix: String, middleware: [Middleware] = [], _ build: (inout Router) -> Void) {
    let (outerPrefix, outerMiddleware) = (self.prefix, self.middleware)
    self.prefix += prefix
    self.middleware += middleware
    build(&self)
    (self.prefix, self.middleware) = (outerPrefix, outerMiddleware)
  }

  private func wrapped(_ handler: @escaping Handler, in middleware: [Middleware]) -> Answer {
    var wrapped = handler
    for layer in middleware.reversed() {
      let inner = caught(wrapped)
      wrapped = { request in try await layer(request, inner) }
    }
    return caught(wrapped, completion)
  }

  private func caught(
    _ handler: @escaping Handler, _ completion: (@Sendable (Request, inout Response) -> Void)? = nil
  ) -> Answer {
    let errorResponse = errorResponse
    return { request in
      var response: Response
      do { response = try await handler(request) } catch { response = errorResponse(error, request) }
      completion?(request, &response)
      return response
    }
  }

  // MARK: Answering

  /// The answer to a request, without a socket. Never throws: errors have become responses.
  package func respond(to request: Request) async -> Response {
    let route = resolve(request.method, request.pathBytes)
    return await route.answer(request.routed(route))
  }

  /// Who answers, and what the pattern says about the request.
  func resolve(_ method: Method, _ path: ArraySlice<UInt8>) -> Resolution {
    switch match(method, path) {
    case .route(let route, let values):
      return Resolution(
        answer: route.answer, bodyLimit: route.bodyLimit, endsOnShutdown: route.endsOnShutdown, pattern: route.pattern,
        parameters: PathParameters(names: values.isEmpty ? [] : route.parameterNames, values: values))
    case .notFound:
      return Resolution(answer: wrapped(notFound, in: middleware))
    case .methodNotAllowed(let methods):
      let fallback = methodNotAllowed
      let handler: Handler = { request in
        var response = try await fallback(request, methods)
        response.headers["Allow"] = methods.map(\.description).joined(separator: ", ")
        return response
      }
      return Resolution(answer: wrapped(handler, in: middleware))
    case .malformed:
      return Resolution(answer: wrapped({ _ in throw HTTPError.malformedPath }, in: middleware))
    }
  }

  /// HEAD is answered by the route for GET where it has none of its own.
  func match(_ method: Method, _ path: ArraySlice<UInt8>) -> Match {
    trie.match(method, path)
  }
}
