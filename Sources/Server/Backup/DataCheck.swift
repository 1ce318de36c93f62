import Files
import Glibc

/// Looks for what is wrong with a data folder, and mends what can be mended without loss.
package struct DataCheck {
  /// Something that is wrong.
  package struct Fault: Equatable, Sendable {
    /// Below the data folder.
    package let path: String
    package let text: String
    /// What `--repair` does about it.
    package enum Repair: Sendable {
      /// Takes the file's or folder's permissions from everyone but its owner.
      case mode
      /// Removes a file that nothing names and nothing can be made of.
      case remove
    }
    /// nil if it cannot be mended without loss.
    package let repair: Repair?
  }

  package private(set) var faults: [Fault] = []
  private let data: String

  /// - Parameters:
  ///   - isContentInBucket: whether the content that the database names lies in a bucket.
  ///   - hashes: whether to read all content and compare it with its hash.
  ///   - isStopped: whether no server uses the folder; only then unfinished uploads are leftovers.
  /// Throws `BackupError` if the folder or its database cannot be read at all.
  package init(
    _ data: String, newestSchema: Int, isContentInBucket: Bool = false, hashes: Bool, isStopped: Bool
  ) throws(BackupError) {
    self.data = data
    try checkModes()
    let database = DataFolder.database
    guard FileContent.status(data + "/" + database) != nil else {
      faults.append(Fault(path: database, text: "is missing", repair: nil))
      return
    }
    let file = try DatabaseFile(reading: data + "/" + database)
    for fault in try file.faults() { faults.append(Fault(path: database, text: fault, repair: nil)) }
    let schema = try file.schema()
    if schema > newestSchema {
      faults.append(
        Fault(
          path: database, text: "has schema version \(schema), this program knows versions up to \(newestSchema)", repair: nil))
    }
    if !isContentInBucket { try checkMedia(file, hashes: hashes) }
    if isStopped { try checkUploads(in: isContentInBucket ? "media-cache" : "media", try file.pendingMedia()) }
  }

  private mutating func checkModes() throws(BackupError) {
    var found: [Fault] = []
    func look(_ path: String, _ status: stat) {
      if status.isFile, access("\(data)/\(path)", R_OK) != 0 {
        let owner = FileOwner.name(of: "\(data)/\(path)") ?? "another user"
        found.append(Fault(path: path, text: "cannot be read by this user (it belongs to \(owner))", repair: nil))
      }
      guard status.isFile || status.isFolder, status.st_mode & 0o077 != 0 else { return }
      let mode = String(status.st_mode & 0o777, radix: 8)
      found.append(Fault(path: path, text: "is open to other users of this machine (mode \(mode))", repair: .mode))
    }
    guard let status = FileContent.status(data) else { throw .system(data) }
    look(".", status)
    try FileContent.walk(data) { path, status throws(BackupError) in look(path, status) }
    faults += found
  }

  private mutating func checkMedia(_ file: DatabaseFile, hashes: Bool) throws(BackupError) {
    let media = try file.media()
    var found: [(hash: String, text: String)] = []
    for (hash, bytes) in media.sorted(by: { $0.key < $1.key }) {
      let path = "\(data)/\(DataFolder.contentPath(hash))"
      if let status = FileContent.status(path) {
        if Int64(status.st_size) != bytes {
          found.append((hash, "has \(status.st_size) bytes instead of \(bytes)"))
        } else if hashes, let summary = try FileContent.read(path), summary.hash != hash {
          found.append((hash, "does not have the content that its name says"))
        }
      } else {
        found.append((hash, "is missing, and the database names it"))
      }
    }
    // A user may have deleted it meanwhile.
    let still = found.isEmpty ? media : try file.media()
    for (hash, text) in found where still[hash] != nil {
      faults.append(Fault(path: DataFolder.contentPath(hash), text: text, repair: nil))
    }
    let settled = Int64(time(nil)) * 1_000_000 - Self.unnamedMicroseconds
    for entry in try DataFolder.files(in: data) where entry.modified < settled {
      guard let hash = DataFolder.contentHash(entry.path), media[hash] == nil else { continue }
      faults.append(Fault(path: entry.path, text: "is not named in the database; the server removes it by itself", repair: nil))
    }
  }

  /// How old content is at least that should have a row: the server writes the file first.
  private static let unnamedMicroseconds: Int64 = 60 * 60 * 1_000_000

  private mutating func checkUploads(in folder: String, _ pending: Set<String>) throws(BackupError) {
    for name in try FileContent.names(in: "\(data)/\(folder)/incoming") {
      faults.append(
        Fault(path: "\(folder)/incoming/\(name)", text: "is left of an upload that was interrupted", repair: .remove))
    }
    for name in try FileContent.names(in: "\(data)/\(folder)/partial") where !pending.contains(name) {
      faults.append(Fault(path: "\(folder)/partial/\(name)", text: "is left of an upload that has expired", repair: .remove))
    }
  }

  /// Mends what can be mended without loss. Returns what is still wrong.
  package func repair() throws(BackupError) -> [Fault] {
    for fault in faults {
      let path = "\(data)/\(fault.path)"
      switch fault.repair {
      case .mode:
        guard let status = FileContent.status(path) else { continue }
        guard chmod(path, status.st_mode & 0o700) == 0 else { throw .system(path) }
      case .remove: guard unlink(path) == 0 || errno == ENOENT else { throw .system(path) }
      case nil: continue
      }
    }
    return faults.filter { $0.repair == nil }
  }
}
