import Addresses
import MediaRouter
import ServerDirectory

/// What an operator decides about calls.
package struct CallConfiguration: Sendable {
  /// Where media arrives, by UDP. Port 0 takes any; each further worker has the next port.
  package var address: TransportAddress
  /// 1 to `MediaWorkers.limit`.
  package var workers = 1
  /// Transports that a session has on its home worker before it takes others.
  package var homeTransports = CallLimits.homeTransports
  /// Whether it takes TCP too, for networks that block UDP.
  package var takesStreams = false
  /// By which others reach this machine, the best first; empty where it is reached by its own addresses.
  package var announced: [IPAddress] = []
  /// A TURN server for clients that cannot reach the port; nil if none is configured.
  package var turn: TURNServer?
  /// Whether networks that connect, and applications' servers, are held to a rate.
  package var rateLimits = true
  /// What all recordings may take up together; nil sets no limit.
  package var recordingsQuotaBytes: Int64?
  /// Where clients reach this server; nil takes what a request says in `Host`.
  package var publicBaseURL: String?

  package init(address: TransportAddress) { self.address = address }
}
