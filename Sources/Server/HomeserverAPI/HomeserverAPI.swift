import EventLoop
import HTTPServer
import Homeserver
import Telemetry

/// The Client-Server API over HTTP: one file of routes per endpoint group, each of which authenticates, bounds, parses,
/// calls the domain and answers. No policy.
package enum HomeserverAPI {
  /// Everything a homeserver answers to, ready for `HTTPServer` or for `Router.respond(to:)`.
  ///
  /// - Parameter pool: reads files; without one there is neither media nor a web client.
  package static func router(
    for homeserver: Homeserver, _ configuration: APIConfiguration = APIConfiguration(), pool: BlockingPool? = nil
  ) -> Router {
    var routes = Routes(homeserver, configuration)
    addRoutes(to: &routes, configuration)
    if let pool { routes.addMediaRoutes(pool: pool) }
    var router = routes.router
    if let site = StaticSite(configuration, pool: pool) { site.mount(on: &router) }
    return router
  }

  /// The answer to what is no request that a route could see: `HTTPServerConfiguration.refusal`.
  package static func refusal(_ status: Status) -> Response {
    ErrorAnswers.response(
      status == 413
        ? .tooLarge("The body is too long.") : .unknown(status: Int(status.code), status.reason.description))
  }

  /// One line per group of endpoints.
  private static func addRoutes(to routes: inout Routes, _ configuration: APIConfiguration) {
    routes.addServerRoutes(configuration)
    routes.addRegistrationRoutes()
    routes.addLoginRoutes()
    routes.addTokenRoutes()
    routes.addPasswordRoutes()
    routes.addIdentityRoutes()
    routes.addSingleSignOnRoutes()
    routes.addPageFiles()
    routes.addAccountAdministrationRoutes()
    routes.addProfileRoutes()
    routes.addDeviceRoutes()
    routes.addKeyRoutes()
    routes.addToDeviceRoutes()
    routes.addDehydratedDeviceRoutes()
    routes.addKeyBackupRoutes()
    routes.addPreviewRoutes()
    routes.addAccountDataRoutes()
    routes.addFilterRoutes()
    routes.addPushRuleRoutes()
    routes.addPushRoutes()
    routes.addAppServiceRoutes()
    routes.addThirdPartyRoutes()
    routes.addRoomRoutes()
    routes.addMembershipRoutes()
    routes.addUpgradeRoutes()
    routes.addUnservedRoutes()
    routes.addEventRoutes()
    routes.addTimelineRoutes()
    routes.addMemberRoutes()
    routes.addSyncRoutes()
    routes.addSlidingSyncRoutes()
    routes.addPresenceRoutes()
    routes.addUnreadRoutes()
    routes.addTypingRoutes()
    routes.addReceiptRoutes()
    routes.addRelationRoutes()
    routes.addSearchRoutes()
    routes.addReadCountRoutes()
    routes.addDirectRoomRoutes()
    routes.addBulkRoutes()
    routes.addDelayedEventRoutes()
    routes.addDirectoryRoutes()
    routes.addSpaceRoutes()
    routes.addReportRoutes()
    routes.addAdministrationRoutes()
    routes.addPagingRoutes()
    routes.addDiscoveryRoutes(configuration)
  }
}
