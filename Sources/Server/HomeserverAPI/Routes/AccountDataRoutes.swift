import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// Account data and tags: what users keep for themselves.
extension Routes {
  mutating func addAccountDataRoutes() {
    let accountData = homeserver.accountData
    addTagRoutes()

    on(.setAccountData) { request, session in
      try Self.requireOwn(request, session)
      try await accountData.set(request.path("type"), request.object(), of: session.userID, in: nil)
      return .emptyObject
    }

    let pushRules = homeserver.pushRules
    on(.getAccountData) { request, session in
      try Self.requireOwn(request, session)
      let type: EventType = try request.path("type")
      if type == .pushRules { return .json(try await pushRules.rules(of: session.userID).content()) }
      do {
        return .json(try await accountData.content(of: type, session.userID, in: nil))
      } catch let error as MatrixError where error.code == .notFound && type == .policyLists {
        // Our own type: without any there are none, which is no error.
        return .emptyObject
      }
    }

    on(.setAccountDataPerRoom) { request, session in
      try Self.requireOwn(request, session)
      let roomID: RoomID = try request.path("roomId")
      try await accountData.set(request.path("type"), request.object(), of: session.userID, in: roomID)
      return .emptyObject
    }

    on(.getAccountDataPerRoom) { request, session in
      try Self.requireOwn(request, session)
      return .json(
        try await accountData.content(of: request.path("type"), session.userID, in: request.path("roomId")))
    }
  }

  private mutating func addTagRoutes() {
    let tags = homeserver.tags

    on(.getRoomTags) { request, session in
      try Self.requireOwn(request, session)
      return .json(try await tags.content(of: session.userID, in: request.path("roomId")))
    }

    on(.setRoomTag) { request, session in
      try Self.requireOwn(request, session)
      let roomID: RoomID = try request.path("roomId")
      try await tags.set(request.path("tag"), request.optionalObject(), of: session.userID, in: roomID)
      return .emptyObject
    }

    on(.deleteRoomTag) { request, session in
      try Self.requireOwn(request, session)
      try await tags.remove(request.path("tag"), of: session.userID, in: request.path("roomId"))
      return .emptyObject
    }
  }
}
