import FilesTesting
import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell
import Testing

@testable import martlet_terminal

@Suite("Terminal: what it is given")
struct TerminalParsingTests {
  private func arguments(_ command: TerminalCommand, _ words: String...) throws -> CommandArguments {
    try CommandArguments(words, for: command.syntax)
  }

  private func call(_ command: TerminalCommand, _ words: String...) throws -> TerminalCall {
    TerminalCall(try CommandArguments(words, for: command.syntax))
  }

  @Test("Operands in brackets may be left out, the others not")
  func operands() throws {
    #expect(try arguments(.send, "Tea").operands == ["Tea"])
    #expect(try arguments(.send, "Tea", "Hello").operands == ["Tea", "Hello"])
    #expect(throws: UsageError.self) { try arguments(.send) }
    #expect(throws: UsageError.self) { try arguments(.send, "Tea", "Hello", "you") }
    #expect(throws: UsageError.self) { try arguments(.rooms, "Tea") }
  }

  @Test("Behind -- everything is an operand")
  func dashes() throws {
    let given = try arguments(.send, "Tea", "--notice", "--", "--json")
    #expect(given.operands == ["Tea", "--json"])
    #expect(given.has("--notice") && !given.isJSON)
  }

  @Test("What a subcommand does not know is refused, a server's setting too", arguments: ["--password", "--bind", "--yes"])
  func unknownOption(option: String) {
    #expect(throws: UsageError.self) { try arguments(.read, "Tea", option, "x") }
  }

  @Test("The statuses that need no server")
  func statuses() async {
    #expect(await TerminalProgram.run(["martlet-terminal", "send"]) == 64)
    #expect(await TerminalProgram.run(["martlet-terminal", "login", "alice"]) == 64)
    #expect(await TerminalProgram.run(["martlet-terminal", "read", "Tea", "--limit", "-1"]) == 64)
    #expect(await TerminalProgram.run(["martlet-terminal", "rooms", "--help"]) == 0)
  }

  @Test("A subcommand of two words is found by both")
  func twoWords() throws {
    let found = try #require(TerminalCommand.named(by: ["keys", "export", "keys.txt", "--room", "Tea"]))
    #expect(found.rest == ["keys.txt", "--room", "Tea"])
    #expect(try CommandArguments(found.rest, for: found.command.syntax).operands == ["keys.txt"])
    #expect(TerminalCommand.named(by: ["keys"]) == nil && TerminalCommand.named(by: ["export", "keys"])?.rest == ["keys"])
  }

  @Test("The help text lists every subcommand")
  func help() {
    for command in TerminalCommand.all { #expect(TerminalProgram.help().contains("martlet \(command.syntax.usage)\n")) }
  }

  @Test("A message is a text with a style, or a file, and not both")
  func messages() throws {
    let message = try OutgoingMessage.read(call(.send, "Tea", "Hello", "--notice", "--reply-to", "$event"))
    guard case .event(let event)? = message.replyTo else {
      Issue.record("no answer to an event")
      return
    }
    #expect(event.string == "$event")
    #expect(throws: TerminalError.self) {
      try OutgoingMessage.read(call(.send, "Tea", "Hello", "--file", "/etc/hostname"))
    }
    #expect(throws: TerminalError.self) { try OutgoingMessage.read(call(.send, "Tea", "Hello", "--notice", "--emote")) }
    #expect(throws: TerminalError.self) { try OutgoingMessage.read(call(.send, "Tea", "Hello", "--reply-to", "event")) }
    #expect(throws: TerminalError.self) { try OutgoingMessage.read(call(.send, "Tea", " \n ")) }
    #expect(throws: TerminalError.self) { try OutgoingMessage.read(call(.send, "Tea", "--file", "/no/such/file")) }
    #expect(throws: TerminalError.self) { try OutgoingMessage.read(call(.send, "Tea", "--file", "/tmp")) }
  }

  @Test("A text is Markdown, whose HTML is safe, unless it is to stay as it is")
  func formats() throws {
    let formatted = try OutgoingMessage.formatted("**Tea** <script>", isPlain: false)
    #expect(formatted.body == "**Tea** <script>" && formatted.html == "<strong>Tea</strong> &lt;script&gt;")
    #expect(try OutgoingMessage.formatted("Tea & cake", isPlain: false).html == nil)
    let plain = try OutgoingMessage.formatted("**Tea**", isPlain: true)
    #expect(plain.body == "**Tea**" && plain.html == nil)
    // Together they are an event.
    let long = String(repeating: "*a* ", count: OutgoingMessage.textBytesLimit / 4)
    #expect(throws: TerminalError.self) { try OutgoingMessage.formatted(long, isPlain: false) }
    _ = try OutgoingMessage.formatted(long, isPlain: true)
  }

