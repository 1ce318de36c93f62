import Testing

@testable import Messenger

@Suite("The store of rows")
struct RowStoreTests {
  @Test("Rows are found by identity through any edits")
  func findsRows() {
    var numbers = Conversation(seed: 2)
    var store = RowStore { Int($0 / 86_400_000) }
    var plain: [UInt64] = []
    var next: UInt64 = 1
    for _ in 0..<800 {
      if numbers.number(3) > 0 || plain.isEmpty {
        let at = Int(numbers.number(UInt64(plain.count + 1)))
        let new = (0..<numbers.number(5)).map { next + $0 }
        next += 5
        #expect(store.insert(new.map { message($0) }, at: at) == new.count)
        plain.insert(contentsOf: new, at: at)
      } else {
        let at = Int(numbers.number(UInt64(plain.count)))
        #expect(store.index(of: RowID(plain[at])) == at)
        store.remove(at: at)
        #expect(store.index(of: RowID(plain[at])) == nil)
        plain.remove(at: at)
      }
      #expect(store.count == plain.count)
    }
    for (index, id) in plain.enumerated() {
      #expect(store.index(of: RowID(id)) == index)
      #expect(store[index].row.id == RowID(id))
    }
  }

  @Test("A row that is there already is replaced in its place, also twice in one batch")
  func replacesKnownRows() {
    var store = RowStore { _ in 0 }
    store.replaceAll([message(1), message(2), message(1, "again")])
    #expect(store.count == 2)
    #expect(store.insert([message(2, "new"), message(3), message(3, "later")], at: 0) == 1)
    #expect(store.count == 3)
    #expect(store.index(of: RowID(3)) == 0)
    #expect(store.index(of: RowID(1)) == 1)
    guard case .message(let changed) = store[2].row.content, case .text(let text) = changed.body else {
      Issue.record("no message")
      return
    }
    #expect(text == "new")
    #expect(store[2].version == 1)
  }

  @Test("A new identity in an old place is found, the old one is not")
  func renames() {
    var store = RowStore { _ in 0 }
    store.replaceAll([message(1), message(2)])
    store.update(message(9), at: 1)
    #expect(store.index(of: RowID(9)) == 1)
    #expect(store.index(of: RowID(2)) == nil)
  }
}
