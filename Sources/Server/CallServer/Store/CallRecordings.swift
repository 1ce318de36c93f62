import Database
import Homeserver
import JSON
import MatrixModel

/// The rows of recordings. What was recorded lies in files.
package final class CallArchives: Sendable {
  private let database: Database

  package init(database: Database) { self.database = database }

  package func insert(_ archive: Archive) async throws {
    let options = archive.options
    try await database.write { tx in
      _ = try tx.execute(
        """
        INSERT INTO call_archive(archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created,
          status, reason, duration, bytes, main_file)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        """, archive.id, archive.project, archive.session, options.name, options.hasAudio, options.hasVideo, options.isComposed,
        options.isManual, options.width, options.height, archive.created, ByteString(archive.status.rawValue), archive.reason,
        archive.durationMilliseconds, archive.bytes, archive.mainFile)
    }
  }

  /// What changes in a recording's life; nothing where it was deleted meanwhile.
  package func update(_ archive: Archive) async throws {
    try await database.write { tx in
      _ = try tx.execute(
        "UPDATE call_archive SET status = $2, reason = $3, duration = $4, bytes = $5, main_file = $6 WHERE archive = $1",
        archive.id, ByteString(archive.status.rawValue), archive.reason, archive.durationMilliseconds, archive.bytes,
        archive.mainFile)
    }
  }

  /// That it was asked to end; nothing where what came of it is known already.
  package func stop(_ id: ArchiveID, durationMilliseconds: Int64) async throws {
    try await database.write { tx in
      _ = try tx.execute(
        "UPDATE call_archive SET status = 'stopped', duration = $2 WHERE archive = $1 AND status = 'started'", id,
        durationMilliseconds)
    }
  }

  package func delete(_ id: ArchiveID) async throws {
    try await database.write { tx in _ = try tx.execute("DELETE FROM call_archive WHERE archive = $1", id) }
  }

  package func archive(_ id: ArchiveID) async throws -> Archive? {
    try await database.read { tx in
      try tx.first(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE archive = $1
        """, id, row: Self.archive)
    }
  }

  /// The newest first, and how many there are in all.
  ///
  /// - Parameter session: nil for those of all of the project's sessions.
  package func list(
    of project: ProjectID, session: SessionID?, offset: Int64, count: Int64
  ) async throws -> (total: Int64, archives: [Archive]) {
    try await database.read { tx in
      let name = session?.text ?? ""
      let total = try tx.first(
        "SELECT COUNT(*) FROM call_archive WHERE project = $1 AND ($2 = '' OR session = $2)", project, name
      ) { $0.integer(0) }
      let archives = try tx.all(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE project = $1 AND ($2 = '' OR session = $2)
        ORDER BY created DESC, archive LIMIT $4 OFFSET $3
        """, project, name, offset, count, row: Self.archive)
      return (total ?? 0, archives)
    }
  }

  package func all(of project: ProjectID) async throws -> [Archive] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE project = $1
        """, project, row: Self.archive)
    }
  }

  /// Those that an earlier process did not bring to an end.
  package func unfinished() async throws -> [Archive] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE status IN ('started', 'stopped') ORDER BY created, archive
        """, row: Self.archive)
    }
  }

  /// Bytes of all that have ended, by project.
  package func bytes() async throws -> [ProjectID: Int64] {
    try await database.read { tx in
      let sums = try tx.all(
        """
        SELECT project, COALESCE(SUM(bytes), 0) FROM call_archive WHERE status NOT IN ('started', 'stopped')
        GROUP BY project HAVING SUM(bytes) > 0
        """
      ) { (project: $0.identifier(0) as ProjectID, bytes: $0.integer(1)) }
      return Dictionary(uniqueKeysWithValues: sums.map { ($0.project, $0.bytes) })
    }
  }

  /// Those that recorded nothing and began before.
  package func failed(before time: Int64) async throws -> [ArchiveID] {
    try await database.read { tx in
      try tx.all("SELECT archive FROM call_archive WHERE status = 'failed' AND created < $1", time) { $0.identifier(0) }
    }
  }

  private static func archive(_ row: Row) -> Archive {
    var options = ArchiveOptions()
    options.name = ByteString(decoding: row.blob(3))
    (options.hasAudio, options.hasVideo) = (row.bool(4), row.bool(5))
    (options.isComposed, options.isManual) = (row.bool(6), row.bool(7))
    (options.width, options.height) = (row.integer(8), row.integer(9))
    return Archive(
      id: row.identifier(0), project: row.identifier(1), session: row.identifier(2), options: options, created: row.integer(10),
      status: Archive.Status(rawValue: row.text(11)) ?? .failed, reason: ByteString(decoding: row.blob(12)),
      durationMilliseconds: row.integer(13), bytes: row.integer(14), mainFile: ByteString(decoding: row.blob(15)))
  }
}
