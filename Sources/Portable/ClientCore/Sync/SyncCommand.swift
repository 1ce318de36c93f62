import JSON
import MatrixModel

/// Whether and from where the client syncs.
public enum SyncCommand: Sendable {
  /// Ends every request and timer until `resume`, for an app that is suspended. Messages wait in the outbox; queries and commands that
  /// wait for an answer end with `cancelled`.
  case pause
  case resume
  /// Drops what earlier syncs brought and syncs from the beginning. The session, unsent messages and drafts stay.
  case startAfresh
}

extension Client {
  mutating func handle(_ command: SyncCommand, _ id: CommandID) {
    switch command {
    case .pause: pause(id)
    case .resume: resume(id)
    case .startAfresh: startAfresh(id)
    }
  }
}
