import Foundation
import MatrixClient

/// Answers commands in every room it is invited to: `EchoBot HOMESERVER USER PASSWORD`. An end-to-end test talks with it.
@main
struct EchoBot {
  let client: MatrixClient

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { return print("usage: EchoBot HOMESERVER USER PASSWORD") }
    let client = try await MatrixClient.logIn(to: arguments[1], user: arguments[2], password: arguments[3])
    await EchoBot(client: client).run()
  }

  /// Serves each room from the moment it sees it.
  func run() async {
    let changes = await client.changes()
    var served: Set<RoomID> = []
    await withTaskGroup(of: Void.self) { group in
      for room in await client.rooms where served.insert(room.id).inserted {
        group.addTask { await serve(room) }
      }
      for await case .roomOrder in changes {
        for room in await client.rooms where served.insert(room.id).inserted {
          group.addTask { await serve(room) }
        }
      }
    }
  }

  func serve(_ state: Room) async {
    let room = client.room(state.id)
    do {
      if state.membership == .invite { try await room.join() }
      let messages = await room.messages()
      if state.membership == .invite { try await room.send(.text("Hello, I know !help", style: .notice)) }
      let me = await client.userID
      // Only what comes in from now on; other bots write notices, which nobody answers.
      for await message in messages where message.sender != me {
        guard case .message(let content) = message.content, content.kind == .text,
          let reply = answer(to: content.body.string)
        else { continue }
        try await room.send(.text(ByteString(reply), style: .notice, replyTo: message.eventID))
      }
    } catch { print("\(room.id): \(error)") }
  }

  func answer(to text: String) -> String? {
    let words = text.split(separator: " ", maxSplits: 1)
    switch words.first {
    case "!echo": return words.count > 1 ? String(words[1]) : "What?"
    case "!time": return Date.now.formatted(.iso8601)
    case "!help": return "!echo TEXT says it again, !time tells the time, !help says this"
    default: return words.first?.hasPrefix("!") == true ? "I do not know that, but I know !help" : nil
    }
  }
}
