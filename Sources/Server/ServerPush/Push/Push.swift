import Database
import MatrixModel
import Outbound
import ServerSync
import Synchronization
import Telemetry

/// Pushes notifications to gateways and push services and sends mails about them, in the background.
///
/// Spec: Client-Server API, "Push Notifications"; Push Gateway API.
package final class Push: Sendable {
  private let pushers: Pushers
  private let evaluation: PushEvaluation
  private let delivery: PushDelivery
  /// nil where no mail is sent.
  private let mails: MailDelivery?
  private let log: Log
  private let worker = Mutex<Task<Void, Never>?>(nil)

  /// - Parameter mail: sends mails whose links begin with `base`; nil if none are sent.
  package init(
    _ mails: NotificationMails, database: Database, pushers: Pushers, sources: SyncSources, http: HTTPClient,
    mail: (sender: MailSender, base: String)?, log: Log
  ) {
    self.pushers = pushers
    self.log = log
    let clock = pushers.clock
    evaluation = PushEvaluation(
      database: database, rooms: sources.rooms, pushRules: sources.pushRules, audience: pushers.audience,
      sendsMail: pushers.sendsMail, clock: clock)
    delivery = PushDelivery(
      database: database, pushers: pushers, evaluation: evaluation, rooms: sources.rooms,
      badges: UnreadBadges(rooms: sources.rooms, unread: sources.unread, receipts: sources.receipts),
      webPush: pushers.vapidKey.map { WebPush(key: $0) }, http: http, clock: clock, log: log)
    self.mails = mail.map {
      MailDelivery(
        mails, base: $0.base, database: database, sources: sources, mail: $0.sender, clock: clock, log: log)
    }
  }

  /// Begins to work; what waits since the last time goes first.
  package func start() {
    let task = Task { [self] in
      await round(startingAll: true)
      while !Task.isCancelled {
        await pushers.work.signal.wait()
        await round(startingAll: false)
      }
    }
    worker.withLock { $0 = task }
  }

  package func stop() async {
    let task = worker.withLock { $0 }
    task?.cancel()
    await task?.value
    await delivery.stop()
    await mails?.stop()
  }

  private func round(startingAll isFirst: Bool) async {
    let due = pushers.work.take()
    start(due.readers)
    for pusher in due.activations { delivery.start(pusher) }
    do {
      let users = try await evaluation.run()
      if isFirst { start(pushers.audience.users) } else { start(users) }
    } catch is CancellationError {
    } catch DatabaseError.closed {
    } catch {
      log.error("push rules were not evaluated", ["error": .text("\(error)")])
    }
  }

  private func start(_ users: some Sequence<UserID>) {
    for user in users {
      for (pusher, kind) in pushers.audience.pushers(of: user) {
        switch kind {
        case .http, .webPush: delivery.start(pusher)
        case .email: mails?.start(pusher)
        }
      }
    }
  }

  /// Evaluates and pushes everything that is due and returns when it is done: for tests, which have no background.
  func catchUp() async throws {
    _ = try await evaluation.run()
    await deliver()
  }

  /// Pushes what was evaluated: for tests.
  func deliver() async {
    start(pushers.audience.users)
    await delivery.settle()
    await mails?.settle()
  }
}
