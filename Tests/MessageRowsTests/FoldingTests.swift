import MatrixModel
import Messenger
import Testing

@testable import ClientCore
@testable import MessageRows

@Suite("What is folded")
struct FoldingTests {
  private let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bob:two.example")

  private func item(_ id: ItemID, _ content: TimelineItem.Content, at time: Int64 = 0) -> TimelineItem {
    TimelineItem(id: id, sender: bob, timestampMilliseconds: time, content: content, delivery: .received)
  }

  private func joined(_ id: ItemID, _ user: UserID) -> TimelineItem { item(id, .state(.joined(user))) }
  private func left(_ id: ItemID, _ user: UserID) -> TimelineItem { item(id, .state(.left(user, reason: nil))) }
  private func unread(_ id: ItemID, _ reason: UndecryptableReason = .waiting) -> TimelineItem {
    item(id, .undecryptable(reason))
  }

  /// The items of which it is said that they were sent before the user joined.
  private func fromBefore(_ folding: Folding) -> [ItemID] { folding.entries.filter(\.isFromBefore).map(\.id) }

  @Test("What waits for a key and stands before the user's joining is from before; what stands behind it waits")
  func joining() {
    let folding = Folding([unread(1), unread(2), joined(3, ann), unread(4)], own: ann)
    #expect(fromBefore(folding) == [1, 2])
    #expect(folding.pieces(0..<4).map(\.range) == [0..<3, 3..<4], "one row for all that was before")
  }

  @Test("A sender's clock that is slow makes nothing a message from before")
  func clocks() {
    let early = item(2, .undecryptable(.waiting), at: 1)
    let folding = Folding([item(1, .state(.joined(ann)), at: 1_000), early], own: ann)
    #expect(fromBefore(folding).isEmpty)
  }

  @Test("A user who left and came back is told so only of what was sent in between")
  func stays() {
    let items = [unread(1), joined(2, ann), unread(3), left(4, ann), unread(5), joined(6, ann), unread(7)]
    #expect(fromBefore(Folding(items, own: ann)) == [1, 5])
    let kicked = [joined(1, ann), unread(2), item(3, .state(.kicked(ann, reason: nil))), unread(4), joined(5, ann)]
    #expect(fromBefore(Folding(kicked, own: ann)) == [4])
  }

  @Test("The joining of others, or of nobody, says nothing")
  func others() {
    #expect(fromBefore(Folding([unread(1), joined(2, bob)], own: ann)).isEmpty)
    #expect(fromBefore(Folding([unread(1), joined(2, ann)])).isEmpty)
    #expect(fromBefore(Folding([unread(1)], own: ann)).isEmpty)
  }

  @Test(
    "Pages of history that come later are judged by the joining that is there, and what becomes readable is from before no longer"
  )
  func pages() {
    var folding = Folding([joined(3, ann), unread(4)], own: ann)
    folding.insert([unread(1), unread(2)], at: 0)
    #expect(fromBefore(folding) == [1, 2])
    folding.update(item(1, .redacted), at: 0)
    #expect(fromBefore(folding) == [2])
    folding.update(unread(1, .historyUnavailable(.noBackup)), at: 0)
    #expect(fromBefore(folding) == [1, 2])
    folding.insert([unread(5)], at: 4)
    #expect(fromBefore(folding) == [1, 2])
  }

  @Test(
    "A reason that says it by itself needs no joining; a reason with a remedy is never folded away",
    arguments: [
      (UndecryptableReason.beforeJoining, true), (.withheld(.historyNotShared), true), (.withheld(.unverified), false),
      (.historyUnavailable(.unverifiedDevice), false), (.unsignedDevice, false), (.damaged, false), (.replayed, false)
    ])
  func reasons(_ reason: UndecryptableReason, _ isFolded: Bool) {
    #expect(fromBefore(Folding([unread(1, reason)], own: ann)) == (isFolded ? [1] : []))
    #expect(fromBefore(Folding([unread(1, reason), joined(2, ann)], own: ann)) == (isFolded ? [1] : []))
  }
}
