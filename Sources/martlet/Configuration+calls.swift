import Addresses
import CallServer
import HTTPServer
import Homeserver
import MediaRouter

extension Configuration {
  /// Whether media may come by TCP: where HTTP does not have the port already.
  private var takesStreams: Bool {
    let others = bind + metricsBind + [turn.bind, turn.tls.bind].compactMap { $0 }
    return calls.takesTCP && (callBind.port == 0 || !others.contains { $0.port == callBind.port })
  }

  /// The call server with its port bound; nil where calls are off. Throws `address`.
  ///
  /// - Parameter turn: where its clients find a relay.
  func callServer(_ projects: CallProjects, for homeserver: Homeserver, turn: TURNServer?) throws -> CallServer? {
    guard calls.isEnabled else { return nil }
    do {
      guard let address = try SocketAddress.resolve(callBind.description).first else { return nil }
      var configuration = CallConfiguration(address: TransportAddress(address.ip, port: address.port))
      configuration.announced = calls.publicAddresses
      configuration.turn = turn
      configuration.takesStreams = takesStreams
      configuration.rateLimits = rateLimits
      configuration.recordingsQuotaBytes = calls.recordingsQuotaBytes == 0 ? nil : Int64(calls.recordingsQuotaBytes)
      configuration.publicBaseURL = publicBaseURL
      return try CallServer(configuration, projects: projects, for: homeserver)
    } catch {
      throw StartError.address(setting: "calls.bind", callBind, reason: "\(error)")
    }
  }
}
