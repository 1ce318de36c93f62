import Files
import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell

/// The folder of one account: the session, what syncs brought, the lock. Readable by its owner only.
struct AccountFolder: Sendable {
  let userID: UserID
  let path: String

  private static let sessionBytesLimit = 64 * 1_024

  /// `$XDG_DATA_HOME/martlet/accounts`, else `~/.local/share/martlet/accounts`.
  static func root(_ environment: [String: String]) throws(TerminalError) -> String {
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/martlet/accounts" }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw .failed("there is no place for the session: neither XDG_DATA_HOME nor HOME is set")
    }
    return home + "/.local/share/martlet/accounts"
  }

  init(_ user: UserID, in root: String) {
    userID = user
    // Encoded: a user ID may have slashes.
    path = root + "/" + PercentEncoding.encode(user.text)
  }

  /// The accounts that are logged in, in the order of their user IDs.
  static func all(in root: String) -> [AccountFolder] {
    var found: [AccountFolder] = []
    for name in FolderOnDisk.names(in: root) ?? [] {
      guard let bytes = try? FileBytes.read("\(root)/\(name)/session.json", limit: sessionBytesLimit),
        let session = SavedSession(bytes)
      else { continue }
      found.append(AccountFolder(session.userID, in: root))
    }
    return found.sorted { $0.userID < $1.userID }
  }

  var storePath: String { path + "/store" }

  var session: SavedSession? {
    (try? FileBytes.read(path + "/session.json", limit: Self.sessionBytesLimit)).flatMap { SavedSession($0) }
  }

  /// Whole or not at all.
  func save(_ session: Session) throws(TerminalError) {
    do throws(FolderOnDisk.Failure) { try FolderOnDisk.make(path) } catch { throw .failed(error.description) }
    guard FolderOnDisk.replace(path + "/session.json", with: SavedSession.bytes(of: session)) else {
      throw .failed("the session cannot be written to \(path): \(String(cString: strerror(errno)))")
    }
  }

  /// nil while another process has it. Held until the process ends or the lock goes.
  func lock() throws(TerminalError) -> FolderLock? {
    do throws(FolderOnDisk.Failure) { try FolderOnDisk.make(path) } catch { throw .failed(error.description) }
    return FolderLock(path + "/lock")
  }

  func forgetStore() { for suffix in ["", "-wal", "-shm", "-key"] { unlink(storePath + suffix) } }

  func remove() {
    for name in [
      "session.json", "store", "store-key", "store-wal", "store-shm", "store-owner", "store-write", "store.new",
      "commands.sock", "lock"
    ] { unlink(path + "/" + name) }
    rmdir(path)
  }
}
