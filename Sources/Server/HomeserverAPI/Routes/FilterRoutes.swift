import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// Filters kept for later.
extension Routes {
  mutating func addFilterRoutes() {
    let filters = homeserver.storedFilters

    on(.defineFilter) { request, session in
      try Self.requireOwn(request, session)
      let filterID = try await filters.store(request.object(), of: session.userID)
      return .json { $0.object { $0.member("filter_id", filterID) } }
    }

    on(.getFilter) { request, session in
      try Self.requireOwn(request, session)
      return .json(try await filters.filter(request.path("filterId"), of: session.userID))
    }
  }
}
