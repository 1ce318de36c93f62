import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What application services know of other networks.
extension Routes {
  mutating func addThirdPartyRoutes() {
    let networks = homeserver.thirdPartyNetworks

    on(.getProtocols) { _, _ in .json(await networks.protocols()) }

    on(.getProtocolMetadata) { request, _ in
      .json(try await networks.protocolMetadata(request.path("protocol")))
    }

    on(.queryLocationByProtocol) { request, _ in
      let fields = try request.query().allButToken()
      return .json(try await networks.find(.location, in: request.path("protocol"), fields: fields))
    }

    on(.queryUserByProtocol) { request, _ in
      let fields = try request.query().allButToken()
      return .json(try await networks.find(.user, in: request.path("protocol"), fields: fields))
    }

    on(.queryLocationByAlias) { request, _ in
      .json(try await networks.find(.location, of: try request.query().required("alias")))
    }

    on(.queryUserByID) { request, _ in
      .json(try await networks.find(.user, of: try request.query().required("userid")))
    }
  }
}
