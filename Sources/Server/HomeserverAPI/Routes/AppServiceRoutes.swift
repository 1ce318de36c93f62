import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerPush

/// What application services alone may call.
extension Routes {
  mutating func addAppServiceRoutes() {
    let (services, queries) = (homeserver.appServices, homeserver.appServiceQueries)

    on(.pingAppservice) { request, session in
      let service = try Self.service(of: session, services)
      guard service.id == request.path("appserviceId") else {
        throw MatrixError.forbidden("An application service pings itself only.")
      }
      let transactionID = try await request.optionalObject().optionalText("transaction_id")
      do {
        let milliseconds = try await queries.ping(service, transactionID: transactionID)
        return .json { $0.object { $0.member("duration_ms", milliseconds) } }
      } catch let error as AppServicePingError {
        return .json(status: Status(error.status)) { error.write(to: &$0) }
      }
    }
  }

  private static func service(of session: Session, _ services: AppServices) throws(MatrixError) -> AppService {
    guard let service = session.appService.flatMap({ services[$0] }) else {
      throw .forbidden("Only an application service may do this, with its own token.")
    }
    return service
  }
}
