import HTTPServer
import JSON

/// Signals, and what moderators can do too.
extension CallServer {
  nonisolated func mountSignals(on router: inout Router) {
    on(.post, "/signal", &router) { request in try await self.signal(request, to: nil) }
    on(.post, "/connection/{connection}/signal", &router) { request in
      try await self.signal(request, to: try request.path("connection"))
    }
  }

  /// `{"type": …, "data": …}`.
  private nonisolated func signal(_ request: RESTRequest, to connection: ConnectionID?) async throws -> Response {
    let id = try await session(of: request)
    let body = try await request.object()
    let signal = try CallSignal(kind: body["type"], data: body["data"])
    try await act(in: id) { (state, now) throws(CallRefusal) in try state.signal(signal, to: connection, now) }
    return Response(status: .noContent)
  }

  nonisolated func mountModeration(on router: inout Router) {
    on(.delete, "/connection/{connection}", &router) { request in
      let (id, connection): (SessionID, ConnectionID) = (try await self.session(of: request), try request.path("connection"))
      try await self.act(in: id) { (state, _) throws(CallRefusal) in try state.disconnect(connection) }
      return Response(status: .noContent)
    }

    on(.post, "/stream/{stream}/mute", &router) { request in
      let (id, stream): (SessionID, StreamID) = (try await self.session(of: request), try request.path("stream"))
      try await self.act(in: id) { (state, _) throws(CallRefusal) in try state.mute(stream) }
      return self.project(request.project)
    }

    on(.post, "/mute", &router) { request in
      let id = try await self.session(of: request)
      let (isActive, except) = try Self.muting(try await request.object())
      try await self.act(in: id) { (state, _) throws(CallRefusal) in state.muteAll(isActive, except: except) }
      return self.project(request.project)
    }
  }

  /// `{"active": true, "excludedStreamIds": […]}`; Python's SDK says `excludedStreams`.
  private static func muting(_ body: JSON) throws(RESTError) -> (isActive: Bool, except: Set<StreamID>) {
    guard let isActive = body["active"]?.bool else { throw .invalid("active is true or false.") }
    var except: Set<StreamID> = []
    if let list = body["excludedStreamIds"] ?? body["excludedStreams"], !list.isNull {
      guard list.isArray, list.count <= CallLimits.streams else { throw .invalid("excludedStreamIds is a list of streams.") }
      for element in list.elements { StreamID(element).map { _ = except.insert($0) } }
    }
    return (isActive, except)
  }

  /// What OpenTok answers to a mute: the project.
  private nonisolated func project(_ id: ProjectID) -> Response {
    let project = projects[id]
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("applicationId", id)
      writer.member("status", "ACTIVE")
      writer.member("name", project?.name ?? "")
      writer.member("environment", "standard")
      writer.member("createdAt", project?.created ?? 0)
    }
    return .json(writer.bytes)
  }
}
