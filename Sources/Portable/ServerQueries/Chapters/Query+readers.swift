import JSON
import MatrixModel

extension Query {
  /// Returns whether a user has a device that encrypted messages can be sent to. Spec: Client-Server API, `POST /_matrix/client/v3/keys/query`.
  package static func canRead(_ user: UserID) -> Query<Bool> {
    let body = JSONWriter.object { writer in
      writer.key("device_keys")
      writer.object { writer in
        writer.key(user.text)
        writer.array { _ in }
      }
    }
    return Query<Bool>(.queryKeys, Endpoint.queryKeys.path(), body: body) { json in
      json["device_keys"].map { $0[user.text]?.count ?? 0 > 0 }
    }
  }
}
