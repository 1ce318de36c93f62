import JSON
import MatrixClient
import MatrixModel
import Shell
import Testing

@testable import martlet_terminal

@Suite("Terminal: what becomes of what was shown")
struct TranscriptTests {
  private func entry(
    _ body: String?, edited: Bool = false, reactions: [(String, String)] = [], id: String = "$1"
  ) throws -> TranscriptEntry {
    let content = body.map { #"{"msgtype":"m.text","body":"\#($0)"}"# } ?? "{}"
    let event = try JSON.parse(
      Array(#"{"type":"m.room.message","event_id":"\#(id)","sender":"@a:b","origin_server_ts":1,"content":\#(content)}"#.utf8))
    var entry = try #require(Event(event).flatMap { TranscriptEntry($0) })
    entry.isEdited = edited
    entry.reactions = reactions.map { TranscriptEntry.Reaction(key: $0.0, sender: UserID(trusted: ByteString($0.1))) }
    return entry
  }

  /// What the last of the states has shown, for people and for machines.
  private func lines(_ states: TranscriptEntry...) throws -> (people: [String], machines: [JSON]) {
    var transcript = Transcript()
    var last: [TranscriptLine] = []
    for state in states { last = transcript.take(state) }
    let people = last.map { line in
      if case .change(let change) = line { change.text(at: 1_800_000_000_000) } else { line.text }
    }
    let machines = try last.map { line in
      try JSON.object { line.write(to: &$0, in: RoomID(trusted: "!r")) }
    }
    return (people, machines)
  }

  @Test("A message is shown once")
  func once() throws {
    let hello = try entry("hello")
    #expect(try lines(hello).people.count == 1)
    #expect(try lines(hello, hello).people.isEmpty)
    #expect(try lines(hello, entry("other", id: "$2")).people.count == 1)
  }

  @Test("An edit is shown with what was there before, also one that is taken back")
  func edits() throws {
    let edit = try lines(entry("helo"), entry("hello\\nyou", edited: true))
    #expect(edit.people == ["2027-01-15 08:00  -- @a:b edited “helo” to: hello\n    you\n"])
    #expect(edit.machines[0]["kind"]?.string == "edit" && edit.machines[0]["text"]?.string == "hello\nyou")
    #expect(edit.machines[0]["event_id"]?.string == "$1" && edit.machines[0]["sender"]?.string == "@a:b")
    #expect(edit.machines[0]["room_id"]?.string == "!r" && edit.machines[0]["seen_ts"]?.integer ?? 0 > 1_700_000_000_000)
    let back = try lines(entry("helo"), entry("hello", edited: true), entry("helo"))
    #expect(back.people == ["2027-01-15 08:00  -- @a:b edited “hello” to: helo\n"])
    #expect(try lines(entry("helo"), entry("hello", edited: true), entry("hello", edited: true)).people.isEmpty)
  }

  @Test("A removal is shown once, and not that its reactions go with it")
  func removals() throws {
    let shown = try entry("hello", reactions: [("👍", "@c:d")])
    let removal = try lines(shown, entry(nil))
    #expect(removal.people == ["2027-01-15 08:00  -- the message “hello” of @a:b was removed\n"])
    #expect(removal.machines[0]["kind"]?.string == "redaction" && removal.machines[0]["sender"] == nil)
    #expect(try lines(shown, entry(nil), entry(nil)).people.isEmpty)
  }

  @Test("Where an edit and reactions come at once, the reactions are to what it says now, as the edit is told first")
  func editWithReactions() throws {
    let before = try entry("helo", reactions: [("🐢", "@c:d")])
    let told = try lines(before, entry("hello", edited: true, reactions: [("👍", "@c:d")]))
    #expect(
      told.people == [
        "2027-01-15 08:00  -- @a:b edited “helo” to: hello\n", "2027-01-15 08:00  -- @c:d reacted 👍 to “hello” of @a:b\n",
        "2027-01-15 08:00  -- @c:d took back 🐢 from “hello” of @a:b\n"
      ])
  }

  @Test("Reactions are shown as they come and go, each with who it is by")
  func reactions() throws {
    let one = try entry("hello", reactions: [("👍", "@c:d")])
    let two = try entry("hello", reactions: [("👍", "@c:d"), ("👍", "@e:f"), ("🐢", "@c:d")])
    let more = try lines(one, two)
    #expect(
      more.people == [
        "2027-01-15 08:00  -- @e:f reacted 👍 to “hello” of @a:b\n", "2027-01-15 08:00  -- @c:d reacted 🐢 to “hello” of @a:b\n"
      ])
    #expect(more.machines.map { $0["kind"]?.string } == ["reaction", "reaction"])
    #expect(more.machines[0]["key"]?.string == "👍" && more.machines[0]["sender"]?.string == "@e:f")
    let fewer = try lines(two, one)
    #expect(fewer.machines.map { $0["kind"]?.string } == ["reaction_removed", "reaction_removed"])
    #expect(fewer.people[0] == "2027-01-15 08:00  -- @e:f took back 👍 from “hello” of @a:b\n")
    // Those that were there at first are not news.
    #expect(try lines(two).people.count == 1)
  }

  @Test("What strangers write stays within its line, cut to a quote")
  func harmless() throws {
    let long = String(repeating: "x", count: 60)
    let text = try lines(entry("\\u001b[2J\(long)\\nsecond"), entry(nil)).people[0]
    #expect(text == "2027-01-15 08:00  -- the message “\u{FFFD}[2J\(String(repeating: "x", count: 36))…” of @a:b was removed\n")
    let key = try lines(entry("hello"), entry("hello", reactions: [("a\nb\u{202E}", "@c:d")])).people[0]
    #expect(key == "2027-01-15 08:00  -- @c:d reacted a\u{FFFD}b\u{FFFD} to “hello” of @a:b\n")
  }
}
