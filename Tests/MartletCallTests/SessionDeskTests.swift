import CallCore
import JSON
import Testing
import WebHost

@testable import MartletCall

/// A desk whose page and socket are the test.
final class Page {
  let desk = SessionDesk()
  private(set) var said: [JSON] = []
  private var number: Int64 = 0

  init() {
    desk.port?.post = { [unowned self] in if let message = try? JSON.parse($0) { said.append(message) } }
  }

  @discardableResult
  func ask(_ members: String) throws -> Int64 {
    number += 1
    desk.take(try JSON.parse(Array("{\(members),\"number\":\(number)}".utf8)))
    return number
  }

  func server(_ text: String) { desk.host?.handle(.text(1, Array(text.utf8))) }

  /// Everything that was said since the last time, as `event` or `answer`, with what matters of it.
  func heard() -> [String] {
    defer { said = [] }
    return said.map { message in
      let head = message["event"]?.string ?? "answer \(message["answer"]?.integer ?? -1)"
      let thing = message["connection"] ?? message["stream"]
      let name = thing?["id"]?.string ?? thing?.string ?? message["code"]?.string ?? message["data"]?.string
      return name.map { head + " " + $0 } ?? head
    }
  }

  func connect() throws {
    try ask(#""do":"connect","url":"wss://a.example/s","session":"s","token":"t""#)
    desk.host?.handle(.socketOpened(1))
    server(
      #"{"type":"connected","connection":{"id":"me","role":"moderator","data":"","created":1},"key":"k","mode":"routed","#
        + #""connections":[{"id":"bob","role":"publisher","data":"b","created":2}],"#
        + #""streams":[{"id":"S","connection":"bob","name":"n","has_audio":true,"has_video":true}]}"#)
  }
}

@Suite("What the page's session is told and asked", .serialized)
struct SessionDeskTests {
  // Proves M51
  @Test("A new participant hears of itself first, then of the others and their streams, each once")
  func greeting() throws {
    let page = Page()
    try page.connect()
    #expect(page.heard() == ["connected me", "answer 1", "connectionCreated bob", "streamCreated S"])
    page.server(#"{"seq":1,"type":"connection_created","connection":{"id":"eve","role":"subscriber"}}"#)
    page.server(#"{"seq":2,"type":"stream_changed","stream":"S","has_audio":false}"#)
    page.server(#"{"seq":3,"type":"video_disabled","stream":"S","reason":"quality"}"#)
    page.server(#"{"seq":4,"type":"signal","kind":"k","data":"hello","from":"eve"}"#)
    page.server(#"{"seq":4,"type":"signal","kind":"k","data":"hello","from":"eve"}"#)
    page.server(#"{"seq":5,"type":"connection_changed","connection":"me","role":"publisher"}"#)
    page.server(#"{"seq":6,"type":"connection_changed","connection":"bob","role":"publisher"}"#)
    page.server(#"{"seq":7,"type":"connection_destroyed","connection":"bob","reason":"left"}"#)
    #expect(
      page.heard() == [
        "connectionCreated eve", "streamChanged S", "videoDisabled S", "signal hello", "connectionChanged me",
        "streamDestroyed S", "connectionDestroyed bob"
      ])
    page.server(#"{"type":"closed","code":"forced","message":"why","retry":false}"#)
    #expect(page.said.last?["message"]?.string == "why")
    #expect(page.heard() == ["connectionDestroyed eve", "closed forced"])
  }

  // Proves L2
  @Test("A refused token answers the request; so does everything that is asked without a session")
  func refused() throws {
    let page = Page()
    try page.ask(#""do":"signal","data":"x""#)
    #expect(page.heard() == ["answer 1 not_connected"])
    try page.ask(#""do":"connect","url":"wss://a.example/s","session":"s","token":"t""#)
    page.desk.host?.handle(.socketOpened(1))
    page.server(#"{"type":"closed","code":"unauthorized","message":"expired","retry":false}"#)
    #expect(page.said.first?["message"]?.string == "expired")
    #expect(page.heard() == ["answer 2 unauthorized", "closed unauthorized"])
    try page.ask(#""do":"signal","data":"x""#)
    try page.ask(#""do":"leave""#)
    #expect(page.heard() == ["answer 3 not_connected", "answer 4"])
  }

  @Test("A lost connection is told once, and what was there comes anew where the server has forgotten it")
  func reconnecting() throws {
    let page = Page()
    try page.connect()
    _ = page.heard()
    page.server(#"{"type":"closed","code":"gone","retry":false}"#)
    #expect(page.heard() == ["streamDestroyed S", "connectionDestroyed bob", "reconnecting"])
  }

  @Test("A moderator's mute and a camera that is refused are told as what they are")
  func media() throws {
    let page = Page()
    try page.connect()
    _ = page.heard()
    try page.ask(#""do":"publish","source":1,"kind":"camera""#)
    page.desk.host?.handle(.media(.captureFailed(1)))
    #expect(page.heard() == ["publication", "answer 2 media_failed", "publication"])
  }

  @Test("A command that is taken back or too long answers its caller")
  func publishing() throws {
    let page = Page()
    try page.connect()
    _ = page.heard()
    try page.ask(#""do":"publish","source":1,"kind":"camera""#)
    try page.ask(#""do":"unpublish","source":1"#)
    #expect(page.heard() == ["publication", "publication", "answer 2 not_found", "answer 3"])
    try page.ask(#""do":"publish","source":2,"kind":"custom","name":"\#(String(repeating: "n", count: 70_000))""#)
    let media = CapturedMedia(stream: "own/2", hasAudio: true, hasVideo: false, width: 0, height: 0)
    page.desk.host?.handle(.media(.captured(2, media)))
    #expect(page.heard().suffix(2) == ["answer 4 too_large", "publication"])
    #expect(page.desk.host?.session.publication(2) == nil)
  }

  @Test(
    "What is no command is refused",
    arguments: [
      #""do":"dance""#, #""do":"publish","kind":"piano""#, #""do":"mute""#, #""do":"disconnect""#, #""do":"subscribe""#
    ])
  func nonsense(_ request: String) throws {
    let page = Page()
    try page.connect()
    _ = page.heard()
    try page.ask(request)
    #expect(page.heard() == ["answer 2 invalid"])
  }
}
