import EventLoop
import HTTPServer
import JSON
import MatrixModel
import ServerMedia

extension Response {
  /// Content so that a browser neither runs it nor takes it for something else.
  ///
  /// Spec: Client-Server API, "Content repository", "Serving inline content", and the recommended Content-Security-Policy.
  static func content(
    _ item: MediaRepository.Item, fileName: ByteString?, for request: Request, _ pool: BlockingPool
  ) async throws -> Response {
    guard let file = try await pool.run({ OpenFile(path: item.path) }) else {
      throw MatrixError.notFound("The content is gone.")
    }
    var headers = ResponseHeaders()
    headers.add("Content-Type", item.contentType.string)
    headers.add("Content-Disposition", ContentDisposition.header(contentType: item.contentType, fileName: fileName))
    headers.add(
      "Content-Security-Policy",
      "sandbox; default-src 'none'; script-src 'none'; plugin-types application/pdf; style-src 'unsafe-inline'; object-src 'self';"
    )
    headers.add("X-Content-Type-Options", "nosniff")
    headers.add("Cross-Origin-Resource-Policy", "cross-origin")
    // What an mxc:// URI names never changes; only who has a token may keep it.
    headers.add("Cache-Control", "private, max-age=31536000, immutable")
    var response = Response.file(file, for: request, entityTag: "\"\(item.hash)\"", headers: headers)
    guard response.status == .rangeNotSatisfiable else { return response }
    let error = Response.json { MatrixError(status: 416, .invalidParameter, "There is no such part.").write(to: &$0) }
    response.headers.add("Content-Type", "application/json")
    response.body = error.body
    return response
  }
}
