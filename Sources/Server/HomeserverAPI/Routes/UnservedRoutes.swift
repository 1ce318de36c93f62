import HTTPServer
import MatrixModel

/// Operations of the standard that this server does not have, each with the refusal it documents.
extension Routes {
  package mutating func addUnservedRoutes() {
    // Deprecated since r0.0 in favour of `/sync`; no client in use asks for them.
    refuse(.getEvents, "The event stream of old is not served; use '/sync'.")
    refuse(.initialSync, "The initial sync of old is not served; use '/sync'.")
    refuse(.roomInitialSync, "The initial sync of a room is not served; use '/messages', '/state' and '/members'.")
    refuse(.getOneEvent, "Events by ID alone are not served; use '/rooms/{roomId}/event/{eventId}'.")
    on(.getWellknownPolicy, budget: .free) { _ in throw MatrixError.notFound("This server is no policy server.") }
  }

  /// Answers `M_UNRECOGNIZED` with 404, as for an endpoint that is not implemented. Spec: "Common error codes".
  private mutating func refuse(_ endpoint: Endpoint, _ message: String) {
    on(endpoint) { _, _ in throw MatrixError(status: 404, .unrecognized, message) }
  }
}
