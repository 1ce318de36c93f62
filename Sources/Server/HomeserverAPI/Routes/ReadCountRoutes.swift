import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// How many members have read events: ours, announced as `martlet.read_counts`.
extension Routes {
  mutating func addReadCountRoutes() {
    let receipts = homeserver.receipts

    on(.getReadCounts) { request, session in
      let texts = try request.query().all("event_id")
      guard !texts.isEmpty else { throw MatrixError.missingParameter("event_id") }
      let eventIDs = try texts.map { text in
        guard let eventID = EventID(text) else { throw MatrixError.invalidParameter("'event_id' is not valid.") }
        return eventID
      }
      let counts = try await receipts.readCounts(of: eventIDs, in: try request.path("roomId"), for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.key("counts")
          writer.object { writer in
            for count in counts {
              writer.key(count.eventID)
              writer.object { writer in
                writer.member("read", count.read)
                writer.member("unread", count.unread)
                writer.member("total", count.total)
              }
            }
          }
        }
      }
    }
  }
}
