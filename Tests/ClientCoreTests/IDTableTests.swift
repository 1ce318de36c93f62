import MatrixModel
import Testing

@testable import ClientCore

@Suite struct IDTableTests {
  @Test func `it holds what a dictionary holds, in the order of the IDs`() {
    var random = RandomSource(seed: 7)
    var table: IDTable<Int> = [:]
    var dictionary: [UInt32: Int] = [:]
    for step in 0..<2_000 {
      let id = UInt32(random.next() % 50)
      switch random.next() % 4 {
      case 0: #expect(table.removeValue(forKey: id) == dictionary.removeValue(forKey: id))
      case 1:
        table[id] = nil
        dictionary[id] = nil
      default:
        table[id] = step
        dictionary[id] = step
      }
      #expect(table[id] == dictionary[id])
    }
    #expect(table.keys == dictionary.keys.sorted() && table.values == table.keys.map { dictionary[$0] })
    table.removeAll { $0 % 2 == 0 }
    #expect(table.values.allSatisfy { $0 % 2 == 1 } && table.keys == dictionary.filter { $0.value % 2 == 1 }.keys.sorted())
  }
}

@Suite struct BoxedTests {
  struct Holder {
    @Boxed var numbers = [1]
  }

  @Test func `a copy keeps what was in it when the other changes`() {
    var one = Holder()
    let other = one
    one.numbers.append(2)
    #expect(one.numbers == [1, 2] && other.numbers == [1])
  }

  @Test func `what nobody else has changes in place`() {
    var one = Holder()
    one.numbers.reserveCapacity(10)
    let place = one.numbers.withUnsafeBufferPointer { $0.baseAddress }
    one.numbers.append(2)
    #expect(one.numbers.withUnsafeBufferPointer { $0.baseAddress } == place)
  }
}
