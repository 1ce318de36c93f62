import HTTPServer

/// Lets web clients from other origins in. Spec: Client-Server API, "Web Browser Clients".
enum CORS {
  private static let headers: ResponseHeaders = [
    "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "X-Requested-With, Content-Type, Authorization, Content-Range, Range, If-Range"
  ]

  /// Adds the headers to every answer, errors included.
  static let completion: @Sendable (Request, inout Response) -> Void = { request, response in
    response.headers.fields.append(contentsOf: headers.fields)
    if request.method == .options { response.headers.add("Access-Control-Max-Age", "86400") }
  }
}
