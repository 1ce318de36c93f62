import JSON
import MatrixModel

extension Client {
  /// Starts the command. It ends with `Change.commandFinished`, at once or later.
  mutating func handle(_ command: Command, _ id: CommandID) {
    guard hasSession || !command.needsSession else { return finish(id, .failed(.notSignedIn)) }
    switch command {
    case .session(let command): handle(command, id)
    case .sync(let command): handle(command, id)
    case .timeline(let command): handle(command, id)
    case .reading(let command): handle(command, id)
    case .sending(let command): handle(command, id)
    case .rooms(let command): handle(command, id)
    case .roomList(let command): handle(command, id)
    case .people(let command): handle(command, id)
    case .spaces(let command): handle(command, id)
    case .account(let command): handle(command, id)
    }
  }

  private var hasSession: Bool { (sessionState == .signedIn || sessionState == .softLoggedOut) && session != nil }
}

extension Command {
  /// Whether it fails with `notSignedIn` without a session.
  fileprivate var needsSession: Bool {
    switch self {
    case .session(let command): command.needsSession
    // A list can be open before its rooms are there.
    case .roomList: false
    case .sync, .timeline, .reading, .sending, .rooms, .people, .spaces, .account: true
    }
  }
}
