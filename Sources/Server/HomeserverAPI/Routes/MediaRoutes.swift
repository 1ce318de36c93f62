import EventLoop
import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// The content repository. Downloads need an access token (v1.11).
extension Routes {
  package mutating func addMediaRoutes(pool: BlockingPool) {
    let media = homeserver.media

    on(.uploadContent, bodyLimit: Int(clamping: media.uploadBytesLimit)) { request, session in
      var pieces = request.http.body.makeAsyncIterator()
      let uri = try await media.upload(
        by: session.userID, contentType: request.contentType, fileName: try request.query().text("filename"),
        announcedBytes: request.http.body.announcedLength
      ) { try await pieces.next() }
      return .json { $0.object { $0.member("content_uri", uri) } }
    }

    for endpoint in [Endpoint.getConfigAuthed, .getConfig] {
      on(endpoint) { _, _ in .json { $0.object { $0.member("m.upload.size", media.uploadBytesLimit) } } }
    }

    on(.getContentAuthed) { request, _ in
      let item = try await media.item(request.path("serverName"), request.path("mediaId"))
      return try await .content(item, fileName: item.fileName, for: request.http, pool)
    }

    on(.getContentOverrideNameAuthed) { request, _ in
      let item = try await media.item(request.path("serverName"), request.path("mediaId"))
      return try await .content(item, fileName: request.path("fileName"), for: request.http, pool)
    }

    on(.getContentThumbnailAuthed) { request, _ in
      let query = try request.query()
      guard let width = try query.integer("width", in: 1...Int64(Int32.max)),
        let height = try query.integer("height", in: 1...Int64(Int32.max))
      else { throw MatrixError.missingParameter("width and height") }
      let method = query.text("method") ?? "scale"
      guard method == "scale" || method == "crop" else {
        throw MatrixError.invalidParameter("'method' is 'scale' or 'crop'.")
      }
      let item = try await media.thumbnail(
        request.path("serverName"), request.path("mediaId"),
        ThumbnailRequest(width: Int(width), height: Int(height), isCrop: method == "crop"))
      return try await .content(item, fileName: item.fileName, for: request.http, pool)
    }
  }
}

extension APIRequest {
  fileprivate var contentType: ByteString {
    http.headers.first("Content-Type").map { ByteString(decoding: $0) } ?? "application/octet-stream"
  }
}

extension Response {
  /// Content so that a browser neither runs it nor takes it for something else.
  ///
  /// Spec: Client-Server API, "Content repository", "Serving inline content", and the recommended Content-Security-Policy.
  fileprivate static func content(
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

/// RFC 6266, with the spec's list of types that may be shown in place.
enum ContentDisposition {
  private static let inlineTypes: Set<ByteString> = [
    "text/css", "text/plain", "text/csv", "application/json", "application/ld+json", "image/jpeg", "image/gif", "image/png",
    "image/apng", "image/webp", "image/avif", "video/mp4", "video/webm", "video/ogg", "video/quicktime", "audio/mp4",
    "audio/webm", "audio/aac", "audio/mpeg", "audio/ogg", "audio/wave", "audio/wav", "audio/x-wav", "audio/x-pn-wav",
    "audio/flac", "audio/x-flac"
  ]

  static func header(contentType: ByteString, fileName: ByteString?) -> String {
    let essence = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
    let lowercase = essence.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    let disposition = inlineTypes.contains(ByteString(decoding: lowercase)) ? "inline" : "attachment"
    guard let fileName, !fileName.isEmpty else { return disposition }
    return disposition + "; filename*=utf-8''" + PercentEncoding.encode(fileName)
  }
}
