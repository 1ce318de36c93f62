import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What the server is and can do: versions, capabilities, discovery.
extension Routes {
  mutating func addServerRoutes(_ settings: APIConfiguration) {
    on(.getVersions, budget: .free) { _ in .json(Capabilities.versions) }
    let serverName = homeserver.configuration.serverName
    on(.getWellknown, budget: .free) { request in
      // Without a setting the client comes back the way it came.
      let host = request.http.headers["Host"] ?? serverName.string
      let scheme = request.http.headers["X-Forwarded-Proto"] == "https" ? "https://" : "http://"
      let base = settings.publicBaseURL ?? scheme + host
      return .json { writer in
        writer.object { writer in
          writer.key("m.homeserver")
          writer.object { $0.member("base_url", base) }
        }
      }
    }
    let configuration = homeserver.configuration
    let everyone = Capabilities.answer(configuration, isAdmin: false)
    let administrators = Capabilities.answer(configuration, isAdmin: true)
    on(.getCapabilities) { _, session in .json(session.isAdmin ? administrators : everyone) }
  }

  /// Each later version only adds to the ones before it.
  private static let versions: [UInt8] = {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("versions")
      writer.array { writer in for minor in 1...19 { writer.write("v1.\(minor)") } }
      writer.key("unstable_features")
      writer.object { $0.member("org.matrix.msc3814", true) }
    }
    return writer.bytes
  }()

  private static func capabilities(_ configuration: HomeserverConfiguration, isAdmin: Bool = false) -> [UInt8] {
    let fields = configuration.profileFields
  private static func capabilities(_ configuration: HomeserverConfiguration) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("capabilities")
      writer.object { writer in
        capability("m.change_password", true, &writer)
        capability("m.set_displayname", fields.allows("displayname"), &writer)
        capability("m.set_avatar_url", fields.allows("avatar_url"), &writer)
        writer.key("m.profile_fields")
        writer.object { write(fields, to: &$0) }
        if isAdmin {
          writer.key("m.account_moderation")
          writer.object { writer in
            writer.member("suspend", true)
            writer.member("lock", true)
          }
        }
        capability("m.3pid_changes", false, &writer)
        capability("m.get_login_token", configuration.issuesLoginTokens, &writer)
        capability("m.forget_forced_upon_leave", false, &writer)
        capability("martlet.draft", true, &writer)
        capability("martlet.paging", true, &writer)
        capability("m.get_login_token", false, &writer)
        capability("m.forget_forced_upon_leave", configuration.forgetsRoomsOnLeave, &writer)
        capability("martlet.slow_mode", true, &writer)
        capability("martlet.policy_lists", true, &writer)
        writer.key("m.room_versions")
        writer.object { writer in
          writer.member("default", configuration.defaultRoomVersion)
          writer.key("available")
          writer.object { writer in
            for version in Homeserver.roomVersions {
              writer.key(version.name)
              writer.write(version.isStable ? "stable" : "unstable")
            }
          }
        }
      }
    }
    return writer.bytes
  }

  /// Spec: Client-Server API, "`m.profile_fields` capability".
  private static func write(_ fields: Profiles.Policy, to writer: inout JSONWriter) {
    writer.member("enabled", fields.allowed?.isEmpty != true)
    if let allowed = fields.allowed {
      writer.key("allowed")
      writer.array { writer in for name in allowed { writer.write(name) } }
    } else if !fields.disallowed.isEmpty {
      writer.key("disallowed")
      writer.array { writer in for name in fields.disallowed { writer.write(name) } }
    }
  }

  private static func capability(_ name: StaticString, _ isEnabled: Bool, _ writer: inout JSONWriter) {
    writer.key(name)
    writer.object { $0.member("enabled", isEnabled) }
  }
}
