import HTTPServer
import JSON
import MatrixModel
import ServerDirectory

/// Reporting rooms, events and users.
extension Routes {
  mutating func addReportRoutes() {
    let reports = homeserver.reports

    on(.reportRoom, budget: .report) { request, session in
      let reason = try await request.object().requiredText("reason")
      try await reports.add(.room(try request.path("roomId")), reason: reason, by: session.userID)
      return .emptyObject
    }

    on(.reportEvent, budget: .report) { request, session in
      let reason = try await request.optionalObject().optionalText("reason") ?? ""
      let subject = Reports.Subject.event(try request.path("eventId"), try request.path("roomId"))
      try await reports.add(subject, reason: reason, by: session.userID)
      return .emptyObject
    }

    on(.reportUser, budget: .report) { request, session in
      let reason = try await request.object().requiredText("reason")
      try await reports.add(.user(try request.path("userId")), reason: reason, by: session.userID)
      return .emptyObject
    }
  }
}
