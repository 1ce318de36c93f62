import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell
import Telemetry

/// Keys of encrypted rooms in files, to move them to another client or device.
extension TerminalCommand {
  static let passphraseFile = Option(name: "--passphrase-file", value: "PATH")

  static let exportKeys = TerminalCommand(
    "keys export", ["FILE"], options: [Option(name: "--room", value: "ROOM"), passphraseFile],
    "Writes the keys of all encrypted rooms, or of one, into a file that a passphrase opens; other clients read it, too."
  ) { call in
    let passphrase = try passphrase(call) { try PasswordPrompt.read(.passphrase) }
    let path = call.arguments.operands[0]
    try await call.withAccount { account in
      try requireKeys(of: account)
      var room: RoomID?
      if let name = call.arguments.text("--room") { room = try await RoomFinder.find(name, of: account.client).id }
      let bar = ProgressBar()
      let count = try await account.client.encryption.exportRoomKeys(of: room, passphrase: passphrase, to: path) {
        bar.show(Double($0) / Double($1), "keys")
      }
      ProgressBar.clear()
      call.show("\(path): \(count) keys") { writer in
        writer.member("path", path)
        writer.member("keys", count)
      }
    }
  }

  static let importKeys = TerminalCommand(
    "keys import", ["FILE"], options: [passphraseFile],
    "Takes the keys of a file that this or another client has exported; older messages can be read then."
  ) { call in
    let passphrase = try passphrase(call) { try PasswordPrompt.readKnown(.passphrase) }
    let path = call.arguments.operands[0]
    try await call.withAccount { account in
      try requireKeys(of: account)
      let bar = ProgressBar()
      let imported = try await account.client.encryption.importRoomKeys(passphrase: passphrase, from: path) {
        bar.show(Double($0) / Double($1), "keys")
      }
      ProgressBar.clear()
      let unusable = imported.unusable == 0 ? "" : ", \(imported.unusable) unusable"
      call.show("\(path): \(imported.total) keys, \(imported.new) new\(unusable)") { writer in
        writer.member("path", path)
        writer.member("keys", imported.total)
        writer.member("new", imported.new)
        writer.member("unusable", imported.unusable)
      }
    }
  }

  static func passphrase(_ call: TerminalCall, asked: () throws -> Redacted<[UInt8]>) throws -> String {
    if let path = call.arguments.text("--passphrase-file") {
      return String(decoding: try PasswordPrompt.line(ofFile: path, .passphrase).reveal(), as: UTF8.self)
    }
    guard isatty(STDIN_FILENO) == 1 else {
      throw TerminalError.usage("there is no terminal to ask for the passphrase on; --passphrase-file reads it from a file")
    }
    return String(decoding: try asked().reveal(), as: UTF8.self)
  }

  static func requireKeys(of account: Account) throws {
    guard account.hasStore else {
      throw TerminalError.failed("another martlet uses this account and has its keys; end it first")
    }
  }
}
