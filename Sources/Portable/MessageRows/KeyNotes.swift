import ClientCore
import MatrixModel
import Messenger

/// The keys of a user have changed: when this device saw it, in milliseconds since 1970.
package struct KeyNote: Equatable {
  package let user: UserID
  package let at: Int64

  package init(user: UserID, at: Int64) {
    self.user = user
    self.at = at
  }
}

/// Where a timeline tells that keys have changed: between the items of before and after. No event says so, so these rows have no items. Those at one
/// place are told in one row.
struct KeyNotes {
  private static let mark: UInt64 = 1 << 61

  private struct Placed {
    let note: KeyNote
    let row: RowID
    /// The item that it stands before; nil while it is older than all items at hand.
    var index: Int?
  }

  private var placed: [Placed]

  /// - Parameter notes: the oldest first.
  init(_ notes: [KeyNote] = []) {
    placed = notes.map { note in
      // Several users may have changed at one moment.
      let rank = notes.prefix { $0 != note }.filter { $0.at == note.at }.count
      return Placed(note: note, row: RowID(Self.mark | UInt64(clamping: note.at) << 8 | UInt64(rank & 0xff)), index: nil)
    }
  }

  static func isNote(_ row: RowID) -> Bool { row.rawValue & mark != 0 && row.rawValue & Folding.firstMark == 0 }

  var isEmpty: Bool { placed.isEmpty }

  func hasNotes(before index: Int) -> Bool { placed.contains { $0.index == index } }

  /// The row at that place, and the changes that it tells of.
  func row(before index: Int) -> (row: RowID, notes: [KeyNote])? {
    let here = placed.filter { $0.index == index }
    return here.first.map { ($0.row, here.map { $0.note }) }
  }

  func index(of row: RowID) -> Int? { placed.first { $0.row == row }.flatMap { $0.index } }

  // MARK: Changing

  /// - Parameter times: of the items, in milliseconds since 1970.
  mutating func insert(_ times: [Int64], at index: Int) {
    for place in placed.indices {
      let at = placed[place].note.at
      let earlier = times.lastIndex { $0 <= at }.map { index + $0 + 1 }
      switch placed[place].index {
      case nil: placed[place].index = earlier
      case let old? where old > index: placed[place].index = old + times.count
      case let old? where old == index: placed[place].index = earlier ?? old
      default: break
      }
    }
  }

  mutating func remove(_ range: Range<Int>) {
    for place in placed.indices {
      guard let old = placed[place].index, old > range.lowerBound else { continue }
      placed[place].index = old >= range.upperBound ? old - range.count : range.lowerBound
    }
  }
}
