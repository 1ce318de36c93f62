import EventLoop
import HTTPServer
import Homeserver
import Telemetry

/// The Client-Server API over HTTP: one file of routes per endpoint group, each of which authenticates, bounds, parses,
/// calls the domain and answers. No policy.
package enum HomeserverAPI {
  /// Everything a homeserver answers to, ready for `HTTPServer` or for `Router.respond(to:)`.
  ///
  /// - Parameters:
  ///   - pool: reads files; without one there is neither media nor a web client.
  ///   - addMore: adds the routes of modules above.
  package static func router(
    for homeserver: Homeserver, _ configuration: APIConfiguration = APIConfiguration(), pool: BlockingPool? = nil,
    adding addMore: (inout Routes) -> Void = { _ in }
  ) -> Router {
    var routes = Routes(homeserver, configuration)
    addRoutes(to: &routes, configuration)
    addMore(&routes)
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
    routes.addDiscoveryRoutes(configuration)
    routes.addUnservedRoutes()
    addAccountRoutes(to: &routes)
    addDeviceRoutes(to: &routes)
    addRoomRoutes(to: &routes)
    addSyncRoutes(to: &routes)
    routes.addAppServiceRoutes()
    routes.addThirdPartyRoutes()
    routes.addPreviewRoutes()
    routes.addGifRoutes()
    routes.addReportRoutes()
    routes.addAdministrationRoutes(configuration)
  }

  /// Identity and login.
  private static func addAccountRoutes(to routes: inout Routes) {
    routes.addRegistrationRoutes()
    routes.addLoginRoutes()
    routes.addTokenRoutes()
    routes.addPasswordRoutes()
    routes.addIdentityRoutes()
    routes.addSingleSignOnRoutes()
    routes.addPageFiles()
    routes.addAccountAdministrationRoutes()
    routes.addProfileRoutes()
    routes.addAccountDataRoutes()
  }

  /// Devices, their keys, and what they say to each other.
  private static func addDeviceRoutes(to routes: inout Routes) {
    routes.addDeviceRoutes()
    routes.addKeyRoutes()
    routes.addToDeviceRoutes()
    routes.addDehydratedDeviceRoutes()
    routes.addKeyBackupRoutes()
  }

  /// Rooms, how one comes into them, what is said in them, how they are found.
  private static func addRoomRoutes(to routes: inout Routes) {
    routes.addRoomRoutes()
    routes.addMembershipRoutes()
    routes.addUpgradeRoutes()
    routes.addDirectRoomRoutes()
    routes.addBulkRoutes()
    routes.addInviteLinkRoutes()
    routes.addEventRoutes()
    routes.addDelayedEventRoutes()
    routes.addTimelineRoutes()
    routes.addMemberRoutes()
    routes.addPagingRoutes()
    routes.addRelationRoutes()
    routes.addSearchRoutes()
    routes.addDirectoryRoutes()
    routes.addSpaceRoutes()
  }

  /// What is new, what is read, and who is told.
  private static func addSyncRoutes(to routes: inout Routes) {
    routes.addFilterRoutes()
    routes.addSyncRoutes()
    routes.addSlidingSyncRoutes()
    routes.addPresenceRoutes()
    routes.addTypingRoutes()
    routes.addReceiptRoutes()
    routes.addReadCountRoutes()
    routes.addUnreadRoutes()
    routes.addPushRuleRoutes()
    routes.addPushRoutes()
  }
}
