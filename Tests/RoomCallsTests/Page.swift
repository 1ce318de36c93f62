import CallCore
import JSON
import MatrixModel
import MessengerTesting
import Testing
import WebHost

@testable import RoomCalls

/// A desk whose page is the test.
final class Page {
  private let now = Host.wallClockMilliseconds()
  let dom = FakeDOM()
  let desk: CallDesk<FakeDOM>
  private(set) var said: [JSON] = []

  init() {
    desk = CallDesk(dom)
    desk.start()
    desk.port?.post = { [unowned self] in if let message = try? JSON.parse($0) { said.append(message) } }
    tell(#""do":"session","user":"@me:a.example","device":"D""#)
    tell(#""do":"shown","room":"!r:a.example""#)
  }

  func tell(_ members: String) {
    guard let json = try? JSON.parse(Array("{\(members)}".utf8)) else { return }
    desk.take(json)
  }

  /// - Parameters:
  ///   - users: those in the call of the room.
  ///   - people: the members of the room that the page shows; all of them if nil.
  ///   - unknown: people of whom it is not certain that they are in the room.
  ///   - more: members of the request.
  func room(_ users: [String], people: [String]? = nil, expires: Int64 = 3_600_000, unknown: [String] = [], more: String = "") {
    let members = users.map {
      #"{"type":"org.matrix.msc3401.call.member","sender":"\#($0)","state_key":"_\#($0)_D_m.call","origin_server_ts":\#(now),"#
        + #""content":{"application":"m.call","call_id":"","device_id":"D","expires":\#(expires),"foci_preferred":[{"type":"martlet.call"}]}}"#
    }
    let people = (people ?? users).map {
      #"{"user":"\#($0)","name":"\#($0.dropFirst().prefix { $0 != ":" })","joined":\#(!unknown.contains($0))}"#
    }
    tell(
      #""do":"room","room":"!r:a.example","name":"Garden","members":[\#(members.joined(separator: ","))],"people":[\#(people.joined(separator: ","))]\#(more)"#
    )
  }

  /// Requests to the server since the last time: what, and their number.
  func asked() -> [(path: String, id: Int64)] {
    defer { said = [] }
    return said.compactMap { json in
      json["path"]?.string.map { ((json["method"]?.string ?? "") + " " + $0, json["id"]?.integer ?? 0) }
    }
  }

  func answer(_ id: Int64, _ json: String) { tell(#""do":"answered","id":\#(id),"answer":\#(json)"#) }

  func hears(_ text: String) { desk.group?.ongoing?.host?.handle(.text(1, Array(text.utf8))) }

  /// In the call, with Boris, whose stream is S.
  func join() {
    tell(#""do":"call","room":"!r:a.example","camera":true"#)
    let token = asked()
    answer(token[0].id, #"{"token":"t","session_id":"s","url":"wss://a.example/s"}"#)
    desk.group?.ongoing?.host?.handle(.socketOpened(1))
    hears(
      #"{"type":"connected","connection":{"id":"me","role":"moderator","data":"{\"user_id\":\"@me:a.example\"}"},"key":"k","mode":"routed","#
        + #""connections":[{"id":"b","role":"publisher","data":"{\"user_id\":\"@boris:a.example\"}"}],"#
        + #""streams":[{"id":"S","connection":"b","has_audio":true,"has_video":true}]}"#)
  }

  /// Presses that button; the page lets the call be answered.
  func answer(_ words: String) {
    said = []
    click(words)
    guard let asked = said.first(where: { $0["event"]?.string == "answer" }), let call = asked["call"]?.integer else {
      Issue.record("the page was not asked")
      return
    }
    tell(#""do":"answer","call":\#(call),"camera":\#(asked["camera"]?.bool ?? false)"#)
  }

  var texts: [String] { dom.texts }

  /// The button with these words.
  func click(_ words: String) {
    let buttons = dom[.root].tags("button")
    guard let button = buttons.first(where: { $0.allText == words || $0.attributes["aria-label"] == words }) else {
      Issue.record("no button says \(words)")
      return
    }
    dom.fire(.click, on: button.node)
  }
}

extension FakeDOM {
  func isHidden(_ name: String) -> Bool { self[.root].first(name)?.isHidden ?? true }
  /// Of every element that is shown.
  var texts: [String] {
    func texts(_ element: FakeElement) -> [String] {
      element.isHidden ? [] : [element.text] + element.children.flatMap(texts)
    }
    return texts(self[.root])
  }
}
