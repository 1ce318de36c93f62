import HTTPServer
import Homeserver
import JSON

/// Recordings, in OpenTok's shape. OpenTok calls a recording an archive, so paths, keys and refusals say `archive` here.
extension CallServer {
  nonisolated func mountRecordings(on router: inout Router) {
    on(.post, "", &router) { request in try await self.startRecording(request) }
    on(.get, "", &router) { request in try await self.listRecordings(request) }
    on(.get, "/{archive}", &router) { request in
      let recording = try await self.recording(of: request)
      return .json(self.json(recording, request.http, try await self.manifest(of: recording, for: request)))
    }
    on(.post, "/{archive}/stop", &router) { request in
      let recording = try await self.recording(of: request)
      guard recording.status == .started else { throw RESTError(.conflict, "The archive is not being recorded.") }
      try await self.requireHere(recording.session, for: request)
      do { return .json(self.json(try await self.stopRecording(recording), request.http)) } catch let refusal as CallRefusal {
        throw RESTError(.conflict, refusal.message)
      }
    }
    on(.delete, "/{archive}", &router) { request in
      let recording = try await self.recording(of: request)
      guard recording.status == .available || recording.status == .failed else {
        throw RESTError(.conflict, "The archive is still being recorded.")
      }
      try await self.requireFilesHere(of: recording, for: request)
      try await self.recordings.delete(recording)
      return Response(status: .noContent)
    }
    on(.patch, "/{archive}/streams", &router) { request in try await self.changeStreams(request) }
    on(.put, "/{archive}/layout", &router) { request in try await self.changeLayout(request) }
  }

  /// The recording in the path, which must be the project's. Throws 404.
  private nonisolated func recording(of request: RESTRequest) async throws -> StoredRecording {
    let id: RecordingID = try request.path("archive")
    guard let recording = try await recordings.rows.recording(id), recording.project == request.project else {
      throw RESTError(.notFound, "There is no such archive.")
    }
    return recording
  }

  private nonisolated func startRecording(_ request: RESTRequest) async throws -> Response {
    let body = try await request.object()
    guard let id = SessionID(body["sessionId"]) else { throw RESTError.invalid("sessionId is missing.") }
    let options = try RecordingOptions(body)
    let layout = try Self.layout(body["layout"], options)
    guard let session = try await sessions.session(id), session.project == request.project else {
      throw RESTError(.notFound, "There is no such session.")
    }
    try await requireHere(session.id, for: request)
    do {
      return .json(json(try await startRecording(of: session, options, layout), request.http))
    } catch let refusal as CallRefusal {
      throw RESTError(refusal.code == .notFound ? .badRequest : .conflict, refusal.message)
    }
  }

  private nonisolated func listRecordings(_ request: RESTRequest) async throws -> Response {
    let query = request.http.query
    let offset = try Self.number(query["offset"], 0...Int64.max, or: 0, "offset")
    let count = try Self.number(query["count"], 0...CallLimits.recordingsPage, or: CallLimits.recordingsPageDefault, "count")
    var session: SessionID?
    if let text = query["sessionId"] {
      guard let id = SessionID(text) else { throw RESTError.invalid("sessionId is no session.") }
      session = id
    }
    let (total, page) = try await recordings.rows.list(of: request.project, session: session, offset: offset, count: count)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("count", total)
      writer.array("items", page) { recording, writer in writer.raw(json(recording, request.http)) }
    }
    return .json(writer.bytes)
  }

  private static func number(
    _ text: String?, _ range: ClosedRange<Int64>, or other: Int64, _ name: String
  ) throws(RESTError) -> Int64 {
    guard let text else { return other }
    guard let number = Int64(text), range.contains(number) else {
      throw .invalid("\(name) is from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  private nonisolated func changeLayout(_ request: RESTRequest) async throws -> Response {
    let recording = try await recording(of: request)
    let layout = try Self.layout(try await request.object(), recording.options)
    guard recording.status == .started else { throw RESTError(.conflict, "The archive is not being recorded.") }
    try await requireHere(recording.session, for: request)
    try await act(in: recording.session) { (state, _) throws(CallRefusal) in try state.setLayout(layout, of: recording.id) }
    return .json(json(recording, request.http))
  }

  /// Throws 400.
  private static func layout(_ json: JSON?, _ options: RecordingOptions) throws(RESTError) -> RecordingLayout {
    guard let json, !json.isNull else { return RecordingLayout() }
    guard options.isComposed else { throw .invalid("layout is of composed archives.") }
    return try RecordingLayout(json)
  }

  /// `{"addStream": …, "hasAudio": true, "hasVideo": true}` or `{"removeStream": …}`.
  private nonisolated func changeStreams(_ request: RESTRequest) async throws -> Response {
    let recording = try await recording(of: request)
    let body = try await request.object()
    try await requireHere(recording.session, for: request)
    guard recording.options.isManual else { throw RESTError(.methodNotAllowed, "This archive has all streams.") }
    if let stream = StreamID(body["addStream"]) {
      let (audio, video) = (try body.optionalBool("hasAudio") ?? true, try body.optionalBool("hasVideo") ?? true)
      guard audio || video else { throw RESTError.invalid("hasAudio or hasVideo is true.") }
      try await act(in: recording.session) { (state, _) throws(CallRefusal) in
        try state.addStream(stream, to: recording.id, audio: audio, video: video)
      }
    } else if let stream = StreamID(body["removeStream"]) {
      try await act(in: recording.session) { (state, _) throws(CallRefusal) in
        try state.removeStream(stream, from: recording.id)
      }
    } else {
      throw RESTError.invalid("addStream or removeStream names a stream.")
    }
    return Response(status: .noContent)
  }
}

extension RecordingOptions {
  private static let resolutions: [String: (Int64, Int64)] = [
    "640x480": (640, 480), "480x640": (480, 640), "1280x720": (1_280, 720), "720x1280": (720, 1_280),
    "1920x1080": (1_920, 1_080),
    "1080x1920": (1_080, 1_920)
  ]

  /// Of the body of a request. Throws 400.
  fileprivate init(_ body: JSON) throws(RESTError) {
    func text(_ key: StaticString) throws(RESTError) -> String? {
      guard let value = body[key], !value.isNull else { return nil }
      guard let text = value.string else { throw .invalid("\(key) is a text.") }
      return text
    }
    func bool(_ key: StaticString) throws(RESTError) -> Bool {
      guard let value = body[key], !value.isNull else { return true }
      guard let bool = value.bool else { throw .invalid("\(key) is true or false.") }
      return bool
    }
    self.init()
    name = ByteString(try text("name") ?? "")
    guard name.string.unicodeScalars.count <= CallLimits.recordingNameCharacters else {
      throw .invalid("name has at most \(CallLimits.recordingNameCharacters) characters.")
    }
    (hasAudio, hasVideo) = (try bool("hasAudio"), try bool("hasVideo"))
    guard hasAudio || hasVideo else { throw .invalid("hasAudio or hasVideo is true.") }
    guard let isComposed = ["composed": true, "individual": false][try text("outputMode") ?? "composed"],
      let isManual = ["auto": false, "manual": true][try text("streamMode") ?? "auto"]
    else { throw .invalid("outputMode is composed or individual, streamMode auto or manual.") }
    (self.isComposed, self.isManual) = (isComposed, isManual)
    guard let resolution = try text("resolution") else { return }
    guard isComposed, let (width, height) = Self.resolutions[resolution] else {
      throw .invalid("resolution is of composed archives, such as 640x480 or 1280x720.")
    }
    (self.width, self.height) = (width, height)
  }
}
