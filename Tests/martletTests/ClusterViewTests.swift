import Database
import Testing

@testable import martlet

@Suite("What a node knows of the others")
struct ClusterViewTests {
  private let b = NodeCensus.Node(name: "b", address: "b.example:80"), c = NodeCensus.Node(name: "c", address: "c.example:80")

  @Test("Nodes that come and go, and the one that works, are told once")
  func census() {
    var view = ClusterView()
    #expect(view.note(NodeCensus(others: [b, c], worker: "a")) == [.came(b), .came(c), .worker("a")])
    #expect(view.note(NodeCensus(others: [b, c], worker: "a")).isEmpty)
    #expect(view.nodes == [b, c])
    // Rows are old for a moment when a database is back.
    #expect(view.note(NodeCensus(others: [b], worker: "a")).isEmpty)
    #expect(view.note(NodeCensus(others: [b, c], worker: "a")).isEmpty)
    #expect(view.note(NodeCensus(others: [b], worker: nil)).isEmpty)
    #expect(view.note(NodeCensus(others: [b], worker: nil)) == [.gone(c), .worker(nil)])
    #expect(view.note(NodeCensus(others: [b], worker: "b")) == [.worker("b")])
    #expect(view.nodes == [b])
    let moved = NodeCensus.Node(name: "b", address: "elsewhere.example:80")
    #expect(view.note(NodeCensus(others: [moved], worker: "b")) == [.came(moved)])
  }

  @Test("A node that does not answer twice is told as unreachable once, and once when it answers")
  func reachability() {
    var view = ClusterView()
    _ = view.note(NodeCensus(others: [b]))
    #expect(view.note(b, answers: false) == nil)
    #expect(view.note(b, answers: true) == nil)
    #expect(view.note(b, answers: false) == nil)
    #expect(view.unreachableCount == 0)
    #expect(view.note(b, answers: false) == .unreachable(b))
    #expect(view.note(b, answers: false) == nil)
    #expect(view.unreachableCount == 1)
    #expect(view.note(b, answers: true) == .reachable(b))
    #expect(view.unreachableCount == 0)
    #expect(view.note(c, answers: false) == nil, "it is gone by now")
    // One that is about to stop does not answer any more.
    _ = view.note(NodeCensus())
    #expect(view.note(b, answers: false) == nil)
    #expect(view.note(b, answers: false) == nil)
  }

  @Test("A clock that is off by more than two seconds is told once, and once when it is right")
  func clock() {
    var view = ClusterView()
    #expect(view.note(clockOffset: .seconds(2)) == nil)
    #expect(view.note(clockOffset: .seconds(-3)) == .clockOff(-3))
    #expect(view.note(clockOffset: .seconds(5)) == nil)
    #expect(view.clockOffset == .seconds(5))
    #expect(view.note(clockOffset: .zero) == .clockRight)
  }
}
