import JSON
import MatrixModel
import ServerQueries

/// A message of the server to all its users.
package struct Broadcast: Listed, Hashable {
  package let id: ByteString
  package let progress: TaskProgress
  package let actor: ByteString
  package let failed: Int64
  /// Milliseconds since 1970.
  package let started: Int64

  package var key: ByteString { id }

  init?(_ json: JSON) {
    guard let id = json.text("broadcast_id"), let progress = TaskProgress(json) else { return nil }
    self.id = id
    self.progress = progress
    actor = json.text("actor") ?? ""
    failed = json.integer("failed") ?? 0
    started = json.integer("started_ts") ?? 0
  }
}

extension Endpoint {
  fileprivate static let sendNotice = Endpoint(
    .put, "/_synapse/admin/v1/send_server_notice/{txnId}", .administrator, rateLimited: true)
  fileprivate static let broadcast = Endpoint(
    .post, "/_matrix/client/unstable/martlet.administration/broadcasts", .administrator, rateLimited: true)
  fileprivate static let broadcasts = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/broadcasts", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Server notices".
extension Query {
  /// - Parameter transaction: the same for a repetition, so that the user gets it once.
  package static func sendNotice(_ text: ByteString, to user: UserID, transaction: ByteString) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("user_id", user)
      writer.writeNotice(text)
    }
    return Query<Void>(.sendNotice, Endpoint.sendNotice.path(transaction), body: body)
  }

  package static func broadcast(_ text: ByteString) -> Query<Void> {
    Query<Void>(.broadcast, Endpoint.broadcast.path(), body: JSONWriter.object { $0.writeNotice(text) })
  }

  /// Those of the last days.
  package static func broadcasts() -> Query<PagedList<Broadcast>.Page> {
    Query<PagedList<Broadcast>.Page>(.broadcasts, Endpoint.broadcasts.path()) { json in
      json["broadcasts"].map { PagedList<Broadcast>.Page($0.elements.compactMap { Broadcast($0) }) }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func writeNotice(_ text: ByteString) {
    key("content")
    object { writer in
      writer.member("msgtype", "m.text")
      writer.member("body", text)
    }
  }
}
