import JSON
import Testing

@testable import CallServer

@Suite struct CallRecordingsTests {
  private func recording(_ name: String, _ project: ProjectID, _ session: SessionID, created: Int64) -> StoredRecording {
    var options = RecordingOptions()
    (options.name, options.isComposed, options.hasVideo) = (ByteString(name), false, false)
    (options.isManual, options.width) = (true, 1_280)
    return StoredRecording(
      id: RecordingID(trusted: ByteString(name)), project: project, session: session, options: options, created: created)
  }

  @Test func `a recording is kept as it was, and changes`() async throws {
    let fixture = try ProjectFixture()
    let (project, _, session) = try await fixture.project()
    let recordings = CallRecordings(database: fixture.database)
    var kept = recording("a", project, session, created: 7)
    try await recordings.insert(kept)
    #expect(try await recordings.recording(kept.id) == kept)
    #expect(try await recordings.unfinished() == [kept])
    try await recordings.stop(kept.id, durationMilliseconds: 99)
    (kept.status, kept.durationMilliseconds) = (.stopped, 99)
    #expect(try await recordings.recording(kept.id) == kept)
    (kept.status, kept.reason, kept.bytes, kept.mainFile) = (.available, "why", 5, "x.webm")
    try await recordings.update(kept)
    // What came of it is not lost to a stop that comes after it.
    try await recordings.stop(kept.id, durationMilliseconds: 1)
    #expect(try await recordings.recording(kept.id) == kept)
    #expect(try await recordings.unfinished().isEmpty)
    #expect(try await recordings.bytes() == [project: 5])
    try await recordings.delete(kept.id)
    #expect(try await recordings.recording(kept.id) == nil)
    #expect(try await recordings.bytes().isEmpty)
  }

  @Test func `what recorded nothing is known by when it began`() async throws {
    let fixture = try ProjectFixture()
    let (project, _, session) = try await fixture.project()
    let recordings = CallRecordings(database: fixture.database)
    for (name, status) in [("a", StoredRecording.Status.failed), ("b", .available), ("c", .started), ("d", .failed)] {
      var kept = recording(name, project, session, created: name == "d" ? 10 : 7)
      kept.status = status
      try await recordings.insert(kept)
    }
    #expect(try await recordings.failed(before: 10).map(\.string) == ["a"])
    #expect(try await recordings.failed(before: 11).map(\.string).sorted() == ["a", "d"])
  }

  @Test func `lists are of one project, the newest first, in pages`() async throws {
    let fixture = try ProjectFixture()
    let (project, _, session) = try await fixture.project()
    let (other, _, foreign) = try await fixture.project()
    let second = try await fixture.sessions.create(of: project, isRouted: true, isAlwaysRecorded: true)
    #expect(try await fixture.sessions.session(second.id)?.isAlwaysRecorded == true)
    let recordings = CallRecordings(database: fixture.database)
    for i in 0..<5 { try await recordings.insert(recording("a\(i)", project, i == 3 ? second.id : session, created: Int64(i))) }
    try await recordings.insert(recording("foreign", other, foreign, created: 9))
    func names(_ session: SessionID?, _ offset: Int64, _ count: Int64) async throws -> ([String], Int64) {
      let (total, list) = try await recordings.list(of: project, session: session, offset: offset, count: count)
      return (list.map(\.id.string), total)
    }
    #expect(try await names(nil, 0, 10) == (["a4", "a3", "a2", "a1", "a0"], 5))
    #expect(try await names(nil, 1, 2) == (["a3", "a2"], 5))
    #expect(try await names(second.id, 0, 10) == (["a3"], 1))
    #expect(try await names(foreign, 0, 10) == ([], 0))
    #expect(try await recordings.all(of: project).count == 5)
  }
}
