import JSON
import MatrixModel

/// What calls need of the server. Spec: Client-Server API, "Voice over IP".
extension Query {
  /// Servers that relay media where two cannot reach each other, with short-lived credentials; without URLs where the homeserver has none.
  public static func turnServer() -> Query<TURNServer> {
    Query<TURNServer>(.getTurnServer, Endpoint.getTurnServer.path()) { TURNServer($0) }
  }
}

/// Spec: `GET /voip/turnServer`. Without its secrets in a log.
public struct TURNServer: Sendable, CustomStringConvertible {
  public let urls: [ByteString]
  public let username: ByteString?
  public let password: ByteString?

  init?(_ json: JSON) {
    guard json.isObject else { return nil }
    urls = json["uris"]?.elements.compactMap { $0.text } ?? []
    username = json.text("username")
    password = json.text("password")
  }

  public var description: String { "\(urls.count) TURN URLs" }
}
