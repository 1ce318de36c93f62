import JSON
import MatrixClient
import MatrixModel
import Shell
import Transcripts

/// Why a subcommand of the terminal client did not do what it was asked. The description is one sentence that says what to do.
enum TerminalError: Error, CustomStringConvertible {
  case usage(String)
  case notLoggedIn(String)
  case noSuchRoom(String)
  /// The server's code and words.
  case refused(ErrorCode, String)
  case network(String)
  case failed(String)
  case interrupted

  var status: ExitStatus {
    switch self {
    case .usage: .usage
    case .notLoggedIn: .notLoggedIn
    case .noSuchRoom: .noSuchRoom
    case .refused: .refused
    case .network: .network
    case .failed: .failure
    case .interrupted: .interrupted
    }
  }

  /// As `--json` names the status.
  private var name: StaticString {
    switch self {
    case .usage: "usage"
    case .notLoggedIn: "not_logged_in"
    case .noSuchRoom: "no_such_room"
    case .refused: "refused"
    case .network: "network"
    case .failed: "failed"
    case .interrupted: "interrupted"
    }
  }

  var description: String {
    switch self {
    case .usage(let text), .notLoggedIn(let text), .noSuchRoom(let text), .network(let text), .failed(let text): text
    case .refused(let code, let message): "the server refused it: \(message.isEmpty ? code.description : message) (\(code))"
    case .interrupted: "interrupted; nothing was left behind"
    }
  }

  /// One line for standard error.
  func text(isJSON: Bool) -> String {
    guard isJSON else { return "martlet: \(HarmlessText.line(description))\n" }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("error", name.description)
      writer.member("message", description)
      if case .refused(let code, _) = self { writer.member("errcode", code.text) }
    }
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  init(any error: any Error) {
    switch error {
    case let error as TerminalError: self = error
    case let error as ClientError: self = TerminalError(error)
    case .client(let error) as EncryptionError: self = TerminalError(error)
    case let error as EncryptionError: self = .failed(error.english)
    case let error as KeyFileError: self = error == .cancelled ? .interrupted : .failed(error.english)
    case is CancellationError: self = .interrupted
    case let error as UsageError: self = .usage(error.description)
    case let error as PasswordPrompt.Failure: self = .failed(error.description)
    default: self = .failed("\(error)")
    }
  }

  init(_ error: ClientError) {
    switch error {
    case .network: self = .network("no answer from the server; check the network and try again")
    case .untrustedServer: self = .network("the server's certificate is not trusted; nothing was sent")
    case .noHomeserver(let reason):
      self = .network("\(reason.english) Its URL can be given with --homeserver https://…")
    case .refused(_, let code, _, _) where code == .unknownToken || code == .missingToken:
      self = .notLoggedIn("the server has ended this session; log in again: martlet login USER")
    case .refused(_, let code, let message, _): self = .refused(code, message.string)
    case .authenticationNeeded: self = .refused("M_FORBIDDEN", "the server wants more authentication for that")
    case .notSignedIn: self = .notLoggedIn("the session has ended; log in again: martlet login USER")
    case .unknownRoom: self = .noSuchRoom("you are not in that room; martlet rooms lists yours")
    case .invalidRoomAddress: self = .noSuchRoom("that is no room; martlet rooms lists yours")
    case .tooLarge(let limit): self = .failed("the file is larger than the \(limit) bytes that the server takes")
    case .encryptedRoom:
      self = .failed(
        "the room is encrypted, and martlet cannot encrypt for it (its algorithm is unknown, or the keys are another martlet's); nothing was sent"
      )
    case .attachmentIsGone: self = .failed("the file cannot be read any more")
    case .damagedAttachment: self = .failed("the file was changed on its way")
    case .cancelled: self = .interrupted
    case .badAnswer: self = .failed("the server's answer makes no sense; is it a Matrix homeserver?")
    case .invalidUserID: self = .usage("a user is named @name:server")
    default: self = .failed("it failed: \(error.english)")
    }
  }
}
