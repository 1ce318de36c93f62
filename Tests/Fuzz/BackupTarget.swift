#if DEBUG || FUZZING
  @testable import Backup

  /// The heads of a backup's tar stream, and its list of files: anyone who holds a backup can change it.
  func fuzzBackup(_ bytes: UnsafeRawBufferPointer) {
    if let entry = TarEntry(Array(bytes.prefix(TarEntry.blockBytes))) {
      precondition(entry.bytes >= 0 && (0..<TarEntry.blockBytes).contains(entry.padding))
      if entry.name.utf8.count <= 100 {
        let again = TarEntry(entry.block)
        precondition(again?.name == entry.name && again?.bytes == entry.bytes)
      }
    }
    if let list = BackupList(String(decoding: bytes, as: UTF8.self)) {
      precondition(BackupList(list.text) == list)
    }
  }
#endif
