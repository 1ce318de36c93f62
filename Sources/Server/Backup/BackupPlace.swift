/// Where a backup goes: a folder or a stream.
protocol BackupPlace {
  /// Where a file is written before it is kept.
  var newFile: String { get }

  /// The complete backup that is there; nil before the first.
  func list() throws(BackupError) -> BackupList?

  /// Whether the place has this file, named by its SHA-256, whole.
  func has(_ hash: String, bytes: Int64) -> Bool

  /// Copies a file in. `isFixed`: nobody changes the file, at most somebody removes it. Returns nil if the file is gone.
  func add(_ source: String, isFixed: Bool) throws(BackupError) -> FileContent.Summary?

  /// Takes `newFile`, which is synced, as the file that `summary` describes.
  func keep(_ summary: FileContent.Summary) throws(BackupError)

  /// Makes `list` what the place holds.
  func finish(_ list: BackupList) throws(BackupError)

  /// Removes what an unfinished backup left.
  func giveUp() throws(BackupError)
}
