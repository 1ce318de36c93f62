import ClientCore
import JSON
import MatrixModel
import SearchIndex

let searchChecks = [
  Check("search: a word and its beginning") { indexed.find("number123") == 1 && indexed.find("number12") == 11 },
  Check("search: two words, without case and diacritics") { indexed.find("tee cup") == 192 },
  Check("search: Chinese") { indexed.find("喝茶") == 4 },
  Check("search: Japanese") { indexed.find("飲み") == 4 && indexed.find("茶") == 8 },
  Check("search: nothing") { indexed.find("teapot") == 0 },
  // One has its documents and 16 records of words at most.
  Check("search: the index is in several spans") { indexed.spanRecords > 17 }
]

private let indexed = IndexedRoom()

/// 200 messages and their index, in a store in memory.
private struct IndexedRoom: Sendable {
  private static let room = RoomID(trusted: "!tea:test")
  private var records: [ByteString: [UInt8]] = [:]
  private var index = MessageIndex()

  init() {
    apply(index.begin(Self.room))
    while work() {}
    for block in 0..<200 {
      let text = block % 50 == 7 ? "我们去喝茶" : block % 50 == 8 ? "お茶を飲みます" : "cup number\(block) of Tée"
      let event =
        #"{"type":"m.room.message","event_id":"$\#(block)","sender":"@a:test","origin_server_ts":\#(block),"#
        + #""content":{"msgtype":"m.text","body":"\#(text)"}}"#
      let key = TimelineRecord.key(of: SegmentPosition(block: Int64(block)), in: Self.room)
      let put = StoreOperation.put(key: key, value: Array(#"{"events":[\#(event)]}"#.utf8))
      apply([put] + index.follow([put]))
      while work() {}
    }
  }

  private mutating func apply(_ operations: [StoreOperation]) {
    for operation in operations {
      switch operation {
      case .put(let key, let value): records[key] = value
      case .delete(let key): records[key] = nil
      case .deleteAll(let prefix):
        for key in Array(records.keys) where key.utf8.starts(with: prefix.utf8) { records[key] = nil }
      }
    }
  }

  private func read(_ range: StoreRange) -> [StoreRecord] {
    var found: [(key: ByteString, value: [UInt8])] = []
    for (key, value) in records { found.append((key, value)) }
    return range.select(from: found)
  }

  private mutating func work() -> Bool {
    switch index.next() {
    case .read(let ranges, _): index.take(ranges.flatMap { read($0) })
    case .goOn: break
    case .write(let operations):
      apply(operations)
      index.written(true)
    case .nothing: return false
    }
    return true
  }

  var spanRecords: Int { records.keys.filter { $0.hasPrefix("i/s/") }.count }

  func find(_ words: String) -> Int {
    var search = RoomSearch(ByteString(words), in: Self.room)
    var count = 0
    while true {
      switch search.next(index) {
      case .read(let ranges): search.take(ranges.map { read($0) })
      case .found(let matches): count += matches.count
      case .index, .end: return count
      }
    }
  }
}
