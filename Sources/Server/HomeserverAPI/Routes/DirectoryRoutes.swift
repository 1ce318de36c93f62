import HTTPServer
import JSON
import MatrixModel
import ServerDirectory
import ServerPush

/// The list of public rooms, and people in common.
extension Routes {
  mutating func addDirectoryRoutes() {
    addPublicRoomRoutes()
    addVisibilityRoutes()
    addMutualRoomRoute()
  }

  private mutating func addPublicRoomRoutes() {
    let (publicRooms, serverName) = (homeserver.publicRooms, homeserver.configuration.serverName)

    on(.getPublicRooms) { request in
      let parameters = try request.query()
      try Self.requireOwnServer(parameters, serverName)
      var query = PublicRooms.Query()
      if let limit = try parameters.integer("limit") { query.limit = Int(clamping: limit) }
      query.since = try Self.since(parameters.text("since"))
      return Self.answer(try await publicRooms.page(query))
    }

    on(.queryPublicRooms) { request, _ in
      try Self.requireOwnServer(try request.query(), serverName)
      return Self.answer(try await publicRooms.page(try Self.query(try await request.optionalObject())))
    }
  }

  private mutating func addVisibilityRoutes() {
    let (publicRooms, services) = (homeserver.publicRooms, homeserver.appServices)

    on(.getRoomVisibilityOnDirectory) { request in
      let isPublished = try await publicRooms.isPublished(try request.path("roomId"))
      return .json { $0.object { $0.member("visibility", isPublished ? "public" : "private") } }
    }

    on(.setRoomVisibilityOnDirectory) { request, session in
      let isPublished = try Self.visibility(try await request.optionalObject()) ?? true
      try await publicRooms.setPublished(isPublished, try request.path("roomId"), by: session.actor)
      return .emptyObject
    }

    on(.updateAppserviceRoomDirectoryVisibility) { request, session in
      guard let service = session.appService.flatMap({ services[$0] }) else {
        throw MatrixError.forbidden("Only application services list rooms under their networks.")
      }
      let body = try await request.object()
      guard let isListed = try Self.visibility(body) else { throw MatrixError.missingParameter("visibility") }
      try await publicRooms.setListed(
        isListed, try request.path("roomId"),
        network: ThirdPartyNetworks.instanceID(of: request.path("networkId"), service),
        by: service)
      return .emptyObject
    }
  }

  private mutating func addMutualRoomRoute() {
    let rooms = homeserver.rooms

    on(.getMutualRooms) { request, session in
      let parameters = try request.query()
      guard let other = UserID(try parameters.required("user_id")) else {
        throw MatrixError.invalidParameter("'user_id' is not a user ID.")
      }
      let from = parameters.text("from").flatMap { $0.isEmpty ? nil : $0 }
      let mutual = try await rooms.mutualRooms(of: session.userID, and: other, from: from)
      return .json { writer in
        writer.object { writer in
          writer.array("joined", mutual.rooms) { $1.write($0) }
          writer.member("count", mutual.count)
          if let next = mutual.next { writer.member("next_batch", next) }
        }
      }
    }
  }

  // MARK: Parameters

  private static func requireOwnServer(_ parameters: QueryParameters, _ own: ServerName) throws {
    guard let server = parameters.text("server"), !server.isEmpty, server != own.text else { return }
    throw MatrixError.forbidden("\(server) is another server; this server does not federate yet.")
  }

  private static func since(_ text: ByteString?) throws(MatrixError) -> PublicRooms.Token? {
    guard let text, !text.isEmpty else { return nil }
    guard let token = PublicRooms.Token(text) else {
      throw .invalidParameter("'since' is neither a 'next_batch' nor a 'prev_batch' of this server.")
    }
    return token
  }

  /// nil where it is not given.
  private static func visibility(_ body: JSON) throws(MatrixError) -> Bool? {
    guard let visibility = try body.optionalText("visibility") else { return nil }
    if visibility == "public" { return true }
    guard visibility == "private" else { throw .invalidParameter("'visibility' is 'public' or 'private'.") }
    return false
  }

  private static func query(_ body: JSON) throws(MatrixError) -> PublicRooms.Query {
    var query = PublicRooms.Query()
    if let limit = try body.optionalInteger("limit") {
      guard limit >= 0 else { throw .invalidParameter("'limit' is not negative.") }
      query.limit = Int(clamping: limit)
    }
    query.since = try since(body.optionalText("since"))
    query.list = try list(body)
    guard let filter = try body.optionalObject("filter") else { return query }
    query.term = try filter.optionalText("generic_search_term") ?? ""
    guard query.term.count <= PublicRooms.termBytesLimit else {
      throw .invalidParameter("'generic_search_term' has at most \(PublicRooms.termBytesLimit) bytes.")
    }
    query.types = try types(filter)
    return query
  }

  private static func list(_ body: JSON) throws(MatrixError) -> PublicRooms.Query.List {
    let wantsAll = try body.optionalBool("include_all_networks") ?? false
    guard let network = try body.optionalText("third_party_instance_id"), !network.isEmpty else {
      return wantsAll ? .all : .main
    }
    guard !wantsAll else {
      throw .invalidParameter("'third_party_instance_id' names one network; 'include_all_networks' asks for all.")
    }
    return .network(network)
  }

  private static func types(_ filter: JSON) throws(MatrixError) -> [ByteString?]? {
    guard let array = try filter.optionalArray("room_types") else { return nil }
    guard array.count <= PublicRooms.typesLimit else {
      throw .invalidParameter("'room_types' has at most \(PublicRooms.typesLimit) entries.")
    }
    var types: [ByteString?] = []
    for element in array.elements {
      guard element.isNull || element.isString else { throw .badJSON("'room_types' is a list of strings and null.") }
      types.append(element.text)
    }
    return types
  }

  // MARK: Answers

  private static func answer(_ page: PublicRooms.Page) -> Response {
    .json(capacity: page.rooms.count * 512 + 128) { writer in
      writer.object { writer in
        writer.list("chunk", page.rooms) { room, writer in
          writer.rawMembers(room.summary)
          writer.member("num_joined_members", room.joined)
        }
        if let next = page.next { writer.member("next_batch", next.text) }
        if let previous = page.previous { writer.member("prev_batch", previous.text) }
        writer.member("total_room_count_estimate", page.total)
      }
    }
  }
}
