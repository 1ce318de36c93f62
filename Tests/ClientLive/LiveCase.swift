import MatrixClient

/// One behaviour of the SDK, tried on a real homeserver.
struct LiveCase: Sendable {
  /// The ID of a feature, then a sentence: `A2 a wrong password is refused`.
  let name: String
  let needs: Need?
  let run: @Sendable (Stage) async throws -> Void

  /// More than a minute: Synapse tells a user's rooms of a new name by a scheduled task, and looks only once a minute
  /// for those that were asked for while it was starting another.
  static let deadlineSeconds = 100

  init(_ name: String, needs: Need? = nil, run: @escaping @Sendable (Stage) async throws -> Void) {
    self.name = name
    self.needs = needs
    self.run = run
  }

  /// Every case. A further chapter adds a file in `Cases` and its array here.
  static let all =
    discovery + signIn + sessions + account + rooms + membership + directory + people + media + notifications
    + messages + timelines + lookups + restarts + roomLists + spaces + syncs
    + conversations + happenings + power + neighbours + settings + unreadCounts + relations
}

/// What a server may leave out, where it says so.
enum Need: Sendable {
  /// `/versions` names this version of the specification or a later one, or the unstable feature it came from.
  case version(minor: Int, or: ByteString? = nil)
  /// The capability `m.get_login_token`, and the login flow for it.
  case loginTokens
  /// The capability `m.profile_fields`.
  case profileField(ByteString)
  /// A capability of that name: an extension.
  case `extension`(ByteString)
  /// `/versions` offers simplified sliding sync.
  case slidingSync
  /// Capabilities of Documentation/Extensions.md.
  case extensions(ServerExtensions)

  /// What the server does not announce; nil where it has all that is needed.
  func missing(in announced: Announced) -> String? {
    switch self {
    case .version(let minor, let feature):
      if announced.versions.supports(major: 1, minor: minor) { return nil }
      if let feature, announced.versions.has(feature) { return nil }
      return "/versions does not name v1.\(minor)"
    case .loginTokens:
      if announced.capabilities.canGetLoginToken, announced.flows.allowsToken { return nil }
      return "no capability m.get_login_token"
    case .slidingSync:
      return announced.versions.has("org.matrix.simplified_msc3575") ? nil : "/versions does not offer sliding sync"
    case .extensions(let wanted):
      return announced.capabilities.extensions.isSuperset(of: wanted) ? nil : "no capabilities martlet.… for it"
    case .profileField(let field):
      return announced.capabilities.canChangeProfileField(field) ? nil : "no capability m.profile_fields for \(field)"
    case .extension(let name): return announced.capabilities.offers(name) ? nil : "no capability \(name)"
    }
  }
}

/// What the server says of itself before any case runs.
struct Announced: Sendable {
  let versions: ServerVersions
  let flows: LoginFlows
  let capabilities: Capabilities
}

/// Thrown where what the server announces, says only to an account, lacks what the case is about.
struct NotAnnounced: Error { let what: String }

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// `expression` has to be true.
func expect(_ expression: Bool, _ what: String, file: String = #fileID, line: Int = #line) throws {
  guard expression else { throw Failure("\(what) (\(file):\(line))") }
}

func expect<Value: Equatable>(
  _ value: Value, is expected: Value, file: String = #fileID, line: Int = #line
) throws {
  guard value == expected else { throw Failure("\(value) is not \(expected) (\(file):\(line))") }
}

func unwrap<Value>(_ value: Value?, _ what: String, file: String = #fileID, line: Int = #line) throws -> Value {
  guard let value else { throw Failure("there is no \(what) (\(file):\(line))") }
  return value
}

/// The server has to refuse it, with one of these codes.
@discardableResult
func expectRefusal(
  _ codes: ErrorCode..., file: String = #fileID, line: Int = #line, of body: () async throws -> Void
) async throws -> ByteString {
  do { try await body() } catch ClientError.refused(_, let code, let message, _) {
    guard codes.contains(code) else { throw Failure("refused with \(code): \(message) (\(file):\(line))") }
    return message
  }
  throw Failure("it was not refused (\(file):\(line))")
}
