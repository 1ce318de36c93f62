import ClientCore
import JSON
import MatrixModel
import Testing

@testable import Transcripts

/// Carries out what an export asks for, with a room in memory.
private struct Desk {
  var run: ExportRun
  let pages: [[Event]]
  private(set) var file: [UInt8] = []
  private(set) var fetches: [ByteString?] = []
  private var kept: [UInt8] = []
  /// Pages that fail once.
  var failures: [Int] = []
  private(set) var failed = 0

  init(_ run: ExportRun, _ pages: [[Event]]) {
    self.run = run
    self.pages = pages
  }

  /// To the end. A fetch that fails is asked for again, as by "Try again".
  mutating func finish() {
    for _ in 0..<1_000 {
      switch run.next {
      case .findStart: run.begins(at: pages.isEmpty ? nil : "0")
      case .fetch(let from): fetch(from)
      case .keep(let bytes):
        kept += bytes
        run.done()
      case .read(let ranges): run.read(ranges.map { Array(kept[Int($0.lowerBound)..<Int($0.upperBound)]) })
      case .write(let bytes):
        file += bytes
        run.done()
      case .finish: return
      }
    }
    Issue.record("the export does not end")
  }

  private mutating func fetch(_ from: ByteString?) {
    fetches.append(from)
    let page = from.flatMap { Int($0.string) } ?? 0
    if let i = failures.firstIndex(of: page) {
      failures.remove(at: i)
      failed += 1
      return
    }
    run.took(page < pages.count ? pages[page] : [], next: page + 1 < pages.count ? ByteString("\(page + 1)") : nil)
  }
}

@Suite("Transcripts: exports")
struct ExportRunTests {
  private func run(_ format: ExportRun.Format, since: Int64? = nil, until: Int64? = nil) -> ExportRun {
    ExportRun(
      format, since: since, until: until, now: 1_000, title: "Tea", topic: nil, about: "about", words: .plain)
  }

  @Test("A line of an export of several rooms says of which it is")
  func roomInLine() throws {
    let room = try #require(RoomID("!tea:example.org"))
    let event = try #require(Event(try JSON.parse(Array(#"{"type":"m.x","event_id":"$1","content":{}}"#.utf8))))
    #expect(String(decoding: ExportLine(event, room: room).bytes, as: UTF8.self).contains(#""room_id":"!tea:example.org""#))
    #expect(!String(decoding: ExportLine(event).bytes, as: UTF8.self).contains("room_id"))
  }

  @Test("JSON lines are written as they come, each event once")
  func lines() throws {
    var desk = Desk(run(.jsonLines), try [[text("$1", "one"), text("$2", "two")], [text("$3", "three")]])
    desk.finish()
    let ids = try desk.file.split(separator: UInt8(ascii: "\n")).map { try JSON.parse(Array($0))["event_id"]?.string }
    #expect(ids == ["$1", "$2", "$3"])
    #expect(desk.run.count == 3 && desk.run.progress == 1)
    #expect(desk.fetches == [nil, "1"])
  }

  @Test("An edit on a later page changes the message on an earlier one")
  func edits() throws {
    var desk = Desk(run(.html), try [[text("$1", "one"), text("$2", "two")], [edit("$3", of: "$1", to: "uno")]])
    desk.finish()
    #expect(desk.file.text.contains("uno <small>(edited)</small>") && !desk.file.text.contains(">one<"))
    #expect(desk.file.text.contains(">two<"))
    #expect(desk.file.text.hasPrefix("<!DOCTYPE html>") && desk.file.text.hasSuffix("</html>\n"))
  }

  @Test(
    "A page that fails is asked for again, and nothing is doubled or left out", arguments: [ExportRun.Format.html, .jsonLines])
  func retries(format: ExportRun.Format) throws {
    let pages = try [[text("$1", "one")], [text("$2", "two")], [text("$3", "three")]]
    var whole = Desk(run(format), pages)
    whole.finish()
    var broken = Desk(run(format), pages)
    broken.failures = [0, 1, 1, 2]
    broken.finish()
    #expect(broken.failed == 4)
    #expect(broken.file == whole.file)
  }

  @Test("Days narrow it: earlier events are left out, and later pages are not fetched")
  func days() throws {
    let pages = try [
      [text("$1", "early", at: 99), text("$2", "first", at: 100)], [text("$3", "last", at: 199), text("$4", "late", at: 200)],
      [text("$5", "later", at: 300)], [text("$6", "latest", at: 400)]
    ]
    var desk = Desk(run(.html, since: 100, until: 200), pages)
    desk.finish()
    for (word, isThere) in [("early", false), ("first", true), ("last", true), ("late<", false), ("later", false)] {
      #expect(desk.file.text.contains(">" + word) == isThere, "\(word)")
    }
    #expect(desk.fetches == ["0", "1", "2"])
    #expect(desk.run.count == 2)
  }

  @Test("Without an event since that day the page is empty, and says what it is")
  func nothing() {
    var desk = Desk(run(.html, since: 100), [])
    desk.finish()
    #expect(desk.run.count == 0)
    #expect(desk.file.text.contains("<h1>Tea</h1>"))
  }

  @Test("A server that repeats its token or sends empty pages ends the export")
  func endless() throws {
    var run = run(.jsonLines)
    run.took(try [text("$1", "one")], next: "a")
    run.done()
    #expect(run.next == .fetch(from: "a"))
    run.took(try [text("$2", "two")], next: "a")
    run.done()
    #expect(run.next == .finish)
    var empty = self.run(.jsonLines)
    empty.took([], next: "b")
    #expect(empty.next == .finish)
  }

  @Test("Answers to something else change nothing")
  func strayAnswers() {
    var run = run(.html)
    run.done()
    run.begins(at: "x")
    run.read([[1, 2, 3]])
    #expect(run.next == .fetch(from: nil))
  }

  @Test("Kept lines that come back broken are left out, and the page still ends")
  func brokenLines() throws {
    var run = run(.html)
    run.took(try [text("$1", "one")], next: nil)
    run.done()
    run.done()
    run.read([[0xFF, 0x0A, 0x7B]])
    run.done()
    guard case .write(let end) = run.next else { throw CancellationError() }
    #expect(end.text.hasSuffix("</html>\n"))
  }

  @Test("A line of an export is one line, whatever the server's JSON looked like")
  func oneLine() throws {
    let spaced = try event("{\n\"type\":\"m.x\",\n\"content\":{\n\"a\":\r\n\"b\\n\"}}")
    let line = ExportLine(spaced, file: "T-files/0001-a").bytes
    #expect(!line.contains(UInt8(ascii: "\n")))
    #expect(try JSON.parse(line)["content"]?["a"]?.string == "b\n")
    #expect(try JSON.parse(line)["martlet.file"]?.string == "T-files/0001-a")
  }
}
