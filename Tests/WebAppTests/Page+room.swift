import ClientCore
import MatrixModel
import Messenger
import MessengerTesting
import Testing

@testable import WebApp

/// One room of the page, `!a`: what a sync says of it, and what a person does there.
extension Page {
  /// - Parameter rest: what a sync says of the room beside its timeline, as JSON members with a comma before each.
  func syncRoom(_ events: [String], _ rest: String = "") {
    sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":3},"timeline":{"limited":false,"prev_batch":"t1",\
        "events":[\(events.joined(separator: ","))]}\(rest)}
        """
      )
    ])
  }

  /// Signed in, with the room of these events open.
  func openRoom(_ events: [String], _ rest: String = "") throws {
    signIn()
    syncRoom(events, rest)
    try enterRoom()
  }

  /// The room of that name in the list; the first of all without one.
  func enterRoom(_ name: String = "") throws {
    let entry = try #require(all("ma-entry").first { name.isEmpty || $0.allText.contains(name) })
    dom.fire(.click, on: entry.node)
    settleStore()
    dom.fire(.resize, on: try #require(root.first("mg-scroller")).node, x: 600, y: 900)
  }

  func openMenu(ofRoom name: String) throws {
    dom.fire(.contextMenu, on: try #require(all("ma-entry").first { $0.allText.contains(name) }).node)
  }

  func row(_ text: String) throws -> FakeElement { try #require(all("mg-row").first { $0.allText.contains(text) }) }

  /// What a screen reader says of the message with that text.
  func spoken(_ text: String) throws -> String { try row(text).attributes["aria-label"] ?? "" }

  func openMenu(of text: String) throws { dom.fire(.contextMenu, on: try row(text).node, x: 5, y: 5) }

  func choose(_ choice: String, of text: String) throws {
    try openMenu(of: text)
    click(choice)
    settleStore()
  }

  /// To another window: what comes is not read.
  func lookAway() { app.take(.attentionChanged(isVisible: false, isFocused: false)) }

  var menu: [String] { all("ma-menu-item").map(\.saidText) }

  /// A button of the composer or of the room's header.
  func press(_ label: String) throws {
    let button = (all("mg-composer-button") + all("ma-round")).first { $0.attributes["aria-label"] == label }
    dom.fire(.click, on: try #require(button).node)
  }

  /// The composer that was opened last: the thread's, if a thread is open.
  var field: FakeElement { get throws { try #require(all("mg-input").last) } }

  /// - Parameter caret: where it is afterwards, in bytes; nil for the end.
  func write(_ text: String, caret: Int? = nil) throws {
    dom.fire(.input, on: try field.node, x: Double(caret ?? text.utf8.count), text: text)
  }

  func key(_ name: String) throws {
    dom.fire(.keyDown, on: try field.node, text: name)
    settleStore()
  }

  func count(_ path: String) -> Int { requests.filter { $0.request.target.contains(path) }.count }

  /// The box with these words that was shown last.
  func tick(_ words: String, _ isOn: Bool = true) throws {
    let box = try #require(all("ma-check").last { $0.allText == words }?.tags("input").first)
    dom.fire(.change, on: box.node, x: isOn ? 1 : 0)
  }

  func choice(_ label: String) throws -> FakeElement {
    try #require(all("ma-choice").last { $0.attributes["aria-label"] == label })
  }

  /// Chooses by the words of an option.
  func select(_ words: String, in label: String) throws {
    let choice = try choice(label)
    let option = try #require(choice.children.first { $0.text == words })
    dom.fire(.change, on: choice.node, text: option.attributes["value"] ?? "")
  }

  /// The words that can be completed to.
  var completions: [String] { all("ma-completion-name").map(\.text) }
}

/// Boris, who is called Bo in the room.
let boris = event(
  "$b", #"{"membership":"join","displayname":"Bo"}"#, type: "m.room.member", at: 1, state: "@boris:chat.example")
