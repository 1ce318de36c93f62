import Addresses
import CallServer
import EventLoop
import HTTPServer
import Homeserver
import MediaRouter
import ServerDirectory

extension Configuration {
  /// The number of threads that forward media. By default they leave one processor for everything else.
  var callWorkers: Int { calls.workers ?? max(1, min(MediaWorkers.limit, EventLoopGroup.processorCount - 1)) }

  /// Whether the call server accepts media by TCP: if `calls.tcp` is true, and neither HTTP nor TURN uses one of its ports.
  private var takesStreams: Bool {
    let others = bind + metricsBind + [turn.bind, turn.tls.bind].compactMap { $0 }
    return calls.takesTCP && (callBind.port == 0 || !others.contains { callPorts.contains(Int($0.port)) })
  }

  /// The ports of the workers, one for each.
  private var callPorts: Range<Int> { Int(callBind.port)..<(Int(callBind.port) + callWorkers) }

  /// Describes a contradiction between the settings of calls; nil if there is none.
  var callContradiction: String? {
    guard calls.isEnabled, callBind.port != 0, callPorts.upperBound > 65_536 else { return nil }
    return "calls.workers is \(callWorkers), but there are too few ports from \(callBind.port) (calls.bind) to 65535"
  }

  /// Returns the call server with its ports bound. Throws `address`.
  ///
  /// - Parameters:
  ///   - changes: receives the changes of `homeserver`.
  ///   - turn: the TURN server for its clients; nil if there is none.
  func callServer(
    _ projects: CallProjects, for homeserver: Homeserver, following changes: CallChanges, turn: TURNServer?
  ) throws -> CallServer {
    do {
      guard let address = try SocketAddress.resolve(callBind.description).first else {
        throw StartError.failed("the name has no address")
      }
      var configuration = CallConfiguration(address: TransportAddress(address.ip, port: address.port))
      (configuration.workers, configuration.homeTransports) = (callWorkers, calls.homeTransports)
      configuration.announced = calls.publicAddresses
      configuration.turn = turn
      configuration.takesStreams = takesStreams
      configuration.rateLimits = rateLimits
      configuration.recordingsQuotaBytes = calls.recordingsQuotaBytes == 0 ? nil : Int64(calls.recordingsQuotaBytes)
      configuration.publicBaseURL = publicBaseURL
      return try CallServer(configuration, projects: projects, for: homeserver, following: changes)
    } catch {
      throw StartError.address(setting: "calls.bind", callBind, reason: "\(error)")
    }
  }
}
