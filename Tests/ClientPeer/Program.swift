import Foundation
import MatrixClient

/// A client that a test steers: `client-peer --homeserver URL --user NAME --password TEXT --room ID --store FILE [--sync v3|sliding]
/// [--threads-inline] [--clock-error MILLISECONDS]`.
///
/// It says `{"ready":true}`, then takes commands from its input, a JSON object each line (`Peer.Command`), and answers each with a line
/// that has the command's `id`. It ends with its input, or by `stop`. A store that is signed in goes on without a server.
@main
struct Program {
  private var homeserver = ""
  private var user = ""
  private var password = ""
  private var room = ""
  private var store = ""
  private var syncMode = SyncMode.v3
  private var showsThreadsInline = false

  static func main() async {
    var program = Program()
    do {
      try program.read(CommandLine.arguments.dropFirst())
      try await program.run()
    } catch {
      FileHandle.standardError.write(Data("client-peer: \(error)\n".utf8))
      exit(1)
    }
  }

  private mutating func read(_ arguments: ArraySlice<String>) throws {
    var arguments = arguments
    while let argument = arguments.popFirst() {
      switch argument {
      case "--homeserver": homeserver = arguments.popFirst() ?? ""
      case "--user": user = arguments.popFirst() ?? ""
      case "--password": password = arguments.popFirst() ?? ""
      case "--room": room = arguments.popFirst() ?? ""
      case "--store": store = arguments.popFirst() ?? ""
      case "--sync": syncMode = arguments.popFirst() == "sliding" ? .sliding : .v3
      case "--threads-inline": showsThreadsInline = true
      case "--clock-error":
        MatrixClient.setClockError(arguments.popFirst().flatMap { Int64($0) } ?? 0)
      default: throw Misuse("unknown option \(argument)")
      }
    }
  }

  private func run() async throws {
    guard let id = RoomID(ByteString(room)) else { throw Misuse("--room is no room ID") }
    let client = try await MatrixClient(homeserver: homeserver, store: try SQLiteStore(path: store), syncMode: syncMode)
    if showsThreadsInline { await client.showThreadsInline() }
    if await client.sessionState != .signedIn {
      try await client.perform(.session(.logIn(user: ByteString(user), password: ByteString(password))))
    }
    try await client.perform(.timeline(.openRoom(id)))
    let peer = Peer(room: client.room(id))
    say(#"{"ready":true}"#)
    for await line in Program.lines() {
      guard await peer.take(line) else { break }
    }
    await client.stop()
  }

  private static func lines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return lines
  }
}

struct Misuse: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
