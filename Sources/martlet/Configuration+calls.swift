import Addresses
import CallServer
import HTTPServer
import Homeserver
import MediaRouter
import Telemetry

extension Configuration {
  /// The call server with its port bound; nil where calls are off. Throws `address`.
  func callServer(_ projects: CallProjects, for homeserver: Homeserver) throws -> CallServer? {
    guard calls.isEnabled else { return nil }
    let clock = homeserver.configuration.clock
    let sessions = CallSessions(database: homeserver.database, clock: clock)
    do {
      guard let address = try SocketAddress.resolve(callBind.description).first else { return nil }
      var configuration = CallConfiguration(address: TransportAddress(address.ip, port: address.port))
      configuration.announced = calls.publicAddresses
      configuration.turn = turn.server
      return try CallServer(configuration, projects: projects, sessions: sessions, clock: clock, log: Log("calls"))
    } catch {
      throw StartError.address(setting: "calls.bind", callBind, reason: "\(error)")
    }
  }
}
