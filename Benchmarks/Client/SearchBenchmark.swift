import ClientCore
import Glibc
import JSON
import MatrixClient
import MatrixModel
import SearchIndex

/// Messages of five rooms in a sealed store, of which two are Chinese and Japanese: what it costs to index them, what the index needs, and how long one
/// waits for the first twenty that are found.
func measureSearch(_ folder: String) async throws {
  let path = folder + "/martlet-search.sqlite"
  for suffix in ["", "-key", "-owner", "-write", "-wal", "-shm"] { unlink(path + suffix) }
  let store = try SQLiteStore(path: path)
  var corpus = Corpus()
  var bytes = 0
  for room in Corpus.rooms {
    for block in 0..<(Corpus.messagesOfRoom / 20) {
      let value = corpus.segment(of: room, block)
      bytes += value.count
      try await store.write([.put(key: TimelineRecord.key(of: SegmentPosition(block: Int64(block)), in: room), value: value)])
    }
  }
  let search = StoreSearch(store)
  let watch = Watch()
  for room in Corpus.rooms { try await search.index(room) }
  report(
    "search-index", "\(Corpus.rooms.count * Corpus.messagesOfRoom) messages indexed, processor", watch.processorMilliseconds,
    "ms")
  report("search-longest", "… the longest step", search.longestStep, "ms")
  let records = try await store.load(StoreRange(prefix: "i/"))
  let size = records.reduce(0) { $0 + $1.key.count + $1.value.count }
  report("search-size", "… the index, of the events' bytes", Double(size) * 100 / Double(bytes), "%")
  let queries = [
    ("word", "a rare word", Corpus.word(2_017)), ("common", "a common word", Corpus.word(3)), ("prefix", "two letters", "ka"),
    ("words", "two words", Corpus.word(3) + " " + Corpus.word(40)), ("chinese", "Chinese", corpus.phrase(0x4E00)),
    ("japanese", "Japanese", corpus.phrase(0x3041)), ("nothing", "what is nowhere", "zzz")
  ]
  for (name, text, words) in queries {
    var best = Double.infinity
    var count = 0
    for _ in 0..<5 {
      let watch = Watch()
      count = try await search.find(words, in: Corpus.rooms)
      best = min(best, watch.wallMilliseconds)
    }
    report("search-" + name, "\(text) in all rooms, the first \(count)", best, "ms")
  }
  await store.close()
}

/// The index over a store.
private final class StoreSearch {
  private let store: SQLiteStore
  private var index = MessageIndex()
  private(set) var longestStep = 0.0

  init(_ store: SQLiteStore) { self.store = store }

  func index(_ room: RoomID) async throws {
    try await store.write(index.begin(room))
    while !index.isWhole(room) {
      let watch = Watch()
      let work = index.next()
      longestStep = max(longestStep, watch.wallMilliseconds)
      switch work {
      case .read(let ranges, _): index.take(try await load(ranges).flatMap { $0 })
      case .write(let operations):
        try await store.write(operations)
        index.written(true)
      case .goOn: break
      case .nothing: return
      }
    }
  }

  /// The first page of each room.
  func find(_ words: String, in rooms: [RoomID]) async throws -> Int {
    var count = 0
    for room in rooms {
      var search = RoomSearch(ByteString(words), in: room)
      loop: while true {
        switch search.next(index) {
        case .read(let ranges): search.take(try await load(ranges))
        case .found(let matches):
          count += matches.count
          break loop
        case .index, .end: break loop
        }
      }
    }
    return count
  }

  private func load(_ ranges: [StoreRange]) async throws -> [[StoreRecord]] {
    var lists: [[StoreRecord]] = []
    for range in ranges { lists.append(try await store.load(range)) }
    return lists
  }
}

/// Messages whose words are as frequent as in a language, the same in each run.
private struct Corpus {
  static let rooms = (0..<5).map { RoomID(trusted: ByteString("!search\($0):example.org")) }
  static let messagesOfRoom = 20_000

  private var state: UInt64 = 42

  private mutating func next() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 33) / Double(1 << 31)
  }

  private mutating func rank(_ count: Int) -> Int { Int(Double(count) * next() * next() * next()) }

  static func word(_ rank: Int) -> String {
    let syllables = ["te", "ka", "no", "ri", "sa", "mo", "lu", "pe", "di", "go", "hu", "ba", "ve", "fi", "ce", "an"]
    var rest = rank
    var word = ""
    repeat {
      word += syllables[rest % 16]
      rest /= 16
    } while rest > 0
    return word
  }

  private mutating func text(of room: RoomID) -> String {
    if room == Self.rooms[3] { return characters(from: 0x4E00, 2_500) }
    if room == Self.rooms[4] {
      return characters(from: 0x3041, 80) + characters(from: 0x4E00, 600) + characters(from: 0x30A1, 80)
    }
    return (0..<3 + Int(next() * 14)).map { _ in Self.word(rank(20_000)) }.joined(separator: " ")
  }

  private mutating func characters(from first: UInt32, _ count: Int) -> String {
    var text = ""
    for _ in 0..<4 + Int(next() * 16) {
      if let scalar = Unicode.Scalar(first + UInt32(rank(count))) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  /// Two characters that are often side by side.
  func phrase(_ first: UInt32) -> String {
    [first + 4, first + 11].compactMap { Unicode.Scalar($0).map { String($0) } }.joined()
  }

  mutating func segment(of room: RoomID, _ block: Int) -> [UInt8] {
    let events = (0..<20).map { number in
      #"{"type":"m.room.message","content":{"msgtype":"m.text","body":"\#(text(of: room))","m.mentions":{}},"event_id":"$\#(block)_\#(number)_abcdefghijklmnopqrstuvwxyz012345678901","#
        + #""sender":"@user\#(number % 7):example.org","origin_server_ts":\#(1_700_000_000_000 + block * 20_000 + number),"unsigned":{"age":1234},"#
        + #""martlet.decrypted":{"sender_key":"hJlvTRFlnCWsNZPAPSTdZVjNs3hYVDl0RgjMBPLZ3hY","proven":true,"trust":"pinned"}}"#
    }
    return Array(#"{"limited":false,"token":"t\#(block)","events":[\#(events.joined(separator: ","))]}"#.utf8)
  }
}
