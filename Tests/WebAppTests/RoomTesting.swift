import ClientCore
import Foundation
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import Testing

@testable import WebApp

/// A suite on a page with one room that is open.
protocol RoomTesting {
  var page: Page { get }
}

extension RoomTesting {
  func sync(_ events: [String], _ rest: String = "") {
    page.sync([
      (
        "!a",
        """
        {"summary":{"m.joined_member_count":3},"timeline":{"limited":false,"prev_batch":"t1",\
        "events":[\(events.joined(separator: ","))]}\(rest)}
        """
      )
    ])
  }

  /// The room with these events, open.
  func open(_ events: [String], _ rest: String = "") throws {
    page.signIn()
    sync(events, rest)
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 600, y: 900)
  }

  func row(_ text: String) throws -> FakeElement {
    try #require(page.all("mg-row").first { $0.allText.contains(text) })
  }

  func choose(_ choice: String, of text: String) throws {
    page.dom.fire(.contextMenu, on: try row(text).node, x: 5, y: 5)
    page.click(choice)
    page.settleStore()
  }

  func press(_ label: String) throws {
    let button = try #require(
      (page.all("mg-composer-button") + page.all("ma-round")).first { $0.attributes["aria-label"] == label })
    page.dom.fire(.click, on: button.node)
  }

  var field: FakeElement { get throws { try #require(page.all("mg-input").last) } }

  func write(_ text: String) throws {
    page.dom.fire(.input, on: try field.node, x: Double(text.utf8.count), text: text)
  }

  func enter() throws {
    page.dom.fire(.keyDown, on: try field.node, text: "Enter")
    page.settleStore()
  }

  func count(_ path: String) -> Int { page.requests.filter { $0.request.target.contains(path) }.count }
}

extension String {
  func replacingFirst(_ part: String, with other: String) -> String {
    guard let range = range(of: part) else { return self }
    return replacingCharacters(in: range, with: other)
  }
}
