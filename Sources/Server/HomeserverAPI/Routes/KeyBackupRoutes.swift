import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// The server-side backup of room keys.
extension Routes {
  /// Bytes of keys stored at once: some 30,000 of them.
  static let backupBodyBytesLimit = 32 << 20

  mutating func addKeyBackupRoutes() {
    addVersionRoutes()
    addStoreRoutes()
    addReadRoutes()
    addDeleteRoutes()
  }

  private mutating func addVersionRoutes() {
    let backups = homeserver.keyBackups

    on(.postRoomKeysVersion) { request, session in
      let number = try await backups.create(KeyBackups.Description(request.object()), of: session.userID)
      return .json { $0.object { $0.member("version", String(number)) } }
    }

    on(.getRoomKeysVersionCurrent) { _, session in
      .json(try await backups.current(of: session.userID))
    }

    on(.getRoomKeysVersion) { request, session in
      .json(try await backups.version(request.path("version"), of: session.userID))
    }

    on(.putRoomKeysVersion) { request, session in
      try await backups.update(
        request.path("version"), KeyBackups.Description(request.object()), of: session.userID)
      return .emptyObject
    }

    on(.deleteRoomKeysVersion) { request, session in
      try await backups.delete(request.path("version"), of: session.userID)
      return .emptyObject
    }
  }

  private mutating func addStoreRoutes() {
    let backups = homeserver.keyBackups

    on(.putRoomKeys, bodyLimit: Self.backupBodyBytesLimit) { request, session in
      let version = try request.query().required("version")
      let keys = try BackedUpKey.all(inRooms: await request.object())
      return .json(try await backups.store(keys, in: version, of: session.userID))
    }

    on(.putRoomKeysByRoomId, bodyLimit: Self.backupBodyBytesLimit) { request, session in
      let version = try request.query().required("version")
      let keys = try BackedUpKey.all(await request.object(), in: request.path("roomId"))
      return .json(try await backups.store(keys, in: version, of: session.userID))
    }

    on(.putRoomKeyBySessionId) { request, session in
      let version = try request.query().required("version")
      let key = try BackedUpKey(await request.object(), request.path("sessionId"), in: request.path("roomId"))
      return .json(try await backups.store([key], in: version, of: session.userID))
    }
  }

  private mutating func addReadRoutes() {
    let backups = homeserver.keyBackups

    on(.getRoomKeys) { request, session in
      let version = try request.query().required("version")
      return try await BackupAnswer(backups, version, of: session.userID, in: nil).response()
    }

    on(.getRoomKeysByRoomId) { request, session in
      let version = try request.query().required("version")
      return try await BackupAnswer(backups, version, of: session.userID, in: request.path("roomId")).response()
    }

    on(.getRoomKeyBySessionId) { request, session in
      .json(
        try await backups.key(
          request.path("sessionId"), in: request.path("roomId"), request.query().required("version"), of: session.userID))
    }
  }

  private mutating func addDeleteRoutes() {
    let backups = homeserver.keyBackups

    on(.deleteRoomKeys) { request, session in
      .json(try await backups.delete(.all, in: request.query().required("version"), of: session.userID))
    }

    on(.deleteRoomKeysByRoomId) { request, session in
      let scope = BackupScope.room(try request.path("roomId"))
      return .json(try await backups.delete(scope, in: request.query().required("version"), of: session.userID))
    }

    on(.deleteRoomKeyBySessionId) { request, session in
      let scope = BackupScope.session(try request.path("roomId"), request.path("sessionId"))
      return .json(try await backups.delete(scope, in: request.query().required("version"), of: session.userID))
    }
  }
}

extension Response {
  fileprivate static func json(_ version: KeyBackups.Version) -> Response {
    .json(capacity: version.authData.count + 256) { writer in
      writer.object { writer in
        writer.member("algorithm", version.algorithm)
        writer.member("auth_data", raw: version.authData)
        writer.member("count", version.state.count)
        writer.member("etag", String(version.state.etag))
        writer.member("version", String(version.number))
      }
    }
  }

  fileprivate static func json(_ state: KeyBackups.State) -> Response {
    .json { writer in
      writer.object { writer in
        writer.member("etag", String(state.etag))
        writer.member("count", state.count)
      }
    }
  }
}
