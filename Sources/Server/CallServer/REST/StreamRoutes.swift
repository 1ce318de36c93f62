import HTTPServer
import JSON

/// Which streams a session has, and their layout classes.
extension CallServer {
  nonisolated func mountStreams(on router: inout Router) {
    on(.get, "/stream", &router) { request in
      let id = try await self.session(of: request)
      // A session that nobody is in has no streams.
      let streams = await self.run(id) { state, _ in state.announcedStreams } ?? []
      return Self.list(streams)
    }

    on(.get, "/stream/{stream}", &router) { request in
      let (id, name): (SessionID, StreamID) = (try await self.session(of: request), try request.path("stream"))
      guard let stream = await self.run(id, { state, _ in state.stream(name) }) ?? nil else {
        throw RESTError(.notFound, "There is no such stream.")
      }
      var writer = JSONWriter()
      Self.write(stream, to: &writer)
      return .json(writer.bytes)
    }

    on(.put, "/stream", &router) { request in
      let id = try await self.session(of: request)
      let classes = try Self.classes(try await request.object())
      let streams = try await self.act(in: id) { (state, _) throws(CallRefusal) in
        try state.setLayoutClasses(classes)
        return state.announcedStreams
      }
      return Self.list(streams)
    }
  }

  private static func list(_ streams: [CallStream]) -> Response {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("count", streams.count)
      writer.array("items", streams) { write($0, to: &$1) }
    }
    return .json(writer.bytes)
  }

  private static func write(_ stream: CallStream, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", stream.id)
      writer.member("videoType", stream.description.videoType.rawValue)
      writer.member("name", stream.description.name)
      writer.array("layoutClassList", stream.layoutClasses) { $1.write($0) }
    }
  }

  /// `{"items": [{"id": …, "layoutClassList": […]}]}`.
  private static func classes(_ body: JSON) throws(RESTError) -> [(StreamID, [ByteString])] {
    guard let items = body["items"], items.isArray, items.count <= CallLimits.streams else {
      throw .invalid("items is a list of streams.")
    }
    var classes: [(StreamID, [ByteString])] = []
    for item in items.elements {
      guard let id = StreamID(item["id"]), let list = item["layoutClassList"], list.isArray,
        list.count <= CallLimits.layoutClassesOfStream
      else { throw .invalid("An item has id and layoutClassList, of at most \(CallLimits.layoutClassesOfStream) classes.") }
      var names: [ByteString] = []
      for element in list.elements {
        guard let name = element.text else { throw .invalid("A layout class is a text.") }
        names.append(name)
      }
      guard names.reduce(0, { $0 + $1.string.unicodeScalars.count }) <= CallLimits.layoutClassesCharacters else {
        throw .invalid("The layout classes of a stream have at most \(CallLimits.layoutClassesCharacters) characters.")
      }
      classes.append((id, names))
    }
    return classes
  }
}
