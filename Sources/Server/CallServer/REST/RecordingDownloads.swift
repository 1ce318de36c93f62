import HTTPServer
import JSON
import ServerCore

/// Recorded files: their addresses, good for some minutes, and the files themselves.
extension CallServer {
  nonisolated func mountDownloads(on router: inout Router) {
    for method in [Method.get, .head] {
      router.on(method, "/{archive}/file/{file}") { [self] request in
        do { return try await download(request) } catch let error as RESTError { return error.response }
      }
    }
  }

  // MARK: Addresses

  /// Signed for this one file. nil where nobody asked, and nobody has said where this server is reached.
  private nonisolated func address(of file: String, _ recording: StoredRecording, _ request: Request?) -> String? {
    guard let base = configuration.publicBaseURL ?? request.map({ "http://\($0.headers["Host"] ?? "localhost")" }) else {
      return nil
    }
    return base + signedPath(of: file, recording)
  }

  /// With the query that proves it.
  nonisolated func signedPath(of file: String, _ recording: StoredRecording) -> String {
    let path = Self.path(of: file, recording.id, recording.project)
    let expires = clock.now() / 1_000 + CallLimits.downloadSeconds
    return "\(path)?expires=\(expires)&signature=\(signature(of: path, expires))"
  }

  private static func path(of file: String, _ recording: RecordingID, _ project: ProjectID) -> String {
    "\(restPath)/v2/project/\(project)/archive/\(recording)/file/\(file)"
  }

  private nonisolated func signature(of path: String, _ expires: Int64) -> String {
    projects.downloadSignature(of: "\(expires) \(path)")
  }

  private nonisolated func isSigned(_ request: Request, _ path: String) -> Bool {
    let query = request.query
    guard let expires = query["expires"].flatMap({ Int64($0) }), let signature = query["signature"] else { return false }
    return KeyedHash.areSame(Array(signature.utf8), Array(self.signature(of: path, expires).utf8))
      && expires >= clock.now() / 1_000
  }

  // MARK: Files

  /// Returns the file, or a range of it, for a request with a valid signed address or the project's key; 404 if the file does not exist (any more).
  private nonisolated func download(_ request: Request) async throws -> Response {
    let missing = RESTError(.notFound, "There is no such file.")
    guard let project = ProjectID(request.parameters["project"] ?? ""),
      let id = RecordingID(request.parameters["archive"] ?? ""),
      let name = request.parameters["file"], RecordingFolder.accepts(fileName: name)
    else { throw missing }
    if !isSigned(request, Self.path(of: name, id, project)) {
      guard try await authorize(request) == project else { throw RESTError(.forbidden, "The token is of another API key.") }
    }
    guard let recording = try await recordings.rows.recording(id), recording.project == project, recording.status == .available
    else { throw missing }
    var headers = ResponseHeaders()
    headers.add("Content-Type", Self.contentType(of: name))
    headers.add("Content-Disposition", "attachment; filename=\"\(name)\"")
    headers.add("X-Content-Type-Options", "nosniff")
    headers.add("Cache-Control", "private")
    guard let file = await recordings.open(name, of: id) else {
      guard let response = try await download(name, of: recording, for: request, headers: headers) else { throw missing }
      return response
    }
    return .file(
      file, for: request, entityTag: "\"\(file.inode)-\(file.modified)-\(file.modifiedNanoseconds)-\(file.size)\"",
      headers: headers)
  }

  private static func contentType(of name: String) -> String {
    let end = name.split(separator: ".").last ?? ""
    return ["webm": "video/webm", "mkv": "video/x-matroska", "mp4": "video/mp4", "json": "application/json"][String(end)]
      ?? "application/octet-stream"
  }

  // MARK: JSON

  /// - Parameters:
  ///   - request: that is answered; nil for a callback.
  ///   - manifest: what is known of its files, for the answer about one recording.
  nonisolated func json(
    _ recording: StoredRecording, _ request: Request?, _ manifest: RecordingManifest? = nil, isEvent: Bool = false
  ) -> [UInt8] {
    let options = recording.options
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("id", recording.id)
      if isEvent { writer.member("event", "archive" as ByteString) }
      writer.member("status", recording.status.rawValue)
      writer.member("name", options.name)
      writer.member("reason", recording.reason)
      writer.member("sessionId", recording.session)
      // A number, for all SDKs that take keys for one.
      if let number = Int64(recording.project.string) {
        writer.member("projectId", number)
        writer.member("partnerId", number)
      } else {
        writer.member("projectId", recording.project)
        writer.member("partnerId", recording.project)
      }
      writer.member("createdAt", recording.created)
      writer.member("size", recording.bytes)
      writer.member("duration", (recording.durationMilliseconds + 500) / 1_000)
      writer.member("hasAudio", options.hasAudio)
      writer.member("hasVideo", options.hasVideo)
      writer.member("outputMode", options.isComposed ? "composed" : "individual")
      writer.member("streamMode", options.isManual ? "manual" : "auto")
      if options.isComposed {
        writer.member("resolution", "\(options.width)x\(options.height)")
        if let percent = recordings.composer.percent(of: recording.id) { writer.member("progress", percent) }
      }
      writer.key("url")
      guard recording.status == .available, !recording.mainFile.isEmpty,
        let address = address(of: recording.mainFile.string, recording, request)
      else { return writer.null() }
      writer.write(address)
      guard let manifest else { return }
      writer.array("files", manifest.files) { file, writer in
        writer.object { writer in
          file.writeMembers(to: &writer)
          if let address = self.address(of: file.name, recording, request) { writer.member("url", address) }
        }
      }
    }
    return writer.bytes
  }
}
