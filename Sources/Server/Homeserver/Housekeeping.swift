import Telemetry

/// The server's own chores: it finishes what a stop interrupted, and forgets what is too old.
extension Homeserver {
  private struct Chore {
    /// The consequence of a failure, for the log.
    let trouble: StaticString
    let work: @Sendable () async throws -> Void

    init(orElse trouble: StaticString, _ work: @escaping @Sendable () async throws -> Void) {
      self.trouble = trouble
      self.work = work
    }
  }

  private var afterStart: [Chore] {
    [
      Chore(orElse: "what administrators started does not go on") { [administrationTasks] in
        try await administrationTasks.resume()
      },
      Chore(orElse: "deactivated users may still be in rooms") { [accounts, log] in
        try await accounts.finishDeactivations { user, error in
          log.error("a deactivated user is still in rooms", ["user": .text(user), "error": .text("\(error)")])
        }
      },
      Chore(orElse: "a search does not find all old messages yet") { [search] in try await search.indexOldEvents() }
    ]
  }

  private var hourly: [Chore] {
    [
      Chore(orElse: "old transactions stay") { [rooms] in try await rooms.forgetOldTransactions() },
      Chore(orElse: "old entries of the audit log stay") { [audit] in try await audit.forgetOld() },
      Chore(orElse: "the figures of the day are not noted") { [dailyStatistics] in try await dailyStatistics.note() },
      Chore(orElse: "old administration tasks stay") { [administrationTasks] in
        try await administrationTasks.forgetOld()
      },
      Chore(orElse: "old transactions of notices stay") { [serverNotices] in
        try await serverNotices.forgetOldTransactions()
      },
      Chore(orElse: "rows of purged rooms stay") { [rooms] in try await rooms.resumePurges() },
      Chore(orElse: "old purges stay") { [rooms] in try await rooms.forgetOldPurges() },
      Chore(orElse: "expired messages stay") { [rooms] in _ = try await rooms.purgeExpiredMessages() },
      Chore(orElse: "old delayed events stay") { [delayedEvents] in try await delayedEvents.forgetFinalised() },
      Chore(orElse: "finished bulk jobs stay") { [bulkLeaves] in try await bulkLeaves.forgetFinished() },
      Chore(orElse: "media IDs that nobody filled stay") { [media] in
        try await media.pending.sweep()
      },
      Chore(orElse: "files that no content names stay") { [media] in try await media.sweepContent() },
      Chore(orElse: "old pictures of previews stay") { [urlPreviews] in try await urlPreviews.sweep() },
      Chore(orElse: "old invite links stay") { [accounts] in try await accounts.inviteLinks.forgetOld() },
      Chore(orElse: "keys of deleted backups stay") { [keyBackups] in try await keyBackups.finishDeletions() }
    ]
  }

  /// What each node does on its own disk.
  private var hourlyEverywhere: [Chore] {
    [Chore(orElse: "parts of uploads that nobody ended stay") { [media] in try await media.sweepParts() }]
  }

  /// Keeps house until the task is cancelled.
  func keepHouse() async {
    await run(afterStart)
    await repeatHourly(hourly)
  }

  func keepOwnHouse() async { await repeatHourly(hourlyEverywhere) }

  private func repeatHourly(_ chores: [Chore]) async {
    while !Task.isCancelled {
      await run(chores)
      try? await Task.sleep(for: .seconds(3_600))
    }
  }

  /// One after the other; one that fails does not keep the next from its work.
  private func run(_ chores: [Chore]) async {
    for chore in chores where !Task.isCancelled {
      do {
        try await chore.work()
      } catch is CancellationError {
        return
      } catch {
        log.error(chore.trouble, ["error": .text("\(error)")])
      }
    }
  }
}
