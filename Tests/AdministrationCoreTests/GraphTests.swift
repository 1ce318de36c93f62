import Testing

@testable import AdministrationCore

struct GraphTests {
  @Test(
    "The top of a graph is the next of 1, 2, 5, 10, 20 …",
    arguments: [(0, 1), (1, 1), (3, 5), (10, 10), (11, 20), (501, 1_000), (.max, .max), (-5, 1)] as [(Int64, Int64)])
  func top(_ value: Int64, _ top: Int64) { #expect(Graph.top(of: value) == top) }

  @Test("A graph goes from left to right, zero is at the bottom, and nothing lies outside")
  func points() {
    let graph = Graph([0, 5, 10, -3], width: 300, height: 100)
    #expect(graph.top == 10)
    #expect(graph.line == "M0 100 L100 50 L200 0 L300 100")
    #expect(graph.area == "M0 100 L100 50 L200 0 L300 100 L300 100 L0 100 Z")
  }

  @Test("A graph of one day, of none and of the largest numbers is drawn without a trap")
  func extremes() {
    #expect(Graph([4], width: 300, height: 100).line == "M0 20")
    #expect(Graph([], width: 300, height: 100).area == "")
    #expect(Graph([.max, .min, .max], width: 300, height: 100).line == "M0 0 L150 100 L300 0")
  }
}
