import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What the server is and can do: versions, capabilities, discovery.
extension Routes {
  mutating func addServerRoutes(_ settings: APIConfiguration) {
    let versions = Capabilities.versions(
      sendsMail: homeserver.configuration.identity.confirmsEmail, hasSupport: settings.support.isSet)
    on(.getVersions, budget: .free) { _ in .json(versions) }
    let serverName = homeserver.configuration.serverName
    on(.getWellknown, budget: .free) { request in
      // Without a setting the client comes back the way it came.
      let host = request.http.headers["Host"] ?? serverName.string
      let scheme = request.http.headers["X-Forwarded-Proto"] == "https" ? "https://" : "http://"
      let base = settings.publicBaseURL ?? scheme + host
      return .json { $0.discovery(base, settings.newRoomEncryption) }
    }
    let configuration = homeserver.configuration
    let webPushKey = homeserver.pushers.vapidKey?.publicKey
    let everyone = Capabilities.answer(configuration, webPushKey: webPushKey, isAdmin: false)
    let administrators = Capabilities.answer(configuration, webPushKey: webPushKey, isAdmin: true)
    on(.getCapabilities) { _, session in .json(session.isAdmin ? administrators : everyone) }
  }
}

extension JSONWriter {
  /// Where clients find the server, and what it asks of them. Spec: Client-Server API, "Well-known URI".
  mutating func discovery(_ base: String, _ encryption: NewRoomEncryption? = nil) {
    object { writer in
      writer.key("m.homeserver")
      writer.object { $0.member("base_url", base) }
      encryption?.write(to: &writer)
    }
  }
}
