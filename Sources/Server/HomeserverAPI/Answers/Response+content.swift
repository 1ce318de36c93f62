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
    var response = try await bytes(of: item, for: request, headers, pool)
    guard response.status == .rangeNotSatisfiable else { return response }
    let error = Response.json { MatrixError(status: 416, .invalidParameter, "There is no such part.").write(to: &$0) }
    response.headers.add("Content-Type", "application/json")
    response.body = error.body
    return response
  }

  /// From this disk if it has them, else from where the bucket has them.
  private static func bytes(
    of item: MediaRepository.Item, for request: Request, _ headers: ResponseHeaders, _ pool: BlockingPool
  ) async throws -> Response {
    let (tag, content) = ("\"\(item.hash)\"", item.content)
    let file = try await pool.run {
      let file = OpenFile(path: content.path)
      return content.remote?.isCached(at: content.path, fileBytes: file?.size) == false ? nil : file
    }
    if let file { return .file(file, for: request, entityTag: tag, headers: headers) }
    guard let remote = content.remote else { throw MatrixError.notFound("The content is gone.") }
    var (response, range) = part(of: remote.bytes, for: request, entityTag: tag, headers: headers)
    guard let range else { return response }
    guard request.method == .get else {
      response.body = .stream(length: Int64(range.count)) { _ in }
      return response
    }
    // A bucket that is down is found out before the response begins.
    let opened = try await remote.open(range)
    response.body = .stream(length: Int64(range.count)) { body in try await opened.send { try await body.write($0) } }
    return response
  }
}
