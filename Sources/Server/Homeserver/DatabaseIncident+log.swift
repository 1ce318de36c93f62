import Database
import Telemetry

extension DatabaseIncident {
  func write(to log: Log) {
    switch self {
    case .away(let message): log.error("the database cannot be reached", ["error": .text(message)])
    case .back: log.info("the database can be reached again")
    case .busAway: log.error("NATS cannot be reached: nodes look at the database, and typing and presence stay at each node")
    case .busBack: log.info("NATS can be reached again")
    case .unansweredCommit(let isDurable):
      log.warning("the database did not answer a commit", ["durable": .bool(isDurable)])
    case .wentBack(let lost, let position):
      log.error(
        "the database went back to an earlier state: acknowledged commits are lost",
        ["commits": .integer(lost), "position": .integer(position)])
    case .changedFromOutside(let position):
      log.error("somebody else has written to the database", ["position": .integer(position)])
    }
  }
}
