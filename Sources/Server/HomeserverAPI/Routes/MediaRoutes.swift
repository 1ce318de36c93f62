import EventLoop
import HTTPServer
import JSON
import MatrixModel
import ServerMedia

/// The content repository. Downloads need an access token (v1.11); the deprecated ones without serve what came before
/// they were frozen.
extension Routes {
  package mutating func addMediaRoutes(pool: BlockingPool) {
    addUploadRoutes()
    addDownloadRoutes(pool)
    addFrozenDownloadRoutes(pool)

    let limit = homeserver.media.uploadBytesLimit
    for endpoint in [Endpoint.getConfigAuthed, .getConfig] {
      on(endpoint) { _, _ in .json { $0.object { $0.member("m.upload.size", limit) } } }
    }
  }

  private mutating func addUploadRoutes() {
    let media = homeserver.media
    let bodyLimit = Int(clamping: media.uploadBytesLimit)

    on(.uploadContent, bodyLimit: bodyLimit) { request, session in
      var pieces = request.http.body.makeAsyncIterator()
      let uri = try await media.upload(request.upload(), by: session.userID) { try await pieces.next() }
      return .json { $0.object { $0.member("content_uri", uri) } }
    }

    on(.createContent) { _, session in
      let created = try await media.pending.create(by: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("content_uri", created.uri)
          writer.member("unused_expires_at", created.expires)
        }
      }
    }

    on(.uploadContentToMXC, bodyLimit: bodyLimit) { request, session in
      var pieces = request.http.body.makeAsyncIterator()
      if let part = try request.part() {
        return try await .progress {
          try await media.upload(
            part.range, of: part.size, request.upload(), to: request.path("serverName"), request.path("mediaId"),
            by: session.userID
          ) { try await pieces.next() }
        }
      }
      try await media.upload(
        request.upload(), to: request.path("serverName"), request.path("mediaId"), by: session.userID
      ) { try await pieces.next() }
      return .emptyObject
    }

    on(.getUploadProgress) { request, session in
      try await .progress {
        try await media.progress(of: request.path("serverName"), request.path("mediaId"), by: session.userID)
      }
    }

    on(.giveUpUpload) { request, session in
      try await media.giveUp(request.path("serverName"), request.path("mediaId"), by: session.userID)
      return .emptyObject
    }
  }

  private mutating func addDownloadRoutes(_ pool: BlockingPool) {
    let media = homeserver.media

    on(.getContentAuthed, endsOnShutdown: true) { request, session in
      try await request.content(of: media, for: .user(session.userID), pool)
    }

    on(.getContentOverrideNameAuthed, endsOnShutdown: true) { request, session in
      try await request.content(of: media, for: .user(session.userID), named: request.path("fileName"), pool)
    }

    on(.getContentThumbnailAuthed, endsOnShutdown: true) { request, session in
      try await request.thumbnail(of: media, for: .user(session.userID), pool)
    }
  }

  private mutating func addFrozenDownloadRoutes(_ pool: BlockingPool) {
    let media = homeserver.media

    on(.getContent, endsOnShutdown: true) { request in
      try await request.content(of: media, for: request.anyone, pool)
    }

    on(.getContentOverrideName, endsOnShutdown: true) { request in
      try await request.content(of: media, for: request.anyone, named: request.path("fileName"), pool)
    }

    on(.getContentThumbnail, endsOnShutdown: true) { request in
      try await request.thumbnail(of: media, for: request.anyone, pool)
    }
  }
}

extension Response {
  /// Where the next part begins, be the one that was sent taken or not.
  fileprivate static func progress(_ take: () async throws -> MediaRepository.Progress) async throws -> Response {
    do {
      let progress = try await take()
      return .json { writer in
        writer.object { writer in
          writer.member("offset", progress.bytes)
          writer.member("complete", progress.isComplete)
        }
      }
    } catch let error as MediaRepository.WrongOffset {
      return .json(status: .conflict) { writer in
        writer.object { writer in
          writer.member("errcode", "MARTLET_WRONG_OFFSET")
          writer.member("error", "The next part begins at \(error.bytes).")
          writer.member("offset", error.bytes)
        }
      }
    }
  }
}

extension APIRequest {
  fileprivate var anyone: MediaRepository.Reader { .anyone(address: http.peer.address) }

  fileprivate func upload() throws -> MediaUpload {
    let contentType = http.headers.first("Content-Type").map { ByteString(decoding: $0) }
    return try MediaUpload(
      contentType: contentType ?? "application/octet-stream", fileName: query().text("filename"),
      announcedBytes: http.body.announcedLength)
  }

  /// What of the whole the body has; nil where it is the whole.
  fileprivate func part() throws -> ContentRange? {
    guard let value = http.headers.first("Content-Range") else { return nil }
    guard let part = ContentRange(value) else {
      throw MatrixError.invalidParameter("'Content-Range' is not of the form 'bytes 0-99/200'.")
    }
    return part
  }

  fileprivate func content(
    of media: MediaRepository, for reader: MediaRepository.Reader, named name: ByteString? = nil, _ pool: BlockingPool
  ) async throws -> Response {
    let query = try query()
    let item = try await media.item(
      path("serverName"), path("mediaId"), for: reader, wait: Self.waitMilliseconds(query))
    return try await .content(item, fileName: name ?? item.fileName, for: http, pool)
  }

  fileprivate func thumbnail(
    of media: MediaRepository, for reader: MediaRepository.Reader, _ pool: BlockingPool
  ) async throws -> Response {
    let query = try query()
    let item = try await media.thumbnail(
      path("serverName"), path("mediaId"), Self.thumbnailRequest(query), for: reader,
      wait: Self.waitMilliseconds(query))
    return try await .content(item, fileName: item.fileName, for: http, pool)
  }

  /// How long to wait for content; also looks at the parameters that mean nothing where nothing is fetched or redirected.
  private static func waitMilliseconds(_ query: QueryParameters) throws -> Int64 {
    _ = try query.bool("allow_remote")
    _ = try query.bool("allow_redirect")
    return try query.integer("timeout_ms") ?? MediaRepository.waitMilliseconds
  }

  private static func thumbnailRequest(_ query: QueryParameters) throws -> ThumbnailRequest {
    let edge = 1...Int64(Int32.max)
    guard let width = try query.integer("width", in: edge) else { throw MatrixError.missingParameter("width") }
    guard let height = try query.integer("height", in: edge) else { throw MatrixError.missingParameter("height") }
    let method = query.text("method") ?? "scale"
    guard method == "scale" || method == "crop" else {
      throw MatrixError.invalidParameter("'method' is 'scale' or 'crop'.")
    }
    return ThumbnailRequest(
      width: Int(width), height: Int(height), isCrop: method == "crop", isAnimated: try query.bool("animated") ?? false)
  }
}
