import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What the server is and can do: versions, capabilities, discovery.
extension Routes {
  mutating func addServerRoutes(_ configuration: APIConfiguration) {
    on(.getVersions, budget: .free) { _ in .json(Self.versions) }
    let serverName = homeserver.configuration.serverName
    on(.getWellknown, budget: .free) { request in
      // Without a setting the client comes back the way it came.
      let host = request.http.headers["Host"] ?? serverName.string
      let scheme = request.http.headers["X-Forwarded-Proto"] == "https" ? "https://" : "http://"
      let base = configuration.publicBaseURL ?? scheme + host
      return .json { writer in
        writer.object { writer in
          writer.key("m.homeserver")
          writer.object { $0.member("base_url", base) }
        }
      }
    }
    let capabilities = Self.capabilities(defaultVersion: homeserver.configuration.defaultRoomVersion)
    on(.getCapabilities) { _, _ in .json(capabilities) }
    on(.getAccount3PIDs) { _, _ in .json(Array(#"{"threepids":[]}"#.utf8)) }
  }

  /// Each later version only adds to the ones before it.
  private static let versions: [UInt8] = {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("versions")
      writer.array { writer in for minor in 1...19 { writer.write("v1.\(minor)") } }
      writer.member("unstable_features", raw: Array("{}".utf8))
    }
    return writer.bytes
  }()

  private static func capabilities(defaultVersion: ByteString) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("capabilities")
      writer.object { writer in
        capability("m.change_password", true, &writer)
        capability("m.set_displayname", true, &writer)
        capability("m.set_avatar_url", true, &writer)
        capability("m.profile_fields", true, &writer)
        capability("m.3pid_changes", false, &writer)
        capability("m.get_login_token", false, &writer)
        capability("m.forget_forced_upon_leave", false, &writer)
        capability("martlet.paging", true, &writer)
        writer.key("m.room_versions")
        writer.object { writer in
          writer.member("default", defaultVersion)
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

  private static func capability(_ name: StaticString, _ isEnabled: Bool, _ writer: inout JSONWriter) {
    writer.key(name)
    writer.object { $0.member("enabled", isEnabled) }
  }
}
