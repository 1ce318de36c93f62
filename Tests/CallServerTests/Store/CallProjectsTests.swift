import Glibc
import JSON
import MatrixModel
import Testing

@testable import CallServer
@testable import Homeserver
@testable import ServerCore

@Suite struct CallProjectsTests {
  // Proves M31
  @Test func `a project and its secret outlive the process, and no secret is in the database`() async throws {
    let fixture = try ProjectFixture()
    let (id, secret, session) = try await fixture.project()
    let own = try #require(fixture.projects.secret(of: .rooms))
    #expect(secret != own && secret.utf8.count == 64)
    fixture.database.close()
    #expect(fixture.holds(id.string))
    for hidden in [secret, own] { #expect(!fixture.holds(hidden)) }
    var status = stat()
    #expect(stat(fixture.folder + "/call.key", &status) == 0 && status.st_mode & 0o777 == 0o600)

    let again = try ProjectFixture(in: fixture.folder)
    #expect(again.projects.secret(of: id) == secret && again.projects.secret(of: .rooms) == own)
    #expect(again.projects.all.map(\.id) == [id])
    #expect(try await again.sessions.session(session)?.project == id)
  }

  @Test func `a project that one node makes, changes and removes is known to the other as it is`() async throws {
    let fixture = try ProjectFixture()
    let other = try CallProjects(database: fixture.database, directory: fixture.folder, clock: WallClock { 0 })
    let id = try await fixture.project().id
    #expect(other.all.map(\.id) == [id] && other.secret(of: id) == fixture.projects.secret(of: id))
    _ = try await fixture.projects.setCallback("https://example.org/calls", of: id)
    #expect(other[id] == fixture.projects[id] && other[id]?.callback == "https://example.org/calls")
    try await fixture.projects.remove(id)
    #expect(other[id] == nil && other.all.isEmpty)
  }

  @Test func `another folder has other secrets`() throws {
    let (one, other) = (try ProjectFixture(), try ProjectFixture())
    #expect(one.projects.secret(of: .rooms) != other.projects.secret(of: .rooms))
  }

  @Test func `names have limits, and our own project cannot be removed`() async throws {
    let fixture = try ProjectFixture()
    for name in ["", "a\nb", String(repeating: "a", count: CallLimits.projectNameCharacters + 1)] {
      await #expect(throws: MatrixError.self) { try await fixture.projects.create(ByteString(name)) }
    }
    _ = try await fixture.projects.create(ByteString(String(repeating: "ä", count: CallLimits.projectNameCharacters)))
    await #expect(throws: MatrixError.self) { try await fixture.projects.remove(.rooms) }
    #expect(fixture.projects.secret(of: .rooms) != nil)
  }

  @Test func `a session's name tells its project, and a room has one session`() async throws {
    let fixture = try ProjectFixture()
    let (id, _, session) = try await fixture.project()
    #expect(session.project == id && SessionID(session.text) != nil)
    for text in ["", "1_", "1_!!", "2_\(session)", "1_YWJj"] { #expect(SessionID(trusted: ByteString(text)).project == nil) }
    let room = try #require(RoomID("!room:example.org"))
    async let first = fixture.sessions.session(of: room)
    async let second = fixture.sessions.session(of: room)
    let (one, other) = (try await first, try await second)
    #expect(one == other && one.id.project == .rooms && one.roomID == room)
  }

  @Test func `a session that nobody uses is removed, but a room's never`() async throws {
    let fixture = try ProjectFixture()
    let (id, _, unused) = try await fixture.project()
    let used = try await fixture.sessions.create(of: id, isRouted: true).id
    let room = try await fixture.sessions.session(of: RoomID(trusted: "!room:test")).id
    let start = fixture.now
    fixture.now = start + CallLimits.sessionDisuseMilliseconds
    #expect(try await fixture.sessions.removeUnused() == 0)
    #expect(try await fixture.sessions.session(used) != nil)
    fixture.now += 1
    #expect(try await fixture.sessions.removeUnused() == 1)
    #expect(try await fixture.sessions.session(unused) == nil)
    for kept in [used, room] { #expect(try await fixture.sessions.session(kept) != nil) }
    fixture.now = start + 2 * CallLimits.sessionDisuseMilliseconds + 1
    #expect(try await fixture.sessions.removeUnused() == 1)
    #expect(try await fixture.sessions.session(room) != nil)
  }

  @Test func `a callback is taken back by null, not by a mistake`() throws {
    func callback(_ text: String) throws -> String? { try CallProjects.callback(of: JSON.parse(Array(text.utf8))) }
    #expect(try callback(#"{"url":"https://a.example/"}"#) == "https://a.example/")
    #expect(try callback(#"{"url":null}"#) == nil)
    for mistake in ["{}", #"{"url":5}"#, #"{"URL":null}"#] { #expect(throws: MatrixError.self) { try callback(mistake) } }
  }
}
