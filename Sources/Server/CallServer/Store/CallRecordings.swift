import Database
import Homeserver
import JSON
import MatrixModel

/// The rows of recordings. What was recorded lies in files.
package final class CallRecordings: Sendable {
  private let database: Database

  package init(database: Database) { self.database = database }

  package func insert(_ recording: StoredRecording) async throws {
    let options = recording.options
    try await database.write { tx in
      try tx.execute(
        """
        INSERT INTO call_archive(archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created,
          status, reason, duration, bytes, main_file)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        """, recording.id, recording.project, recording.session, options.name, options.hasAudio, options.hasVideo,
        options.isComposed,
        options.isManual, options.width, options.height, recording.created, ByteString(recording.status.rawValue),
        recording.reason,
        recording.durationMilliseconds, recording.bytes, recording.mainFile)
    }
  }

  /// What changes in a recording's life; nothing where it was deleted meanwhile.
  package func update(_ recording: StoredRecording) async throws {
    try await database.write { tx in
      try tx.execute(
        "UPDATE call_archive SET status = $2, reason = $3, duration = $4, bytes = $5, main_file = $6 WHERE archive = $1",
        recording.id, ByteString(recording.status.rawValue), recording.reason, recording.durationMilliseconds, recording.bytes,
        recording.mainFile)
    }
  }

  /// That it was asked to end; nothing where what came of it is known already.
  package func stop(_ id: RecordingID, durationMilliseconds: Int64) async throws {
    try await database.write { tx in
      try tx.execute(
        "UPDATE call_archive SET status = 'stopped', duration = $2 WHERE archive = $1 AND status = 'started'", id,
        durationMilliseconds)
    }
  }

  package func delete(_ id: RecordingID) async throws {
    try await database.write { tx in try tx.execute("DELETE FROM call_archive WHERE archive = $1", id) }
  }

  package func recording(_ id: RecordingID) async throws -> StoredRecording? {
    try await database.read { tx in
      try tx.first(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE archive = $1
        """, id, row: Self.recording)
    }
  }

  /// The newest first, and how many there are in all.
  ///
  /// - Parameter session: nil for those of all of the project's sessions.
  package func list(
    of project: ProjectID, session: SessionID?, offset: Int64, count: Int64
  ) async throws -> (total: Int64, recordings: [StoredRecording]) {
    try await database.read { tx in
      let name = session?.text ?? ""
      let total = try tx.first(
        "SELECT COUNT(*) FROM call_archive WHERE project = $1 AND ($2 = '' OR session = $2)", project, name
      ) { $0.integer(0) }
      let recordings = try tx.all(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE project = $1 AND ($2 = '' OR session = $2)
        ORDER BY created DESC, archive LIMIT $4 OFFSET $3
        """, project, name, offset, count, row: Self.recording)
      return (total ?? 0, recordings)
    }
  }

  package func all(of project: ProjectID) async throws -> [StoredRecording] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE project = $1
        """, project, row: Self.recording)
    }
  }

  /// Those that an earlier process did not bring to an end.
  package func unfinished() async throws -> [StoredRecording] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT archive, project, session, name, has_audio, has_video, is_composed, is_manual, width, height, created, status, reason,
          duration, bytes, main_file
        FROM call_archive WHERE status IN ('started', 'stopped') ORDER BY created, archive
        """, row: Self.recording)
    }
  }

  /// Bytes of all that have ended, by project.
  package func bytes() async throws -> [ProjectID: Int64] {
    try await database.read { tx in
      let sums = try tx.all(
        """
        SELECT project, CAST(SUM(bytes) AS BIGINT) FROM call_archive WHERE status NOT IN ('started', 'stopped')
        GROUP BY project HAVING CAST(SUM(bytes) AS BIGINT) > 0
        """
      ) { (project: $0.identifier(0) as ProjectID, bytes: $0.integer(1)) }
      return Dictionary(uniqueKeysWithValues: sums.map { ($0.project, $0.bytes) })
    }
  }

  /// Those that recorded nothing and began before.
  package func failed(before time: Int64) async throws -> [RecordingID] {
    try await database.read { tx in
      try tx.all("SELECT archive FROM call_archive WHERE status = 'failed' AND created < $1", time) { $0.identifier(0) }
    }
  }

  private static func recording(_ row: Row) -> StoredRecording {
    var options = RecordingOptions()
    options.name = ByteString(decoding: row.blob(3))
    (options.hasAudio, options.hasVideo) = (row.bool(4), row.bool(5))
    (options.isComposed, options.isManual) = (row.bool(6), row.bool(7))
    (options.width, options.height) = (row.integer(8), row.integer(9))
    return StoredRecording(
      id: row.identifier(0), project: row.identifier(1), session: row.identifier(2), options: options, created: row.integer(10),
      status: StoredRecording.Status(rawValue: row.text(11)) ?? .failed, reason: ByteString(decoding: row.blob(12)),
      durationMilliseconds: row.integer(13), bytes: row.integer(14), mainFile: ByteString(decoding: row.blob(15)))
  }
}
