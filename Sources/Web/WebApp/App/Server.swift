import ClientCore
import JSON
import Messenger
import WebHost

/// Where the homeserver is.
struct Server {
  private static let setting = "server"

  /// `scheme://host[:port]`, without a slash at the end.
  var base: String

  static var saved: Server { Server(base: Host.setting(setting) ?? Host.origin) }

  func save() { Host.setSetting(Server.setting, base.hasSameBytes(as: Host.origin) ? nil : base) }

  /// Without the scheme, for people.
  var name: String {
    for scheme in ["https://", "http://"] where base.utf8.starts(with: scheme.utf8) {
      return String(decoding: base.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)
    }
    return base
  }

  /// What a person typed as an address: `https` where they named no scheme, no path. nil for what cannot be a host.
  static func address(typed: String) -> Server? {
    let text = typed.trimmed
    var scheme = "https://"
    var rest = Array(text.utf8)
    for known in ["https://", "http://"] where text.utf8.starts(with: known.utf8) {
      scheme = known
      rest = Array(text.utf8.dropFirst(known.utf8.count))
    }
    if let slash = rest.firstIndex(of: UInt8(ascii: "/")) { rest = Array(rest[..<slash]) }
    let isHost = rest.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
        UInt8(ascii: "]"):
        true
      default: false
      }
    }
    guard !rest.isEmpty, isHost else { return nil }
    return Server(base: scheme + String(decoding: rest, as: UTF8.self))
  }

  /// The address that the server's `.well-known` names. Spec: Client-Server API, "Well-known URIs".
  static func named(inWellKnown body: [UInt8]) -> Server? {
    do throws(JSONError) {
      guard let base = try JSON.parse(body)["m.homeserver"]?["base_url"]?.string else { return nil }
      return address(typed: base)
    } catch {
      return nil
    }
  }

  /// Asks the address for its `.well-known`; without one the address itself is the server.
  func discover(_ then: @escaping (Server) -> Void) {
    let request = HostRequest(method: "GET", url: base + "/.well-known/matrix/client", timeoutMilliseconds: 8_000)
    Host.fetch(request) { response in
      then(response.status == 200 ? Server.named(inWellKnown: response.body) ?? self : self)
    }
  }
}
