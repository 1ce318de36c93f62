import Messenger
import Testing

@Suite("Heights of rows")
struct HeightIndexTests {
  // Proves W20
  @Test("Sums and lookups agree with plain addition through any edits")
  func agreesWithPlainAddition() {
    var numbers = Conversation(seed: 1)
    var index = HeightIndex()
    var plain: [Float] = []
    for step in 0..<600 {
      switch numbers.number(5) {
      case 0, 1:
        let height = Float(numbers.number(200))
        index.append(height)
        plain.append(height)
      case 2 where !plain.isEmpty:
        let at = Int(numbers.number(UInt64(plain.count)))
        let height = Float(numbers.number(200))
        #expect(index.set(at, height) == Double(height - plain[at]))
        plain[at] = height
      case 3:
        let at = Int(numbers.number(UInt64(plain.count + 1)))
        let new = [Float](repeating: Float(step), count: Int(numbers.number(9)))
        index.replaceSubrange(at..<at, with: new)
        plain.insert(contentsOf: new, at: at)
        index.append(7)
        plain.append(7)
        index.settle()
      default:
        guard plain.count > 3 else { continue }
        let at = Int(numbers.number(UInt64(plain.count - 2)))
        index.replaceSubrange(at..<at + 2, with: [])
        plain.removeSubrange(at..<at + 2)
        index.settle()
      }
      var sum = 0.0
      for row in 0..<plain.count {
        #expect(index.offset(of: row) == sum)
        if plain[row] > 0 {
          #expect(index.row(at: sum) == row)
          #expect(index.row(at: sum + Double(plain[row]) - 0.5) == row)
        }
        sum += Double(plain[row])
      }
      #expect(index.total == sum)
      #expect(index.offset(of: plain.count) == sum)
    }
  }

  @Test("Offsets outside belong to the first and the last row; no rows give zero")
  func outside() {
    var index = HeightIndex()
    #expect(index.row(at: 5) == 0)
    #expect(index.total == 0)
    index.replaceAll([10, 20, 30])
    #expect(index.row(at: -1) == 0)
    #expect(index.row(at: 1000) == 2)
    index.replaceAll([])
    #expect(index.row(at: 0) == 0)
  }
}
