import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// Messages to the device that asks. Spec: Client-Server API, "Send-to-Device messaging".
struct ToDeviceStream {
  private(set) var messages: [ToDeviceMessages.Message] = []
  /// Where delivery goes on from with the next sync.
  private(set) var end: Int64

  static func changes(_ context: SyncContext) throws -> ToDeviceStream {
    var stream = ToDeviceStream(end: context.to.position)
    // What a full page left over waits without news.
    guard context.hasOwnNews || context.toDeviceFrom < context.since else { return stream }
    let page = try ToDeviceMessages.messages(
      try context.rows.transaction(), for: context.user, context.request.deviceID, after: context.toDeviceFrom,
      upTo: context.to.position)
    stream.messages = page.messages
    if page.isLimited, let last = page.messages.last { stream.end = last.position }
    if let last = page.messages.last {
      context.delivery.handedOut(upTo: last.position)
    } else if context.toDeviceFrom == 0 {
      context.delivery.foundNone()
    }
    return stream
  }
}

/// How many one-time keys the device has left. Spec: Client-Server API, "End-to-end encryption", extensions to `/sync`.
struct KeyCountStream {
  /// `device_one_time_keys_count` and `device_unused_fallback_key_types`.
  let members: [UInt8]
  /// Whether the device was told otherwise before.
  let hasChanged: Bool

  static func read(_ context: SyncContext, _ watch: UserWatch) throws -> KeyCountStream {
    let known = context.delivery.keyCounts
    if let known, known.readAt >= watch.position.load(ordering: .sequentiallyConsistent) {
      return KeyCountStream(members: known.members, hasChanged: false)
    }
    let transaction = try context.rows.transaction()
    let members = try members(of: context.user, context.request.deviceID, transaction)
    let hasKeys = try transaction.first("SELECT 1 FROM device_key WHERE user_id = $1 LIMIT 1", context.user) { _ in true }
    context.delivery.remember(
      .init(readAt: context.rows.completeUpTo, members: members, userHasKeys: hasKeys ?? false))
    return KeyCountStream(members: members, hasChanged: known.map { $0.members != members } ?? false)
  }

  private static func members(of user: UserID, _ device: DeviceID, _ transaction: ReadTransaction) throws -> [UInt8] {
    var writer = JSONWriter()
    writer.key("device_one_time_keys_count")
    let counts = try OneTimeKeys.counts(transaction, of: user, device)
    writer.object { writer in
      // Clients take a missing count of this algorithm for one not told.
      if !counts.contains(where: { $0.algorithm == "signed_curve25519" }) { writer.member("signed_curve25519", 0) }
      for (algorithm, count) in counts {
        writer.key(algorithm)
        writer.write(count)
      }
    }
    writer.key("device_unused_fallback_key_types")
    let unused = try OneTimeKeys.unusedFallbackAlgorithms(transaction, of: user, device)
    writer.array { writer in for algorithm in unused { writer.write(algorithm) } }
    return writer.bytes
  }
}
