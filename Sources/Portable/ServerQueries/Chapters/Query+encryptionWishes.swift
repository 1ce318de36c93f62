import JSON
import MatrixModel

extension Query {
  /// Returns which new rooms the server wants to be encrypted. It fails with `M_NOT_FOUND` if the server announces nothing: `EncryptionWishes()`.
  /// Spec: Client-Server API, `GET /.well-known/matrix/client`.
  public static func encryptionWishes() -> Query<EncryptionWishes> {
    Query<EncryptionWishes>(.getWellknown, Endpoint.getWellknown.path()) { EncryptionWishes($0) }
  }
}

/// Which new rooms a server wants to be encrypted end to end unless their creator decides otherwise. The defaults are those of a server that
/// announces nothing.
public struct EncryptionWishes: Sendable, Hashable {
  /// Of direct chats, and rooms that only invited users can join.
  public var privateRooms = true
  /// Of rooms that anyone can join.
  public var publicRooms = false
  /// The server wants no new room to be encrypted, whatever its creator decides.
  public var forbidsEncryption = false

  public init() {}

  /// - Parameter wellKnown: `io.element.e2ee` as Element reads it, and `martlet.encryption`.
  package init?(_ wellKnown: JSON) {
    guard wellKnown.isObject else { return nil }
    forbidsEncryption = wellKnown["io.element.e2ee"]?["force_disable"]?.bool ?? false
    privateRooms = !forbidsEncryption && wellKnown["io.element.e2ee"]?["default"]?.bool ?? true
    publicRooms = privateRooms && wellKnown["martlet.encryption"]?["new_rooms"]?.isString("all") ?? false
  }
}
