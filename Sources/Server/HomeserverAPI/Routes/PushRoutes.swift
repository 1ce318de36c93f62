import HTTPServer
import JSON
import MatrixModel
import ServerPush

/// Pushers, and the list of events that the user was notified of.
extension Routes {
  mutating func addPushRoutes() {
    let (pushers, notifications) = (homeserver.pushers, homeserver.notifications)
    let clock = homeserver.configuration.clock

    on(.getPushers) { _, session in
      let all = try await pushers.all(of: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.key("pushers")
          writer.array { writer in for pusher in all { pusher.write(to: &writer) } }
        }
      }
    }

    on(.postPusher) { request, session in
      let waits = try await pushers.set(
        try await request.object(), of: session.userID, by: session.hasDevice ? session.deviceID : nil)
      return waits ? .json(status: 201) { $0.object { _ in } } : .emptyObject
    }

    on(.activatePusher, alsoAt: ["/_matrix/client/v3/pushers/ack"]) { request, session in
      try await pushers.activate(try await request.object(), of: session.userID)
      return .emptyObject
    }

    on(.getNotifications) { request, session in
      let query = try request.query()
      let only = query.text("only")
      guard only == nil || only == "highlight" || only == "" else {
        throw MatrixError.invalidParameter("'only' is highlight or left out.")
      }
      let limit = try query.integer("limit").map { Int(min($0, 1_000)) }
      let page = try await notifications.page(
        of: session.userID, from: query.text("from"), limit: limit, onlyHighlights: only == "highlight")
      let reader = session.reader(clock)
      return .json(capacity: 4096) { page.write(to: &$0, for: reader) }
    }
    addUnsubscribePages()
  }

  /// The link in a mail. Programs that look at mails follow links too, so a look changes nothing: a person presses the button, or
  /// their mail program posts what RFC 8058 says, which is the same request.
  private mutating func addUnsubscribePages() {
    let pushers = homeserver.pushers
    let path = Pushers.unsubscribePath
    let ended = MatrixError.notFound("These mails have been switched off already, or there is a newer link in a newer mail.")

    on(.get, path, budget: .read) { request in
      try await Self.page(request) { request in
        let token = try request.query().required("token")
        guard let address = try await pushers.subscription(token) else { throw ended }
        return Page(
          title: "No more mails?",
          paragraphs: ["Mails about unread messages go to \(address)."],
          actions: [.button("Stop these mails", path: "\(path)?token=\(PercentEncoding.encode(token))", leadsTo: nil)]
        ).response()
      }
    }

    on(.post, path, budget: .write) { request in
      try await Self.page(request) { request in
        guard try await pushers.unsubscribe(try request.query().required("token")) else { throw ended }
        return Page(title: "Done", paragraphs: ["You get no more mails about unread messages."]).response()
      }
    }
  }
}
