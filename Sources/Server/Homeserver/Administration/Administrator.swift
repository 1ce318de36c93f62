import Database
import JSON
import MatrixModel

/// An administrator: a user with that right, or the operator, who has the data folder.
package enum Administrator: Sendable, Equatable {
  case user(UserID)
  /// At the command line of the server's machine.
  case `operator`(ServerName)

  /// As the audit log names them.
  package var name: String {
    switch self {
    case .user(let userID): userID.string
    case .operator: "operator"
    }
  }

  /// For rows that want a user. The operator has the empty localpart, which no account can have.
  package var userID: UserID {
    switch self {
    case .user(let userID): userID
    case .operator(let server): UserID(trusted: ByteString("@:\(server)"))
    }
  }
}
