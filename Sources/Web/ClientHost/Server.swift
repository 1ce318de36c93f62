import ClientCore
import JSON
import Messenger
import WebHost

/// Where the homeserver is.
package struct Server {
  private static let setting = "server"

  /// `scheme://host[:port]`, without a slash at the end.
  package var base: String

  package init(base: String) { self.base = base }

  package static var saved: Server { Server(base: Host.setting(setting) ?? Host.origin) }

  package func save() { Host.setSetting(Server.setting, base.hasSameBytes(as: Host.origin) ? nil : base) }

  /// Without the scheme, for people.
  package var name: String {
    let bytes = ByteString(base)
    return String(decoding: bytes.utf8.dropFirst(Server.scheme(of: bytes)?.count ?? 0), as: UTF8.self)
  }

  /// What a person typed as an address: `https` where they named no scheme, no path. nil for what cannot be a host.
  package static func address(typed: String) -> Server? {
    let text = ByteString(typed.trimmed)
    let scheme = scheme(of: text)
    let rest = text.utf8.dropFirst(scheme?.count ?? 0).prefix { $0 != UInt8(ascii: "/") }
    let isHost = rest.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
        UInt8(ascii: "]"):
        true
      default: false
      }
    }
    guard !rest.isEmpty, isHost else { return nil }
    return Server(base: (scheme?.string ?? "https://") + String(decoding: rest, as: UTF8.self))
  }

  private static func scheme(of address: ByteString) -> ByteString? {
    if address.hasPrefix("https://") { return "https://" }
    return address.hasPrefix("http://") ? "http://" : nil
  }

  /// The address that the server's `.well-known` names. Spec: Client-Server API, "Well-known URIs".
  package static func named(inWellKnown body: [UInt8]) -> Server? {
    do throws(JSONError) {
      guard let base = try JSON.parse(body)["m.homeserver"]?["base_url"]?.string else { return nil }
      return address(typed: base)
    } catch {
      return nil
    }
  }

  /// Asks the address for its `.well-known`; without one the address itself is the server.
  package func discover(_ then: @escaping (Server) -> Void) {
    let request = HostRequest(method: "GET", url: base + "/.well-known/matrix/client", timeoutMilliseconds: 8_000)
    Host.fetch(request) { response in
      then(response.status == 200 ? Server.named(inWellKnown: response.body) ?? self : self)
    }
  }
}
