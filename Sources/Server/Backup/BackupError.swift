import Files
import Glibc

/// Why a backup, a restore or a check cannot go on. The description is one sentence for the operator.
package enum BackupError: Error, Equatable, CustomStringConvertible {
  /// The system refused to read or write a file; `reason` is the system's text, such as "No space left on device".
  case file(path: String, reason: String)
  /// SQLite cannot read the database or write its copy.
  case database(path: String, reason: String)
  /// Another backup or restore uses the folder.
  case inUse(path: String)
  /// The folder or the stream holds something that is not a backup.
  case foreign(path: String)
  /// The folder of the backup belongs to another user, who could not go on with what this user writes there.
  case otherOwner(path: String, owner: String)
  /// The stream is compressed; `program` unpacks it.
  case compressed(program: String)
  /// The folder or the stream holds no complete backup.
  case incomplete(path: String)
  /// The list of the backup is damaged.
  case damaged(path: String, reason: String)
  /// Files of the backup are missing or have other bytes than the list says.
  case damagedFiles(DamagedFiles)
  /// The place of the restored data folder is taken.
  case exists(path: String)
  /// A server uses a folder that was the data folder.
  case serverRuns(path: String)
  /// The place of the restored data folder is a mount point, which cannot be replaced.
  case mountPoint(path: String)
  /// The backup's database was made by a newer program.
  case newer(version: Int, supported: Int)

  /// Takes the reason from the system's `code`. If a permission is missing, the reason names the owner.
  static func system(_ path: String, code: Int32 = errno) -> BackupError {
    let reason = String(cString: strerror(code))
    guard code == EACCES || code == EPERM, let hint = FileOwner.hint(for: path) else {
      return .file(path: path, reason: reason)
    }
    return .file(path: path, reason: "\(reason) (\(hint))")
  }

  package var description: String {
    switch self {
    case .file(let path, let reason): "\(path): \(reason)"
    case .database(let path, let reason): "the database \(path): \(reason)"
    case .inUse(let path): "another backup or restore uses \(path); wait until it has ended"
    case .foreign(BackupStream.name): "the stream is not a backup of martlet"
    case .foreign(let path): "\(path) has files and is not a backup; name an empty or a new folder"
    case .otherOwner(let path, let owner):
      "\(path) belongs to \(owner); run this as that user: sudo -u \(owner) martlet backup \(path)"
    case .compressed(let program): "the stream is compressed; send it through \(program) first: \(program) | martlet restore -"
    case .incomplete(BackupStream.name): "the stream ends too early: it is not a whole backup"
    case .incomplete(let path): "\(path) has no complete backup: there is no \(BackupFolder.listName)"
    case .damaged(let path, let reason): "the backup is damaged: \(path) \(reason)"
    case .damagedFiles(let files): files.description
    case .exists(let path): "\(path) has files; restore does not overwrite them. Move them away or name another data_dir"
    case .serverRuns(let path): "a server uses \(path); stop it first"
    case .mountPoint(let path):
      "\(path) is a mount point, which restore cannot replace; name a folder below it, such as --data-dir \(path)/data"
    case .newer(let version, let supported):
      "the backup has schema version \(version), this program knows versions up to \(supported): restore with the newer program"
    }
  }
}
