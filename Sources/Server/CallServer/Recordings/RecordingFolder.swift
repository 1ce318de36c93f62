import Files
import Glibc
import JSON
import MatrixModel
import Recording

/// A call of the system on a recorded file that failed.
struct RecordingFileError: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  init(_ path: String, code: Int32 = errno) {
    self.path = path
    self.code = code
  }

  var description: String { "\(path): \(String(cString: strerror(code)))" }
}

/// Where the files of a recording lie: `recordings/RECORDING` of the data folder. Everything blocks.
struct RecordingFolder: Sendable {
  /// What the files of recordings are called: letters, digits, `-` and one `.`, so that none leads elsewhere.
  static func accepts(fileName: String) -> Bool {
    (1...64).contains(fileName.utf8.count) && !fileName.hasPrefix(".") && fileName.utf8.count { $0 == UInt8(ascii: ".") } <= 1
      && fileName.utf8.allSatisfy { CallName.isPlain($0) || $0 == UInt8(ascii: ".") }
  }

  let id: RecordingID
  let path: String

  init(_ id: RecordingID, in directory: String) {
    self.id = id
    path = "\(directory)/recordings/\(id)"
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  static func makeRoot(in directory: String) throws(RecordingFileError) { try make(directory + "/recordings") }

  func make() throws(RecordingFileError) { try Self.make(path) }

  private static func make(_ path: String) throws(RecordingFileError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw RecordingFileError(path) }
  }

  /// All of it.
  func remove() {
    for name in names() { unlink(file(name)) }
    rmdir(path)
  }

  var exists: Bool { access(path, F_OK) == 0 }

  /// Files beside the manifest.
  var hasOthers: Bool { names().contains { $0 != RecordingManifest.fileName } }

  private func names() -> [String] { FolderOnDisk.names(in: path) ?? [] }

  // MARK: The manifest

  var manifest: RecordingManifest? {
    guard let file = RecordingFile(reading: file(RecordingManifest.fileName)) else { return nil }
    return RecordingManifest(file.read(at: 0, count: 32 << 20))
  }

  /// Replaces the manifest in one step: a reader sees the old one or the new one.
  func write(_ manifest: RecordingManifest) throws(RecordingFileError) {
    let (name, new) = (file(RecordingManifest.fileName), file(RecordingManifest.fileName + ".new"))
    unlink(new)
    var made = try RecordingFile(creating: new)
    try made.append(manifest.json(of: id))
    guard rename(new, name) == 0 else { throw RecordingFileError(name) }
  }

  // MARK: After a crash

  /// Makes whole files of what a killed server left, and tells what there is. A file that holds nothing goes.
  func recover() throws(RecordingFileError) -> RecordingManifest {
    var manifest = self.manifest ?? RecordingManifest()
    var whole: [RecordingManifest.File] = []
    for var entry in manifest.files where Self.accepts(fileName: entry.name) {
      guard let duration = try recover(&entry), duration > 0 else {
        unlink(file(entry.name))
        continue
      }
      whole.append(entry)
    }
    // It is made anew.
    manifest.composed = nil
    manifest.files = whole
    try write(manifest)
    return manifest
  }

  /// Milliseconds; nil for what is no recording.
  private func recover(_ entry: inout RecordingManifest.File) throws(RecordingFileError) -> Int64? {
    guard var opened = RecordingFile(changing: file(entry.name)),
      let recovery = WebMRecovery(size: opened.bytes, read: { opened.read(at: $0, count: $1) })
    else { return nil }
    let (end, patches) = recovery.finished()
    try opened.truncate(to: recovery.end)
    try opened.append(end)
    for patch in patches { try opened.write(patch.bytes, at: patch.offset) }
    entry.durationMilliseconds = recovery.durationMilliseconds
    entry.bytes = opened.bytes
    return recovery.durationMilliseconds
  }
}
