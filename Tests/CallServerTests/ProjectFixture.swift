import Database
import Glibc
import JSON
import MatrixModel
import Synchronization

@testable import CallServer
@testable import Homeserver
@testable import ServerCore

/// Projects and sessions on a database in a folder of its own, with a clock that is set.
final class ProjectFixture: Sendable {
  private final class Time: Sendable {
    let milliseconds = Atomic<Int64>(1_700_000_000_000)
  }

  let folder: String
  let database: Database
  let projects: CallProjects
  let sessions: CallSessions
  private let time = Time()

  var now: Int64 {
    get { time.milliseconds.load(ordering: .relaxed) }
    set { time.milliseconds.store(newValue, ordering: .relaxed) }
  }

  init(in folder: String? = nil) throws {
    var template = Array("/tmp/martlet-call-XXXXXX".utf8CString)
    self.folder = folder ?? String(cString: mkdtemp(&template))
    let clock = WallClock { [time] in time.milliseconds.load(ordering: .relaxed) }
    database = try Database(
      DatabaseConfiguration(path: self.folder + "/martlet.db"), migrations: Schema.migrations(with: CallTables.statements))
    projects = try CallProjects(database: database, directory: self.folder, clock: clock)
    sessions = CallSessions(database: database, clock: clock)
  }

  deinit { database.close() }

  /// A project with a session.
  func project() async throws -> (id: ProjectID, secret: String, session: SessionID) {
    let (project, secret) = try await projects.create("an app")
    return (project.id, secret, try await sessions.create(of: project.id, isRouted: true).id)
  }

  /// Whether a text stands anywhere in the files of the database.
  func holds(_ text: String) -> Bool {
    ["martlet.db", "martlet.db-wal"].contains { name in
      let file = open(folder + "/" + name, O_RDONLY)
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 8 << 20)
      let count = read(file, &bytes, bytes.count)
      let wanted = text.utf8.count
      return count >= wanted
        && bytes.withUnsafeBytes { bytes in (0...count - wanted).contains { memcmp(bytes.baseAddress! + $0, text, wanted) == 0 }
        }
    }
  }
}
