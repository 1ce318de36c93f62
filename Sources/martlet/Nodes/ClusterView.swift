import Database
import Telemetry

/// What a node knows of the others, and of its clock: takes what was found, and returns what is new to the operator.
struct ClusterView {
  enum News: Equatable {
    case came(NodeCensus.Node)
    /// It was stopped, or has died.
    case gone(NodeCensus.Node)
    case unreachable(NodeCensus.Node)
    case reachable(NodeCensus.Node)
    /// Which node does what only one does; nil if none does.
    case worker(String?)
    /// In seconds, positive if this machine is ahead.
    case clockOff(Double)
    case clockRight
  }

  private struct Known {
    var node: NodeCensus.Node
    /// How often it was not there, and did not answer, one after the other.
    var absences = 0, failures = 0
    var isToldLost = false
  }

  /// A single failure says little: a node may be about to start or to stop.
  private static let failuresLimit = 2
  /// Beyond it timestamps of messages are noticeably wrong.
  private static let clockLimit = Duration.seconds(2)

  private var known: [String: Known] = [:]
  private var worker: String??
  private var workerAbsences = 0
  private(set) var clockOffset = Duration.zero
  private var isClockOff = false

  /// The other nodes that run.
  var nodes: [NodeCensus.Node] { known.values.map(\.node).sorted { $0.name < $1.name } }

  /// How many of them do not answer at their addresses.
  var unreachableCount: Int { known.values.count { $0.failures >= Self.failuresLimit } }

  mutating func note(_ census: NodeCensus) -> [News] {
    var news: [News] = []
    for node in census.others where known[node.name]?.node != node {
      known[node.name] = Known(node: node)
      news.append(.came(node))
    }
    let names = Set(census.others.map(\.name))
    for (name, node) in known.sorted(by: { $0.key < $1.key }) {
      let absences = names.contains(name) ? 0 : node.absences + 1
      known[name]?.absences = absences
      guard absences >= Self.failuresLimit else { continue }
      known[name] = nil
      news.append(.gone(node.node))
    }
    workerAbsences = census.worker == nil ? workerAbsences + 1 : 0
    // One gives the work to the other when it stops.
    if worker != .some(census.worker), census.worker != nil || workerAbsences >= Self.failuresLimit {
      worker = .some(census.worker)
      news.append(.worker(census.worker))
    }
    return news
  }

  /// - Parameter node: has answered at its address, or has not.
  mutating func note(_ node: NodeCensus.Node, answers: Bool) -> News? {
    guard let before = known[node.name], before.node == node else { return nil }
    let failures = answers ? 0 : min(before.failures + 1, Self.failuresLimit)
    known[node.name]?.failures = failures
    // One that has just stopped does not answer any more.
    let isLost = failures == Self.failuresLimit && (before.isToldLost || before.absences == 0)
    known[node.name]?.isToldLost = isLost
    guard isLost != before.isToldLost else { return nil }
    return isLost ? .unreachable(node) : .reachable(node)
  }

  mutating func note(clockOffset offset: Duration) -> News? {
    clockOffset = offset
    let isOff = max(offset, .zero - offset) > Self.clockLimit
    guard isOff != isClockOff else { return nil }
    isClockOff = isOff
    return isOff ? .clockOff(offset / .seconds(1)) : .clockRight
  }

}

extension ClusterView.News {
  func write(to log: Log) {
    func fields(_ node: NodeCensus.Node) -> LogFields { ["node": .text(node.name), "address": .text(node.address)] }
    switch self {
    case .came(let node): log.info("another node is there", fields(node))
    case .gone(let node): log.warning("another node is gone: it has stopped, or was not heard of for ten seconds", fields(node))
    case .unreachable(let node): log.error("another node does not answer at its cluster.address", fields(node))
    case .reachable(let node): log.info("another node answers again at its cluster.address", fields(node))
    case .worker(let name?): log.info("this node does what one node alone does", ["node": .text(name)])
    case .worker(nil): log.warning("no node does what one node alone does")
    case .clockOff(let seconds):
      log.error("the clock of this machine is off from the database's: set both by NTP", ["seconds": .text("\(seconds)")])
    case .clockRight: log.info("the clock of this machine agrees with the database's again")
    }
  }
}
