import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// Support contacts, the server's own address, and where calls meet and how they get through.
extension Routes {
  mutating func addDiscoveryRoutes(_ configuration: APIConfiguration) {
    let (turn, clock) = (homeserver.configuration.turn, homeserver.configuration.clock)

    on(.getWellknownSupport, budget: .free) { _ in
      let support = configuration.support
      guard support.isSet else {
        throw MatrixError.notFound("The operator of this server has not named anyone to ask.")
      }
      return .json { support.write(to: &$0) }
    }

    // Spec: Server-Server API, "Resolving server names".
    on(.get, "/.well-known/matrix/server", budget: .free) { _ in
      guard let server = configuration.delegatedServer else {
        throw MatrixError.notFound("This server is reached under its own name.")
      }
      return .json { $0.object { $0.member("m.server", server) } }
    }

    on(.getTurnServer) { _, session in
      // What servers without TURN have always answered: the specification has no word for it, and clients know it.
      guard let turn else { return .emptyObject }
      guard !session.isGuest || turn.isOpenToGuests else { throw MatrixError.guestAccessForbidden() }
      let (username, password) = turn.credentials(for: session.userID, now: clock.now())
      return .json { writer in
        writer.object { writer in
          writer.member("username", username)
          writer.member("password", password)
          writer.member("ttl", turn.lifetimeSeconds)
          writer.array("uris", turn.uris) { $1.write($0) }
        }
      }
    }

    // Spec: MSC4143, "Discovery of RTC Transports". Clients in use ask by the name that the specification will have as well.
    let transports = Self.callTransports(homeserver.configuration)
    on(.getRTCTransports, alsoAt: ["/_matrix/client/v1/rtc/transports"]) { _, _ in .json(transports) }
  }

  /// The call server of this homeserver, in the form in which our clients write it into a membership; none where it serves no calls.
  private static func callTransports(_ configuration: HomeserverConfiguration) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.list("rtc_transports", configuration.servesCalls ? [configuration.serverName] : []) { server, writer in
        writer.member("type", "martlet.call")
        writer.member("server_name", server)
      }
    }
    return writer.bytes
  }
}

/// The people that users may ask for help. Spec: Client-Server API, "Getting support".
package struct SupportContacts: Sendable {
  package struct Contact: Sendable, Equatable {
    /// `m.role.admin`, `m.role.security`, or a namespaced name.
    package let role: String
    /// A user ID or an e-mail address.
    package let address: String

    package init(role: String, address: String) {
      self.role = role
      self.address = address
    }
  }

  package var contacts: [Contact] = []
  /// A URL.
  package var page: String?

  package init() {}

  var isSet: Bool { !contacts.isEmpty || page != nil }

  /// The URI of the first administrator, else of the first contact; nil if there is none.
  var adminURI: String? {
    guard let contact = contacts.first(where: { $0.role == "m.role.admin" }) ?? contacts.first else { return nil }
    let address = contact.address
    return address.utf8.first == UInt8(ascii: "@") ? "matrix:u/\(address.dropFirst())" : "mailto:\(address)"
  }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      if !contacts.isEmpty {
        writer.list("contacts", contacts) { contact, writer in
          writer.member("role", contact.role)
          if contact.address.utf8.first == UInt8(ascii: "@") {
            writer.member("matrix_id", contact.address)
          } else {
            writer.member("email_address", contact.address)
          }
        }
      }
      if let page { writer.member("support_page", page) }
    }
  }
}
