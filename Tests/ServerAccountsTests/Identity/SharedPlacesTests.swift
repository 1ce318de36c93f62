import MatrixModel
import Outbound
import Synchronization
import Testing

@testable import ServerAccounts
@testable import ServerCore

@Suite struct SharedPlacesTests {
  @Test func `if all places are taken, the oldest place of the largest holder is freed`() {
    var places = SharedPlaces<String, Int>(limit: 5)
    for number in 1...3 { places.put(number, at: "greedy\(number)", from: 1) }
    places.put(0, at: "modest", from: 2)
    places.put(0, at: "other", from: 3)
    #expect(places.isFull && places["greedy1"] == 1)
    places.put(0, at: "late", from: 4)
    #expect(places["greedy1"] == nil && places["greedy2"] == 2)
    for key in ["modest", "other", "late"] { #expect(places[key] == 0) }
    // What changes stays where it is, and no older.
    places.put(9, at: "greedy2", from: 5)
    #expect(places["greedy2"] == 9 && places["greedy3"] == 3 && places.isFull)
    places.put(0, at: "later", from: 4)
    #expect(places["greedy2"] == nil)
    #expect(places.remove("later") == 0 && places.remove("later") == nil && !places.isFull)
    places.removeAll { $0 == 0 }
    #expect(places["modest"] == nil && places["greedy3"] == 3)
  }

  @Test func `one network that begins all sign-ins there may be ends only its own`() {
    let time = Time()
    let store = ExpiringStore<Int>(clock: WallClock { time.milliseconds.load(ordering: .relaxed) })
    store.put(1, at: "person", from: 7)
    for number in 1..<ExpiringStore<Int>.countLimit { store.put(number, at: "attack\(number)", from: 8) }
    #expect(store.take("attack1") == 1)
    store.put(1, at: "attack1 again", from: 8)
    store.put(2, at: "one more", from: 9)
    #expect(store.take("attack2") == nil && store.take("attack3") == 3)
    #expect(store.take("person") == 1 && store.take("one more") == 2)
    store.put(1, at: "old", from: 7)
    time.milliseconds.store(ExpiringStore<Int>.lifetimeMilliseconds, ordering: .relaxed)
    #expect(store.take("old") == nil)
  }

  @Test func `who asks for mails to many addresses leaves the others theirs`() throws {
    var budget = MailBudget()
    func address(_ name: String) throws -> MailAddress { try #require(MailAddress("\(name)@example.org")) }
    let ann = try address("ann")
    for _ in 0..<Int(MailBudget.burst) { try budget.take(ann, now: 0, from: 1) }
    for number in 1..<MailBudget.addressesLimit { try budget.take(try address("a\(number)"), now: 0, from: 2) }
    try budget.take(try address("bob"), now: 0, from: 3)
    #expect(throws: MatrixError.self) { try budget.take(ann, now: 0, from: 2) }
    #expect(throws: MatrixError.self) { try budget.take(ann, now: 0, from: 1) }
  }

  private final class Time: Sendable {
    let milliseconds = Atomic<Int64>(0)
  }
}
