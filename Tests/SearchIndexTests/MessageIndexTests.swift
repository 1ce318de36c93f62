import JSON
import MatrixModel
import Testing

@testable import ClientCore
@testable import SearchIndex

@Suite struct MessageIndexTests {
  typealias Store = SearchStore

  private func filled(_ messages: Int) -> Store {
    var store = Store()
    for first in stride(from: 0, to: messages, by: 10) {
      store.sync((first..<min(first + 10, messages)).map { Store.message("cup number\($0)", "$\($0)") })
    }
    return store
  }

  @Test func `a room that nobody has searched has no index`() {
    var store = filled(100)
    store.workToEnd()
    #expect(!store.records.keys.contains { $0.hasPrefix("i/") })
  }

  @Test func `an indexed room is searched without reading its segments again`() {
    var store = filled(2_000)
    _ = store.found("cup")
    let before = store.readSegments
    #expect(store.found("number1234") == ["cup number1234"])
    #expect(store.readSegments == before + 1)
  }

  @Test(arguments: 0..<40) func `a crash between any two steps loses nothing`(steps: Int) {
    var store = filled(500)
    store.apply(store.index.begin(Store.room))
    for _ in 0..<steps * 2 { _ = store.work() }
    store.restart()
    store.sync([Store.message("cup new", "$new")])
    for _ in 0..<steps { _ = store.work() }
    store.restart()
    #expect(store.found("cup").count == 501 && store.found("number7").count == 11)
  }

  @Test func `pages that come while the room is being indexed are found, each message once`() {
    var store = filled(600)
    store.apply(store.index.begin(Store.room))
    for page in 1...50 {
      _ = store.work()
      store.put(SegmentPosition(block: 30, page: Int32(page)), [Store.message("old cup", "$old\(page)")])
      _ = store.work()
    }
    #expect(store.found("old").count == 50 && store.found("cup").count == 650)
  }

  @Test func `new segments make spans of their own, and none is read twice`() {
    var store = Store()
    store.apply(store.index.begin(Store.room))
    store.workToEnd()
    for number in 0..<200 {
      store.sync([Store.message("cup \(number)", "$\(number)")])
      store.workToEnd()
    }
    #expect(store.records.keys.filter { $0.hasPrefix("i/a/") }.count == 1 + 200 % MessageIndex.newSegments)
    #expect(store.found("cup").count == 200)
  }

  @Test func `history that goes takes its index along`() {
    var store = filled(3_000)
    _ = store.found("cup")
    let all = store.records.keys.filter { $0.hasPrefix("i/s/") }.count
    store.write((0..<250).map { .delete(key: TimelineRecord.key(of: SegmentPosition(block: $0), in: Store.room)) })
    #expect(store.found("cup").count == 500)
    #expect(store.records.keys.filter { $0.hasPrefix("i/s/") }.count <= all / 2)
    store.restart()
    #expect(store.found("cup").count == 500)
  }

  @Test func `a room that is forgotten and a store that begins afresh leave nothing`() {
    var store = filled(100)
    _ = store.found("cup")
    store.write([.deleteAll(prefix: TimelineRecord.prefix(of: Store.room))])
    store.workToEnd()
    #expect(store.records.isEmpty)
    var fresh = filled(100)
    _ = fresh.found("cup")
    fresh.write([.deleteAll(prefix: "t/")])
    fresh.workToEnd()
    #expect(fresh.records.isEmpty)
    var left = filled(100)
    _ = left.found("cup")
    left.apply(left.index.forget(Store.room))
    left.workToEnd()
    #expect(!left.records.keys.contains { $0.hasPrefix("i/") } && left.found("cup").count == 100)
  }

  @Test func `a store that takes nothing ends the index, not the client`() {
    var store = filled(100)
    store.apply(store.index.begin(Store.room))
    while true {
      if case .write = store.index.next() { break }
      _ = store.work()
    }
    store.index.written(false)
    #expect(store.index.isBroken && !store.work() && store.found("cup").isEmpty)
    store.sync([Store.message("cup", "$a")])
  }

  @Test func `the index needs less than a tenth of what the store has of the events`() {
    var store = Store()
    var random = SystemRandomNumberGenerator()
    for block in 0..<200 {
      store.sync((0..<20).map { Store.stored(Prose.message(&random), "$\(block)-\($0)-abcdefghijklmnopqrstuvwxyz0123456789") })
    }
    _ = store.found("a")
    let index = store.records.filter { $0.key.hasPrefix("i/") }.reduce(0) { $0 + $1.key.count + $1.value.count }
    let events = store.records.filter { $0.key.hasPrefix("t/") }.reduce(0) { $0 + $1.key.count + $1.value.count }
    #expect(index * 10 < events, "\(index) of \(events) bytes")
  }

  @Test func `terms of a record are found by their beginnings, of any record that was damaged none`() {
    var terms: [ByteString: [UInt32]] = [:]
    for (number, word) in ["te", "tea", "teapot", "team", "tech", "a", "zebra", "tée"].enumerated() {
      terms[ByteString(word)] = [UInt32(number), UInt32(number + 100)]
    }
    let record = SpanTerms.bytes(terms)
    func found(_ prefix: String, in record: [UInt8]) -> [Int] {
      var found = DocumentSet(count: 200), numbers: [Int] = []
      SpanTerms.find(Array(prefix.utf8), in: record, &found)
      found.forEach { numbers.append($0) }
      return numbers
    }
    #expect(found("tea", in: record) == [1, 2, 3, 101, 102, 103] && found("te", in: record).count == 10)
    #expect(found("a", in: record) == [5, 105] && found("z", in: record) == [6, 106] && found("teb", in: record).isEmpty)
    #expect(found("tée", in: record) == [7, 107] && found("teapots", in: record).isEmpty)
    for cut in record.indices {
      _ = found("tea", in: Array(record[..<cut]))
      var damaged = record
      damaged[cut] ^= 0xFF
      _ = found("tea", in: damaged)
    }
  }
}

/// Text whose words are as frequent as in a language.
enum Prose {
  static func message(_ random: inout some RandomNumberGenerator) -> String {
    (0..<Int.random(in: 3...16, using: &random)).map { _ in
      var rank = 6_000.0
      for _ in 0..<3 { rank *= Double.random(in: 0..<1, using: &random) }
      return word(Int(rank))
    }.joined(separator: " ")
  }

  static func word(_ rank: Int) -> String {
    var rest = rank, word = ""
    let syllables = ["te", "ka", "no", "ri", "sa", "mo", "lu", "pe", "di", "go", "hu", "ba", "ve", "fi", "ce", "an"]
    repeat {
      word += syllables[rest % 16]
      rest /= 16
    } while rest > 0
    return word
  }
}
