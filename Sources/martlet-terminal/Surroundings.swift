import Glibc
import Shell

/// Where a command runs: in the process that was started for it, or in the one that has the account's store.
struct Surroundings: Sendable {
  /// The account of a process that carries out the command for another; nil: it is opened.
  let account: Account?
  /// That of the account's store, if this process has it already.
  let lock: FolderLock?
  /// To which paths are relative.
  let folder: String?
  private let given: String?
  /// Writes to the standard output of who has started the command.
  let write: @Sendable (String) -> Void

  /// In this process, for itself.
  init(_ order: HandedOver? = nil, _ lock: FolderLock? = nil) {
    self.lock = lock
    account = nil
    (folder, given) = (order?.folder, order?.input)
    write = { StandardOutput.write($0) }
  }

  /// For another process.
  init(of account: Account, _ order: HandedOver, write: @escaping @Sendable (String) -> Void) {
    self.account = account
    self.write = write
    (lock, folder, given) = (nil, order.folder, order.input)
  }

  /// That of this process.
  static var currentFolder: String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }

  func path(_ path: String) -> String { path.hasPrefix("/") ? path : folder.map { $0 + "/" + path } ?? path }

  /// What stands on standard input, without the line break at its end; of more than `limit` bytes only the beginning.
  func input(limit: Int) throws -> [UInt8] {
    if let given { return Array(given.utf8) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while bytes.count <= limit {
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      guard count >= 0 else { throw TerminalError.failed("standard input cannot be read: \(String(cString: strerror(errno)))") }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return bytes
  }

  func progressBar() -> ProgressBar { account == nil ? ProgressBar() : ProgressBar(isShown: false) }
}
