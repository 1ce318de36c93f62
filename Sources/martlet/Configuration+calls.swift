import Addresses
import CallServer
import HTTPServer
import Homeserver
import MediaRouter

extension Configuration {
  /// The call server with its port bound; nil where calls are off. Throws `address`.
  func callServer(_ projects: CallProjects, for homeserver: Homeserver) throws -> CallServer? {
    guard calls.isEnabled else { return nil }
    do {
      guard let address = try SocketAddress.resolve(callBind.description).first else { return nil }
      var configuration = CallConfiguration(address: TransportAddress(address.ip, port: address.port))
      configuration.announced = calls.publicAddresses
      configuration.turn = turn.server
      configuration.rateLimits = rateLimits
      return try CallServer(configuration, projects: projects, for: homeserver)
    } catch {
      throw StartError.address(setting: "calls.bind", callBind, reason: "\(error)")
    }
  }
}
