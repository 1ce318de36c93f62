import Database
import Homeserver
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// The applications that have API keys, and their secrets.
package final class CallProjects: NoteFollower {
  package struct Project: Sendable, Equatable {
    package let id: ProjectID
    package let name: ByteString
    /// Milliseconds since 1970.
    package let created: Int64
    /// Where what happens in its sessions is told; nil for nowhere.
    package var callback: String?
  }

  private let database: Database
  private let secrets: DerivedSecrets
  private let clock: WallClock
  /// Those of the database, and our own.
  private let known: Mutex<[ProjectID: Project]>
  /// Those that have been taken away, at whichever node. For the call server.
  let removed: AsyncStream<ProjectID>
  private let removals: AsyncStream<ProjectID>.Continuation

  /// Reads `call.key`, or makes it, and the rows: blocks.
  package convenience init(_ homeserver: Homeserver) throws {
    try self.init(
      database: homeserver.database, directory: homeserver.configuration.dataDirectory, clock: homeserver.configuration.clock)
  }

  init(database: Database, directory: String, clock: WallClock) throws {
    self.database = database
    self.clock = clock
    secrets = try DerivedSecrets(in: directory, file: "call.key")
    known = Mutex([:])
    (removed, removals) = AsyncStream.makeStream()
    database.follow(.project, by: self)
    let projects = try database.readBlocking { try Self.all($0) }
    known.withLock { known in known.merge(projects) { newer, _ in newer } }
  }

  // MARK: Remembering

  package func apply(_ note: Note, _ rows: CommittedRows) throws {
    guard case .project(let text) = note else { return }
    let id = ProjectID(trusted: text)
    let project = try rows.read { tx in
      try tx.first("SELECT project, name, created, callback FROM call_project WHERE project = $1", id) { Project($0) }
    }
    known.withLock { $0[id] = project }
    if project == nil { removals.yield(id) }
  }

  package func reload(_ rows: CommittedRows) throws {
    let projects = try rows.read { try Self.all($0) }
    let former = known.withLock { known in
      defer { known = projects }
      return known.keys
    }
    for id in former where projects[id] == nil { removals.yield(id) }
  }

  /// Those of the database, and our own.
  private static func all(_ tx: ReadTransaction) throws -> [ProjectID: Project] {
    let own = Project(id: .rooms, name: "rooms", created: 0)
    let projects = try tx.all("SELECT project, name, created, callback FROM call_project") { Project($0) }
    return Dictionary(uniqueKeysWithValues: ([own] + projects).map { ($0.id, $0) })
  }

  // MARK: Checking signatures

  /// Without the homeserver's own.
  var count: Int { known.withLock { $0.count } }

  package subscript(id: ProjectID) -> Project? { known.withLock { $0[id] } }

  /// nil where there is no such project.
  package func secret(of id: ProjectID) -> String? {
    self[id] == nil ? nil : secrets.secret(for: "martlet.call.project \(id)")
  }

  func callback(of id: ProjectID) -> Callbacks.Target? {
    guard let url = self[id]?.callback, let secret = secret(of: id) else { return nil }
    return Callbacks.Target(url: url, secret: secret)
  }

  /// What proves that an address of a file was made here.
  func downloadSignature(of text: String) -> String { secrets.secret(for: "martlet.call.download \(text)") }

  // MARK: For the operator

  /// All but our own, the oldest first.
  package var all: [Project] {
    known.withLock { $0.values.filter { $0.id != .rooms } }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  /// Throws `M_INVALID_PARAM` for a name that cannot be, or where there are too many.
  package func create(_ name: ByteString) async throws -> (project: Project, secret: String) {
    let scalars = name.string.unicodeScalars
    guard (1...CallLimits.projectNameCharacters).contains(scalars.count),
      scalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { throw MatrixError.invalidParameter("A name has 1 to \(CallLimits.projectNameCharacters) characters.") }
    let now = clock.now()
    let project = try await database.write { tx in
      let count = try tx.first("SELECT COUNT(*) FROM call_project") { $0.integer(0) } ?? 0
      guard count < CallLimits.projects else {
        throw MatrixError.invalidParameter("There are \(CallLimits.projects) keys already; remove some.")
      }
      let id = try Self.unusedID(tx)
      let project = Project(id: id, name: name, created: now)
      try tx.execute("INSERT INTO call_project(project, name, created) VALUES ($1, $2, $3)", id, name, now)
      tx.note(.project(id.text))
      return project
    }
    return (project, secrets.secret(for: "martlet.call.project \(project.id)"))
  }

  /// Digits, as OpenTok's keys: some SDKs take them for a number.
  private static func unusedID(_ tx: WriteTransaction) throws -> ProjectID {
    while true {
      let id = ProjectID(trusted: ByteString("4" + RandomText.name(length: 9, of: "0123456789")))
      let isUsed = try tx.first("SELECT 1 FROM call_project WHERE project = $1", id) { _ in true } ?? false
      if !isUsed { return id }
    }
  }

  /// Where what happens in the project's sessions is told; nil for nowhere. Throws `M_NOT_FOUND`, and `M_INVALID_PARAM` for what is no http or
  /// https URL of at most `CallLimits.callbackURLBytes`.
  package func setCallback(_ url: String?, of id: ProjectID) async throws -> Project {
    if let url, !Self.isCallback(url) {
      throw MatrixError.invalidParameter("A callback is an http or https URL of at most \(CallLimits.callbackURLBytes) bytes.")
    }
    return try await database.write { [self] tx in
      guard try tx.changes("UPDATE call_project SET callback = $1 WHERE project = $2", url, id) == 1, var project = self[id]
      else {
        throw MatrixError.notFound("There is no such key.")
      }
      project.callback = url
      tx.note(.project(id.text))
      return project
    }
  }

  /// `url` of a request: a text, or null for nobody to tell. Throws `M_MISSING_PARAM` and `M_INVALID_PARAM`.
  static func callback(of body: JSON) throws(MatrixError) -> String? {
    guard let url = body["url"] else { throw .missingParameter("url") }
    if url.isNull { return nil }
    guard let text = url.string else { throw .invalidParameter("'url' is a text, or null.") }
    return text
  }

  private static func isCallback(_ url: String) -> Bool {
    let bytes = url.utf8
    guard bytes.count <= CallLimits.callbackURLBytes, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
    return ["https://", "http://"].contains { bytes.starts(with: $0.utf8) && bytes.count > $0.utf8.count }
  }

  /// Takes the key and its sessions away: what was signed with it is good no longer. Throws `M_NOT_FOUND`.
  package func remove(_ id: ProjectID) async throws {
    try await database.write { tx in
      guard try tx.changes("DELETE FROM call_project WHERE project = $1", id) == 1 else {
        throw MatrixError.notFound("There is no such key.")
      }
      try tx.execute("DELETE FROM call_session WHERE project = $1", id)
      tx.note(.project(id.text))
    }
  }
}

extension CallProjects.Project {
  /// Of `project, name, created, callback`.
  fileprivate init(_ row: Row) {
    self.init(
      id: row.identifier(0), name: ByteString(decoding: row.blob(1)), created: row.integer(2), callback: row.optionalText(3))
  }
}
