import Messenger

extension Host {
  /// Opens the browser's file picker; must be called while an event of a person is handled. `accept` as in HTML
  /// (`image/*`), empty for all. `then` gets nothing when nothing is picked; some browsers then never call it.
  public static func pickFiles(accept: String = "", isMultiple: Bool = true, _ then: @escaping ([PickedFile]) -> Void) {
    let id = registerOnce { then(pickedFiles($0.bytes)) }
    hostPickFiles(id, accept, isMultiple ? 1 : 0)
  }

  /// An address under which the page can show the file, until it is revoked.
  public static func objectURL(_ file: PickedFile) -> String {
    hostObjectURL(file.handle) ?? ""
  }

  public static func revokeObjectURL(_ url: String) { hostRevokeURL(url) }

  /// Gives the person a calendar's file with one entry.
  /// - Parameters:
  ///   - moment: a day such as `2026-11-27`, or one with its time of day, as ISO 8601 has it.
  ///   - name: cut where it is long.
  public static func saveEvent(at moment: String, named name: String) { hostEventSave(moment + "\n" + name) }

  // MARK: Files that wait

  /// Keeps it under that name until it is dropped, over a reload as well; for a week at most where the browser lets it be kept at all.
  /// - Parameter name: begins with the milliseconds since 1970.
  public static func keep(_ file: PickedFile, named name: String) { hostFileKeep(file.handle, name) }

  public static func dropFile(named name: String) { hostFileDrop(name) }

  public static func dropAllFiles() { hostFileDropAll() }

  /// `then` gets nil where no such file is kept.
  public static func findFile(named name: String, _ then: @escaping (PickedFile?) -> Void) -> HostTask {
    let id = registerOnce { then(pickedFiles($0.bytes).first) }
    hostFileFind(id, name)
    return HostTask(id: id)
  }

  /// - Parameter then: gets the bytes; nil for a longer file, and for one that cannot be read.
  public static func read(_ file: PickedFile, bytesLimit: Int32, _ then: @escaping ([UInt8]?) -> Void) {
    let id = registerOnce { then($0.code == 1 ? $0.array : nil) }
    hostFileRead(id, file.handle, bytesLimit)
  }

  /// One file a line: handle, byte count, width, height, milliseconds, media type, name; separated by tabs. One without a name is
  /// the picture of the video before it.
  static func pickedFiles(_ bytes: UnsafeRawBufferPointer) -> [PickedFile] {
    var files: [PickedFile] = []
    for line in bytes.split(separator: 0x0A) {
      let fields = line.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false)
      guard fields.count == 7 else { continue }
      let file = PickedFile(
        handle: Int32(truncatingIfNeeded: number(fields[0])), name: String(decoding: fields[6], as: UTF8.self),
        mediaType: String(decoding: fields[5], as: UTF8.self), byteCount: number(fields[1]),
        width: Int(truncatingIfNeeded: number(fields[2])), height: Int(truncatingIfNeeded: number(fields[3])),
        durationMilliseconds: number(fields[4]), onRelease: { hostRelease($0) })
      if fields[6].isEmpty, let video = files.last { video.poster = file } else { files.append(file) }
    }
    return files
  }

  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64 {
    var value: Int64 = 0
    for digit in digits where digit >= 0x30 && digit <= 0x39 { value = value &* 10 &+ Int64(digit - 0x30) }
    return value
  }
}