  @Test("A text may have just so many bytes")
  func textLimit() throws {
    let limit = OutgoingMessage.textBytesLimit
    _ = try OutgoingMessage.read(call(.send, "Tea", String(repeating: "a", count: limit)))
    #expect(throws: TerminalError.self) {
      try OutgoingMessage.read(call(.send, "Tea", String(repeating: "a", count: limit + 1)))
    }
  }

  @Test("A file's kind is by its name")
  func fileKinds() throws {
    try withTemporaryFile("x") { path in
      let message = try OutgoingMessage.read(call(.send, "Tea", "--file", path))
      if message.replyTo != nil { Issue.record("an answer to nothing") }
      #expect(FileKind(path: path).message == .file)
      #expect(FileKind(path: path).mimeType == "application/octet-stream")
    }
    #expect(FileKind(path: "a/b.PNG").message == .image)
    #expect(FileKind(path: "b.tar.gz").mimeType == "application/gzip")
  }

  @Test("A room is found by a name that only one has; letters' size counts only where it tells rooms apart")
  func roomNames() throws {
    let rooms = ["Tea", "tea", "Coffee", "Water", "Water"].enumerated().map {
      (name: $0.element, id: RoomID(trusted: ByteString("!\($0.offset)")))
    }
    #expect(try RoomFinder.choose("tea", rooms).string == "!1")
    #expect(try RoomFinder.choose("COFFEE", rooms).string == "!2")
    for name in ["TEA", "Water", "Milk", ""] {
      let error = #expect(throws: TerminalError.self) { try RoomFinder.choose(name, rooms) }
      #expect(error?.status == .noSuchRoom)
    }
  }
}

@Suite("Terminal: accounts on disk")
struct AccountFolderTests {
  private static let session = Session(
    userID: UserID("@alice/x:example.org")!, deviceID: DeviceID("D")!, accessToken: "a", refreshToken: "r",
    homeserver: ServerURL("https://example.org"), expiresAtMilliseconds: 5)

  @Test("A session comes back as it was saved, and only its owner can read it")
  func roundTrip() throws {
    let root = try TemporaryFolder()
    let folder = AccountFolder(Self.session.userID, in: root.path + "/deep/accounts")
    try folder.save(Self.session)
    #expect(folder.session?.session == Self.session)
    #expect(AccountFolder.all(in: root.path + "/deep/accounts").map { $0.userID } == [Self.session.userID])
    var status = stat()
    #expect(stat(folder.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(stat(folder.path + "/session.json", &status) == 0 && status.st_mode & 0o777 == 0o600)
    folder.remove()
    #expect(access(folder.path, F_OK) != 0)
    withExtendedLifetime(root) {}
  }

  @Test("One process at a time has the store; beside it a session goes without its refresh token")
  func lock() throws {
    let root = try TemporaryFolder()
    let folder = AccountFolder(Self.session.userID, in: root.path)
    try folder.save(Self.session)
    do {
      let first = try folder.lock()
      #expect(first != nil)
      #expect(try folder.lock() == nil)
      withExtendedLifetime(first) {}
    }
    #expect(try folder.lock() != nil)
    #expect(folder.session?.withoutRefresh.refreshToken == nil)
    #expect(folder.session?.withoutRefresh.accessToken == "a")
    withExtendedLifetime(root) {}
  }

  @Test("The place is XDG_DATA_HOME, else in the home folder")
  func root() throws {
    #expect(try AccountFolder.root(["XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/x/martlet/accounts")
    #expect(try AccountFolder.root(["XDG_DATA_HOME": "relative", "HOME": "/h"]) == "/h/.local/share/martlet/accounts")
    #expect(throws: TerminalError.self) { try AccountFolder.root([:]) }
  }

  @Test("An invalid session file is refused", arguments: ["", "{}", #"{"user_id":"alice"}"#, "\u{0}"])
  func damaged(text: String) { #expect(SavedSession(Array(text.utf8)) == nil) }
}
