import Glibc
import Shell
import Telemetry

extension HandedOver {
  enum Outcome: Sendable {
    /// The process that has the account's store has carried it out.
    case carriedOut(ExitStatus)
    /// Nobody had the store: now this process has it.
    case storeIsFree(FolderLock)
    /// Another process has the store, and does nothing for others.
    case refused
  }

  /// An answer's line has the output of one step of the command.
  private static let lineLimit = 64 << 20
  /// What has just begun does not listen yet, and what ends does not any more.
  private static let waitSeconds = 10, pauseMilliseconds = 50

  /// Has the process that has the account's store carry out the command, and shows what that shows.
  func carryOut(for folder: AccountFolder) async throws -> Outcome {
    let end = ContinuousClock.now + .seconds(Self.waitSeconds)
    while ContinuousClock.now < end {
      if let connection = try? AccountHost.address(of: folder).connect(), let status = try await carryOut(by: connection) {
        return .carriedOut(status)
      }
      if let lock = try folder.lock() { return .storeIsFree(lock) }
      try await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
    }
    return .refused
  }

  /// nil if the other process ended before it began. Throws `failed` if it ended before it said how the command did.
  private func carryOut(by connection: Int32) async throws -> ExitStatus? {
    try await withCheckedThrowingContinuation { continuation in
      OwnThread.run {
        continuation.resume(with: Result { try ask(connection) })
        close(connection)
      }
    }
  }

  private func ask(_ connection: Int32) throws -> ExitStatus? {
    // A process that is stopped does not even begin.
    UnixSocket.limitWaits(connection, seconds: Self.waitSeconds)
    UnixSocket.writeAll(connection, line)
    var lines = SocketLines(connection, limit: Self.lineLimit)
    var hasBegun = false
    while let answer = lines.next().flatMap({ Answer($0) }) {
      switch answer {
      case .begun:
        hasBegun = true
        UnixSocket.limitWaits(connection, seconds: 0)
      case .output(let text): StandardOutput.write(text)
      case .end(let status, let complaint):
        LogSink.standardError(Array(complaint.utf8))
        return ExitStatus(rawValue: status) ?? .failure
      }
    }
    guard hasBegun else { return nil }
    throw TerminalError.failed("the martlet that had this account's store has ended; look whether that was done, and try again")
  }
}
