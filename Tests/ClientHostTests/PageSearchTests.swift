import JSON
import MatrixModel
import SearchIndex
import Testing

@testable import ClientCore
@testable import ClientHost

/// The page's index over a store in memory; what it waits for happens when it is told to.
private final class Desk {
  static let room = RoomID(trusted: "!tea:test")

  let search = PageSearch()
  private(set) var records: [ByteString: [UInt8]] = [:]
  private(set) var pauses = 0
  private(set) var decrypted = 0
  private var waiting: [() -> Void] = []

  init(_ records: [ByteString: [UInt8]] = [:]) {
    self.records = records
    search.read = { [unowned self] range, then in
      let found = range.select(from: self.records.map { (key: $0.key, value: $0.value) })
      waiting.append { then(found) }
    }
    search.decrypt = { [unowned self] records, _, then in
      decrypted += records.count
      waiting.append { then(records) }
    }
    search.write = { [unowned self] operations, then in
      apply(operations)
      waiting.append { then(true) }
    }
    search.pause = { [unowned self] in
      pauses += 1
      waiting.append($0)
    }
    search.start {}
    settle()
  }

  private func apply(_ operations: [StoreOperation]) {
    for operation in operations {
      switch operation {
      case .put(let key, let value): records[key] = value
      case .delete(let key): records[key] = nil
      case .deleteAll(let prefix): records = records.filter { !$0.key.utf8.starts(with: prefix.utf8) }
      }
    }
  }

  func settle() { while !waiting.isEmpty { waiting.removeFirst()() } }

  func put(_ block: Int64, _ bodies: [String]) {
    let events = bodies.enumerated().map { number, body in
      #"{"type":"m.room.message","event_id":"$\#(block)-\#(number)","sender":"@a:test","content":{"msgtype":"m.text","body":"\#(body)"}}"#
    }
    let key = TimelineRecord.key(of: SegmentPosition(block: block), in: Self.room)
    let put = StoreOperation.put(key: key, value: Array(#"{"events":[\#(events.joined(separator: ","))]}"#.utf8))
    apply([put] + search.follow([put]))
  }

  func found(_ words: String) -> [String] {
    let messages = StoredMessages(search, ByteString(words), in: [Self.room])
    var found: [String] = []
    while !messages.isAtEnd {
      messages.more {
        found += $1.map { $0.content.body.string }
      } _: {
      }
      settle()
    }
    return found
  }
}

@Suite struct PageSearchTests {
  @Test func `a room is indexed in slices with the first search, and followed from then on, also by later pages`() {
    let desk = Desk()
    for block in 0..<300 { desk.put(Int64(block), (0..<10).map { "cup \(block * 10 + $0)" }) }
    desk.settle()
    #expect(!desk.records.keys.contains { $0.hasPrefix("i/") } && desk.pauses == 0)
    #expect(desk.found("cup").count == 3_000 && desk.pauses > 10 && desk.decrypted >= 300)
    desk.put(300, ["a kettle and a cup"])
    #expect(desk.found("kettle") == ["a kettle and a cup"])
    let later = Desk(desk.records)
    later.put(301, ["another kettle"])
    #expect(later.found("kettle") == ["another kettle", "a kettle and a cup"])
    later.search.forget(Desk.room)
    #expect(!later.records.keys.contains { $0.hasPrefix("i/") })
  }

  @Test func `a search that is closed says nothing more`() {
    let desk = Desk()
    desk.put(0, ["cup"])
    let messages = StoredMessages(desk.search, "cup", in: [Desk.room])
    messages.more { _, _ in
      Issue.record("it has found something")
    } _: {
      Issue.record("it has ended")
    }
    messages.close()
    desk.settle()
  }
}
