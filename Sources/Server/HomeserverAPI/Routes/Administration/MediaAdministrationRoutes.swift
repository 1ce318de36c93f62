import HTTPServer
import JSON
import MatrixModel
import ServerMedia

/// What users uploaded: listed, withdrawn, deleted.
extension Routes {
  mutating func addMediaAdministrationRoutes() {
    addUserMediaRoutes()
    addQuarantineRoutes()
    addMediaFileRoutes()
    addMediaDeletionByAgeRoutes()
  }

  private mutating func addUserMediaRoutes() {
    let (accounts, audit, moderation) = (homeserver.accounts, homeserver.audit, homeserver.mediaModeration)
    let server = homeserver.configuration.serverName

    onAdmin(.get, Self.administration + "/v1/users/{userId}/media") { request, _ in
      let userID = try request.localUser("userId", of: server)
      _ = try await accounts.existing(userID)
      let parameters = try request.query()
      let offset = try parameters.offset()
      let page = try await moderation.list(of: userID, parameters, offset: offset)
      return .json(capacity: page.records.count * 256 + 64) { writer in
        writer.object { writer in
          writer.list("media", page.records) { Self.write($0, to: &$1) }
          writer.member("total", page.total)
          writer.next("next_token", after: page.records.count, from: offset, of: page.total)
        }
      }
    }

    onAdmin(.delete, Self.administration + "/v1/users/{userId}/media") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      _ = try await accounts.existing(userID)
      let parameters = try request.query()
      let records = try await moderation.list(of: userID, parameters, offset: try parameters.offset()).records
      try await audit.record(
        "media.delete", of: userID.string, by: administrator, details: { $0.member("count", records.count) }
      ) { for record in records { try await moderation.delete(record.mediaID) } }
      return Self.deleted(records.map(\.mediaID))
    }
  }

  private mutating func addQuarantineRoutes() {
    let (accounts, audit, moderation) = (homeserver.accounts, homeserver.audit, homeserver.mediaModeration)
    let (own, server) = (homeserver.configuration.serverName, homeserver.configuration.serverName)
    let path = Self.administration + "/v1"

    onAdmin(.post, path + "/media/quarantine/{serverName}/{mediaId}") { request, administrator in
      let mediaID = try request.mediaID(of: own)
      let count = try await audit.record("media.quarantine", of: mediaID.string, by: administrator) {
        try await moderation.quarantine(mediaID, by: administrator.userID)
      }
      return .json { $0.object { $0.member("num_quarantined", count) } }
    }

    onAdmin(.post, path + "/media/unquarantine/{serverName}/{mediaId}") { request, administrator in
      let mediaID = try request.mediaID(of: own)
      try await audit.record("media.unquarantine", of: mediaID.string, by: administrator) {
        _ = try await moderation.unquarantine(mediaID)
      }
      return .emptyObject
    }

    onAdmin(.post, path + "/user/{userId}/media/quarantine") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let count = try await audit.record("media.quarantine", of: userID.string, by: administrator) {
        _ = try await accounts.existing(userID)
        return try await moderation.quarantine(allOf: userID, by: administrator.userID)
      }
      return .json { $0.object { $0.member("num_quarantined", count) } }
    }

    for (verb, isProtected) in [("protect", true), ("unprotect", false)] {
      onAdmin(.post, path + "/media/\(verb)/{mediaId}") { request, administrator in
        let mediaID = request.path("mediaId")
        try await audit.record("media.\(verb)", of: mediaID.string, by: administrator) {
          try await moderation.protect(mediaID, isProtected)
        }
        return .emptyObject
      }
    }
  }

  private mutating func addMediaFileRoutes() {
    let (audit, moderation, own) = (homeserver.audit, homeserver.mediaModeration, homeserver.configuration.serverName)
    let path = Self.administration + "/v1/media/{serverName}/{mediaId}"

    onAdmin(.get, path) { request, _ in
      let record = try await moderation.record(try request.mediaID(of: own))
      return .json { writer in
        writer.object { writer in
          writer.key("media_info")
          writer.object { writer in
            writer.member("media_origin", own)
            writer.member("user_id", orNull: record.userID?.text)
            Self.write(record, to: &writer)
          }
        }
      }
    }

    onAdmin(.delete, path) { request, administrator in
      let mediaID = try request.mediaID(of: own)
      try await audit.record("media.delete", of: mediaID.string, by: administrator) { try await moderation.delete(mediaID) }
      return Self.deleted([mediaID])
    }
  }

  /// By age and size; the second path is the one before 2023.
  private mutating func addMediaDeletionByAgeRoutes() {
    let (audit, moderation) = (homeserver.audit, homeserver.mediaModeration)

    for path in ["/v1/media/delete", "/v1/media/{serverName}/delete"] {
      onAdmin(.post, Self.administration + path) { request, administrator in
        let parameters = try request.query()
        guard let before = try parameters.integer("before_ts") else { throw MatrixError.missingParameter("before_ts") }
        let size = try parameters.integer("size_gt") ?? 0
        let keeps = try parameters.bool("keep_profiles") ?? true
        let count = try await audit.record(
          "media.delete", of: "", by: administrator,
          details: { writer in
            writer.member("before_ts", before)
            writer.member("size_gt", size)
            writer.member("keep_profiles", keeps)
          }
        ) { try await moderation.delete(before: before, largerThan: size, keepsAvatars: keeps) }
        return .json { writer in
          writer.object { writer in
            writer.key("deleted_media")
            writer.array { _ in }
            writer.member("total", count)
          }
        }
      }
    }
  }

  private static func deleted(_ mediaIDs: [ByteString]) -> Response {
    .json { writer in
      writer.object { writer in
        writer.array("deleted_media", mediaIDs) { $1.write($0) }
        writer.member("total", mediaIDs.count)
      }
    }
  }

  private static func write(_ record: MediaRecord, to writer: inout JSONWriter) {
    writer.member("media_id", record.mediaID)
    writer.member("media_type", record.contentType)
    writer.member("media_length", record.bytes)
    writer.member("upload_name", orNull: record.fileName)
    writer.member("created_ts", record.created)
    writer.member("last_access_ts", orNull: nil as Int64?)
    writer.member("quarantined_by", orNull: record.quarantinedBy.map { ByteString($0) })
    writer.member("safe_from_quarantine", record.isProtected)
  }
}

extension APIRequest {
  /// The media ID in a path that names this server. Throws `M_NOT_FOUND` for others: nothing of theirs is here.
  fileprivate func mediaID(of own: ServerName) throws -> ByteString {
    guard path("serverName") == own.text else { throw MatrixError.notFound("There is no such content.") }
    return path("mediaId")
  }
}

extension MediaModeration {
  /// By the parameters `order_by`, `dir` and `limit`; the newest first where there are none. Throws `M_INVALID_PARAM`.
  fileprivate func list(of userID: UserID, _ parameters: QueryParameters, offset: Int64) async throws -> (
    records: [MediaRecord], total: Int64
  ) {
    let name = parameters.text("order_by")
    guard let order = name.map({ Order(rawValue: $0.string) }) ?? .created else {
      throw MatrixError.invalidParameter("'order_by' is 'created_ts' or 'media_length'.")
    }
    return try await list(
      of: userID, orderedBy: order, descending: try parameters.isBackwards(default: name == nil), offset: offset,
      limit: try parameters.limit())
  }
}
