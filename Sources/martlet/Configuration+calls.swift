import Addresses
import CallServer
import EventLoop
import HTTPServer
import Homeserver
import MediaRouter
import ServerDirectory

extension Configuration {
  /// Threads that media goes through: one processor is left for all else.
  var callWorkers: Int { calls.workers ?? max(1, min(MediaWorkers.limit, EventLoopGroup.processorCount - 1)) }

  /// Whether media may come by TCP: where HTTP has none of the ports already.
  private var takesStreams: Bool {
    let others = bind + metricsBind + [turn.bind, turn.tls.bind].compactMap { $0 }
    return calls.takesTCP && (callBind.port == 0 || !others.contains { callPorts.contains(Int($0.port)) })
  }

  /// One for each worker.
  private var callPorts: Range<Int> { Int(callBind.port)..<(Int(callBind.port) + callWorkers) }

  /// What the settings of calls contradict; nil if all is well.
  var callContradiction: String? {
    guard calls.isEnabled, callBind.port != 0, callPorts.upperBound > 65_536 else { return nil }
    return "calls.workers is \(callWorkers), but there are not so many ports from \(callBind.port) on (calls.bind)"
  }

  /// The call server with its ports bound. Throws `address`.
  ///
  /// - Parameters:
  ///   - changes: the follower of `homeserver`.
  ///   - turn: where its clients find a relay.
  func callServer(
    _ projects: CallProjects, for homeserver: Homeserver, following changes: CallChanges, turn: TURNServer?
  ) throws -> CallServer {
    do {
      guard let address = try SocketAddress.resolve(callBind.description).first else {
        throw StartError.failed("it has no address")
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
