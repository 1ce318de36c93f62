import JSON
import MatrixModel

extension EncryptionHost {
  /// What is known of this device's encryption, a line for each fact, in English, for a report when something cannot be read. It has no secrets, and names
  /// neither rooms nor people.
  ///
  /// - Parameter now: milliseconds since 1970.
  package func diagnosis(at now: Int64) -> String {
    let state = state
    var lines = [
      "device: " + device.string + (isPublished ? ", its keys are at the server" : ", its keys are not at the server yet"),
      "identity: " + (!state.hasIdentity ? "none" : state.isVerified ? "verified" : "this device is not verified"),
      "backup: " + Self.words(for: state.backup)
    ]
    if let restore = state.restore { lines.append("restoring: \(restore.done) of \(restore.count) keys") }
    lines.append("dehydrated device: " + Self.words(for: state.dehydration, state.dehydrationFailure))
    let unread = unreadEvents.map { (name: $0.key.name.string, count: $0.value.count, since: $0.value.since) }
    lines.append("unread now: " + (unread.isEmpty ? "0" : ""))
    for one in unread.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      lines.append("  " + one.name + ": \(one.count), the first for \(max(0, now - one.since) / 1_000) s")
    }
    let late = figures.late
    let count = late.withinSecond + late.withinTenSeconds + late.withinMinute + late.later
    lines.append("unread when they came: \(figures.unread)")
    lines.append("read later: \(count)" + (count > 0 ? ", after \(late.longestMilliseconds / 1_000) s at most" : ""))
    lines.append("sessions begun anew: \(figures.repairedSessions)")
    lines.append("devices that get no keys: \(figures.refusedDevices)")
    let doubtful = doubtfulDevices
    lines.append("identities that changed and were not accepted: \(changedIdentities.count)")
    lines.append("devices that their users did not sign: \(doubtful.unsigned), whose keys were refused: \(doubtful.refused)")
    lines.append("fault: " + (broken.map { Self.words(for: $0) } ?? "none"))
    return lines.joined(separator: "\n")
  }

  private static func words(for backup: EncryptionState.Backup) -> String {
    switch backup {
    case .off: "off"
    case .on(let waiting): "on, \(waiting) keys wait"
    case .stopped(.replaced): "replaced by another device"
    case .stopped(.deleted): "gone from the server"
    }
  }

  private static func words(for device: EncryptionState.Dehydration, _ failure: RehydrationFailure?) -> String {
    let present =
      switch device {
      case .none: "none"
      case .reading(let messages, let keys): "\(messages) messages read, \(keys) keys"
      case .ready(let keys): "ready, \(keys) keys of the one before"
      }
    return present + (failure.map { ", the one before: " + words(for: $0) } ?? "")
  }

  private static func words(for failure: RehydrationFailure) -> String {
    switch failure {
    case .wrongKey: "another key"
    case .malformed: "malformed"
    case .unknownFormat: "a newer client's"
    case .tooManyMessages: "too many messages"
    }
  }

  private static func words(for fault: Broken) -> String {
    switch fault {
    case .ofAnotherDevice: "the store is of another device"
    case .unreadableStore: "the store cannot be read"
    case .newerStore: "the store is of a newer version"
    case .lostKeys: "the server has keys of this device that the store does not have"
    case .refusedKeys: "the server does not take this device's keys"
    case .changedOwnKeys: "the server lists this device with other keys"
    }
  }
}
