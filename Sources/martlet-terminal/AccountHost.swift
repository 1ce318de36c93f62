import Glibc
import MatrixClient
import Shell
import Synchronization

/// Carries out the commands of other processes in the one that has the account's store, and with it the keys: `martlet send` in one window
/// while `martlet read --follow` runs in another. It listens in the account's folder, which only its owner can open.
final class AccountHost: Sendable {
  static func address(of folder: AccountFolder) -> UnixSocket { UnixSocket("commands.sock", in: folder.path) }

  /// Commands at once, and bytes of the line that asks for one.
  static let commandsLimit = 16, lineLimit = 1 << 20
  private static let waitSeconds = 30

  private struct Work: Sendable {
    var isClosing = false
    var last = 0
    var tasks: [Int: (task: Task<Void, Never>, isEndless: Bool)] = [:]
  }

  private let address: UnixSocket
  private let descriptor: Int32
  private let account: Account
  private let work = Mutex(Work())

  /// nil where the folder cannot hold a socket: others then have to wait.
  init?(_ client: MatrixClient, of folder: AccountFolder) {
    address = Self.address(of: folder)
    guard let descriptor = try? address.listen() else { return nil }
    self.descriptor = descriptor
    account = Account(hosted: client, folder)
    OwnThread.run { [self] in accept() }
  }

  /// Takes no more commands, ends those that would not end by themselves, and waits for the others.
  func close() async {
    unlink(address.path)
    // Wakes accept(2) with an error.
    shutdown(descriptor, Int32(SHUT_RDWR))
    let tasks = work.withLock { work in
      work.isClosing = true
      return Array(work.tasks.values)
    }
    for (task, isEndless) in tasks where isEndless { task.cancel() }
    for (task, _) in tasks { await task.value }
  }

  private func accept() {
    while true {
      let connection = Glibc.accept(descriptor, nil, nil)
      if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
      guard connection >= 0 else { break }
      _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
      OwnThread.run { [self] in serve(connection) }
    }
    Glibc.close(descriptor)
  }

  private func serve(_ connection: Int32) {
    UnixSocket.limitWaits(connection, seconds: Self.waitSeconds)
    var lines = SocketLines(connection, limit: Self.lineLimit)
    guard let order = lines.next().flatMap({ HandedOver($0) }), let task = begin(order, for: connection) else {
      Glibc.close(connection)
      return
    }
    // Until the command has ended, or whoever asked is gone.
    while !UnixSocket.isGone(connection) {}
    task.cancel()
    Task {
      await task.value
      Glibc.close(connection)
    }
  }

  private func begin(_ order: HandedOver, for connection: Int32) -> Task<Void, Never>? {
    guard let (command, rest) = TerminalCommand.named(by: order.words), command.isHandedOver else { return nil }
    return work.withLock { work in
      guard !work.isClosing, work.tasks.count < Self.commandsLimit else { return nil }
      work.last += 1
      let number = work.last
      let task = Task {
        UnixSocket.writeAll(connection, HandedOver.Answer.begun.line)
        let end = await carryOut(command, rest, order, for: connection)
        UnixSocket.writeAll(connection, end.line)
        shutdown(connection, Int32(SHUT_RDWR))
        self.work.withLock { $0.tasks[number] = nil }
      }
      work.tasks[number] = (task, isEndless: rest.contains("--follow"))
      return task
    }
  }

  private func carryOut(
    _ command: TerminalCommand, _ words: [String], _ order: HandedOver, for connection: Int32
  ) async -> HandedOver.Answer {
    let surroundings = Surroundings(of: account, order) { text in
      UnixSocket.writeAll(connection, HandedOver.Answer.output(text).line)
    }
    do {
      try await command.run(TerminalCall(try CommandArguments(words, for: command.syntax), in: surroundings))
      return .end(ExitStatus.success.rawValue, complaint: "")
    } catch {
      let isClosing = work.withLock { $0.isClosing }
      let error =
        isClosing ? .failed("the martlet that had this account's store has ended; start again") : TerminalError(any: error)
      return .end(error.status.rawValue, complaint: error.text(isJSON: words.contains("--json")))
    }
  }
}
