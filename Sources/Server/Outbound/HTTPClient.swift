import Addresses
import Telemetry

/// Requests to other servers: the only way out for HTTP.
///
/// Every request has a deadline, a size and a policy of where it may go. Nothing comes from the environment (no proxies,
/// no `.netrc`), nothing is remembered between requests (no cookies, no caches) but open connections, and those of
/// `DestinationPolicy.any` and `.publicAddresses` are kept apart: a connection is checked once, when it is opened.
package final class HTTPClient: Sendable {
  private let configuration: OutboundConfiguration
  private let policy: AddressPolicy
  private let anywhere: CurlLoop
  private let publicly: CurlLoop
  private let log: Log

  package init(_ configuration: OutboundConfiguration, log: Log) {
    self.configuration = configuration
    self.log = log
    policy = AddressPolicy(allowed: configuration.allowedNetworks, denied: configuration.deniedNetworks)
    anywhere = CurlLoop(name: "http-any", configuration)
    publicly = CurlLoop(name: "http-public", configuration)
  }

  /// Sends a request and returns the whole answer, whatever its status. A cancelled task ends its request.
  package func send(_ request: OutgoingRequest) async throws(OutboundError) -> IncomingResponse {
    let (loop, policy): (CurlLoop, AddressPolicy?) =
      switch request.destinations {
      case .any: (anywhere, nil)
      case .publicAddresses: (publicly, self.policy)
      }
    let result: Result<IncomingResponse, OutboundError> = await loop.run { [configuration] in
      HTTPTransfer(request, configuration, policy: policy, $0)
    }
    if case .failure(let error) = result {
      log.debug("a request to another server failed", ["error": .text(String(describing: error))])
    }
    return try result.get()
  }

  /// Ends every request with `OutboundError.shutDown` and lets go of threads and connections.
  package func shutdown() async {
    await anywhere.stop()
    await publicly.stop()
  }
}
