import JSON
import MatrixModel
import ServerQueries

/// How much somebody has uploaded.
package struct MediaUsage: Listed, Hashable {
  package let user: UserID
  package let name: ByteString?
  package let files: Int64
  package let bytes: Int64

  package var key: ByteString { user.text }

  init?(_ json: JSON) {
    guard let user = UserID(json["user_id"]) else { return nil }
    self.user = user
    name = json.text("displayname")
    files = json.integer("media_count") ?? 0
    bytes = json.integer("media_length") ?? 0
  }
}

/// A file that somebody uploaded.
package struct AdministeredFile: Listed, Hashable {
  package let id: ByteString
  package let type: ByteString
  package let name: ByteString?
  package let bytes: Int64
  /// Milliseconds since 1970.
  package let created: Int64
  package let isQuarantined: Bool

  package var key: ByteString { id }

  init?(_ json: JSON) {
    guard let id = json.text("media_id") else { return nil }
    self.id = id
    type = json.text("media_type") ?? ""
    name = json.text("upload_name")
    bytes = json.integer("media_length") ?? 0
    created = json.integer("created_ts") ?? 0
    isQuarantined = json.text("quarantined_by") != nil
  }
}

extension Endpoint {
  fileprivate static let usage = Endpoint(.get, "/_synapse/admin/v1/statistics/users/media", .administrator, rateLimited: true)
  fileprivate static let files = Endpoint(.get, "/_synapse/admin/v1/users/{userId}/media", .administrator, rateLimited: true)
  fileprivate static let quarantine = Endpoint(
    .post, "/_synapse/admin/v1/media/quarantine/{serverName}/{mediaId}", .administrator, rateLimited: true)
  fileprivate static let release = Endpoint(
    .post, "/_synapse/admin/v1/media/unquarantine/{serverName}/{mediaId}", .administrator, rateLimited: true)
  fileprivate static let quarantineAll = Endpoint(
    .post, "/_synapse/admin/v1/user/{userId}/media/quarantine", .administrator, rateLimited: true)
  fileprivate static let deleteFile = Endpoint(
    .delete, "/_synapse/admin/v1/media/{serverName}/{mediaId}", .administrator, rateLimited: true)
  fileprivate static let deleteOld = Endpoint(.post, "/_synapse/admin/v1/media/delete", .administrator, rateLimited: true)
}

/// Documentation/Administration.md, "Over HTTP".
extension Query {
  /// Those who have uploaded most first.
  package static func mediaUsage(
    matching search: ByteString, from: Int64?, limit: Int
  ) -> Query<PagedList<MediaUsage>.Page> {
    let parameters = URLQuery().adding("search_term", search.isEmpty ? nil : search).adding("limit", limit).adding("from", from)
      .adding("order_by", "media_length" as ByteString).adding("dir", "b" as ByteString)
    return Query<PagedList<MediaUsage>.Page>(.usage, Endpoint.usage.path(), parameters: parameters) { json in
      json.page("users", from: from, total: "total") { MediaUsage($0) }
    }
  }

  /// The newest first.
  package static func files(of user: UserID, from: Int64?, limit: Int) -> Query<PagedList<AdministeredFile>.Page> {
    let parameters = URLQuery().adding("limit", limit).adding("from", from)
    return Query<PagedList<AdministeredFile>.Page>(.files, Endpoint.files.path(user.text), parameters: parameters) { json in
      json.page("media", from: from, total: "total") { AdministeredFile($0) }
    }
  }

  /// While a file is in quarantine nobody gets it.
  package static func quarantine(_ file: ByteString, of server: ServerName, _ isOn: Bool) -> Query<Void> {
    let endpoint: Endpoint = isOn ? .quarantine : .release
    return Query<Void>(endpoint, endpoint.path(server.text, file), body: Array("{}".utf8))
  }

  /// All files of somebody. The answer is how many.
  package static func quarantineFiles(of user: UserID) -> Query<Int64> {
    Query<Int64>(.quarantineAll, Endpoint.quarantineAll.path(user.text), body: Array("{}".utf8)) {
      $0.integer("num_quarantined")
    }
  }

  package static func deleteFile(_ file: ByteString, of server: ServerName) -> Query<Void> {
    Query<Void>(.deleteFile, Endpoint.deleteFile.path(server.text, file))
  }

  /// Files that were uploaded before a time in milliseconds since 1970, but no profile pictures. The answer is how many.
  package static func deleteFiles(before time: Int64) -> Query<Int64> {
    Query<Int64>(
      .deleteOld, Endpoint.deleteOld.path(), parameters: URLQuery().adding("before_ts", time).adding("keep_profiles", true),
      body: Array("{}".utf8)
    ) { $0.integer("total") }
  }
}
