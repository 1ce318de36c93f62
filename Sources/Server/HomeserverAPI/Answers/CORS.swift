import HTTPServer

/// Lets web clients from other origins in. Spec: Client-Server API, "Web Browser Clients".
enum CORS {
  /// Adds the headers to every answer, errors included, and answers `OPTIONS` itself: no endpoint's logic runs.
  static let middleware: Middleware = { request, next in
    var response = request.method == .options ? Response() : try await next(request)
    response.headers.add("Access-Control-Allow-Origin", "*")
    response.headers.add("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, OPTIONS")
    response.headers.add("Access-Control-Allow-Headers", "X-Requested-With, Content-Type, Authorization")
    if request.method == .options { response.headers.add("Access-Control-Max-Age", "86400") }
    return response
  }
}
