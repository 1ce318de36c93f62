import Addresses
import Homeserver
import MediaRouter

/// What an operator decides about calls.
package struct CallConfiguration: Sendable {
  /// Where media arrives, by UDP. Port 0 takes any.
  package var address: TransportAddress
  /// By which others reach this machine, the best first; empty where it is reached by its own addresses.
  package var announced: [IPAddress] = []
  /// A TURN server for clients that cannot reach the port; nil where there is none.
  package var turn: TURNServer?

  package init(address: TransportAddress) { self.address = address }
}
