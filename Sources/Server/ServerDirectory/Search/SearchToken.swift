import JSON
import MatrixModel

/// Where a search goes on: `r<position>` behind the last result by time, `k<position>_<offset>` behind so many matches by rank
/// among those up to a position; then, for one group alone, `.room_id.<room>` or `.sender.<user>`.
struct SearchToken: Sendable, Equatable {
  let order: SearchRequest.Order
  /// Matches at or above it are not looked at.
  let below: Int64
  /// Matches passed over, by rank.
  let offset: Int
  var group: Group?

  struct Group: Sendable, Equatable {
    let grouping: SearchRequest.Grouping
    let value: ByteString
  }

  init(order: SearchRequest.Order, below: Int64, offset: Int, group: Group? = nil) {
    self.order = order
    self.below = below
    self.offset = offset
    self.group = group
  }

  init?(_ text: ByteString) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
    guard let place = parts.first, let sigil = place.first else { return nil }
    let numbers = place.dropFirst().split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).map(Self.number)
    if sigil == UInt8(ascii: "r"), numbers.count == 1, let below = numbers[0] {
      (order, self.below, offset) = (.recent, below, 0)
    } else if sigil == UInt8(ascii: "k"), numbers.count == 2, let below = numbers[0], let offset = numbers[1] {
      (order, self.below, self.offset) = (.rank, below, Int(clamping: offset))
    } else {
      return nil
    }
    guard parts.count > 1 else { return }
    let name = ByteString(decoding: parts[1])
    guard parts.count == 3, let grouping = SearchRequest.Grouping.allCases.first(where: { name == $0.name }) else {
      return nil
    }
    group = Group(grouping: grouping, value: ByteString(decoding: parts[2]))
  }

  var text: ByteString {
    let place = order == .recent ? "r\(below)" : "k\(below)_\(offset)"
    return ByteString(group.map { "\(place).\($0.grouping.name).\($0.value)" } ?? place)
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int64? {
    guard (1...19).contains(digits.count) else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self)).flatMap { $0 >= 0 ? $0 : nil }
  }
}
