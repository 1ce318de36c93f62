import JSON
import MatrixModel
import Testing

@testable import ClientCore
@testable import SearchIndex

/// A store in memory, the index behind it, and a client that writes segments.
struct SearchStore {
  static let room = RoomID(trusted: "!tea:test")

  var records: [ByteString: [UInt8]] = [:]
  var index = MessageIndex()
  var lastBlock: Int64 = -1
  /// What stored events say that were encrypted when they came, by their IDs: keys that are there by now.
  var keys: [String: String] = [:]
  private(set) var readSegments = 0

  init() {}

  // MARK: The client

  mutating func write(_ operations: [StoreOperation]) { apply(operations + index.follow(operations)) }

  mutating func sync(_ events: [String], in room: RoomID = room) {
    lastBlock += 1
    put(SegmentPosition(block: lastBlock), events, in: room)
  }

  mutating func put(_ position: SegmentPosition, _ events: [String], in room: RoomID = room) {
    let value = Array(#"{"limited":false,"events":[\#(events.joined(separator: ","))]}"#.utf8)
    write([.put(key: TimelineRecord.key(of: position, in: room), value: value)])
  }

  mutating func apply(_ operations: [StoreOperation]) {
    for operation in operations {
      switch operation {
      case .put(let key, let value): records[key] = value
      case .delete(let key): records[key] = nil
      case .deleteAll(let prefix): for key in records.keys where key.utf8.starts(with: prefix.utf8) { records[key] = nil }
      }
    }
  }

  // MARK: The host

  private mutating func read(_ range: StoreRange) -> [StoreRecord] {
    let whole = records[range.prefix].map { [StoreRecord(key: range.prefix, value: $0)] }
    let found =
      whole ?? range.select(from: records.lazy.filter { range.contains($0.key) }.map { (key: $0.key, value: $0.value) })
    return found.map { record in
      guard TimelineRecord.room(of: record.key) != nil else { return record }
      readSegments += 1
      return StoreRecord(key: record.key, value: decrypted(record.value))
    }
  }

  private func decrypted(_ value: [UInt8]) -> [UInt8] {
    var text = String(decoding: value, as: UTF8.self)
    for (id, clear) in keys {
      guard let start = text.range(of: Self.sealed(id)) else { continue }
      text.replaceSubrange(start, with: clear)
    }
    return Array(text.utf8)
  }

  /// One step of the index's work; false where there is nothing to do.
  mutating func work() -> Bool {
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

  mutating func workToEnd() { while work() {} }

  /// A new process with the same store.
  mutating func restart() {
    index = MessageIndex()
    index.start(read(MessageIndex.states))
  }

  mutating func matches(_ words: String, in room: RoomID = room) -> [StoredMatch] {
    apply(index.begin(room))
    index.keysCame(for: room)
    var search = RoomSearch(ByteString(words), in: room)
    var found: [StoredMatch] = []
    while true {
      switch search.next(index) {
      case .read(let ranges):
        var lists: [[StoreRecord]] = []
        for range in ranges { lists.append(read(range)) }
        search.take(lists)
      case .found(let matches): found += matches
      case .index:
        guard work() else {
          Issue.record("the index has nothing to do, and is not whole")
          return found
        }
      case .end: return found
      }
    }
  }

  mutating func found(_ words: String, in room: RoomID = room) -> [String] {
    matches(words, in: room).map { $0.content.body.string }
  }

  // MARK: Events

  static func event(_ type: String, _ id: String, by sender: String = "@alice:test", _ content: String) -> String {
    #"{"type":"\#(type)","event_id":"\#(id)","sender":"\#(sender)","origin_server_ts":1700000000000,"content":\#(content)}"#
  }

  static func message(_ body: String, _ id: String, by sender: String = "@alice:test") -> String {
    event("m.room.message", id, by: sender, #"{"msgtype":"m.text","body":"\#(body)"}"#)
  }

  /// As the machine writes it.
  static func stored(_ body: String, _ id: String) -> String {
    event("m.room.message", id, by: "@alice:example.org", #"{"msgtype":"m.text","body":"\#(body)","m.mentions":{}}"#).dropLast()
      + #","unsigned":{"age":1234},"martlet.decrypted":{"sender_key":"hJlvTRFlnCWsNZPAPSTdZVjNs3hYVDl0RgjMBPLZ3hY","proven":true,"trust":"pinned"}}"#
  }

  static func edit(_ target: String, _ text: String, _ id: String, by sender: String = "@alice:test") -> String {
    event(
      "m.room.message", id, by: sender,
      #"{"msgtype":"m.text","body":"* \#(text)","m.new_content":{"msgtype":"m.text","body":"\#(text)"},"#
        + #""m.relates_to":{"rel_type":"m.replace","event_id":"\#(target)"}}"#)
  }

  static func redaction(_ target: String, _ id: String) -> String {
    event("m.room.redaction", id, #"{"redacts":"\#(target)"}"#)
  }

  static func sealed(_ id: String) -> String {
    event("m.room.encrypted", id, #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x","session_id":"s"}"#)
  }
}

extension String {
  fileprivate func range(of text: String) -> Range<String.Index>? {
    let whole = Array(utf8), part = Array(text.utf8)
    guard part.count <= whole.count else { return nil }
    for start in 0...(whole.count - part.count) where whole[start..<start + part.count].elementsEqual(part) {
      let from = utf8.index(startIndex, offsetBy: start)
      return from..<utf8.index(from, offsetBy: part.count)
    }
    return nil
  }
}
