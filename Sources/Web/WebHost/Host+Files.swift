import Messenger

extension Host {
  /// Opens the browser's file picker; must be called while an event of a person is handled. `accept` as in HTML
  /// (`image/*`), empty for all. `then` gets nothing when nothing is picked; some browsers then never call it.
  public static func pickFiles(accept: String = "", isMultiple: Bool = true, _ then: @escaping ([PickedFile]) -> Void) {
    let id = registerOnce { then(pickedFiles($0.bytes)) }
    withBytes(accept) { hostPickFiles(id, $0, $1, isMultiple ? 1 : 0) }
  }

  /// An address under which the page can show the file, until it is revoked.
  public static func objectURL(_ file: PickedFile) -> String {
    readText { hostObjectURL(file.handle, $0, $1) } ?? ""
  }

  public static func revokeObjectURL(_ url: String) { withBytes(url) { hostRevokeURL($0, $1) } }

  /// One file a line: handle, byte count, width, height, media type, name; separated by tabs.
  static func pickedFiles(_ bytes: UnsafeRawBufferPointer) -> [PickedFile] {
    var files: [PickedFile] = []
    for line in bytes.split(separator: 0x0A) {
      let fields = line.split(separator: 0x09, maxSplits: 5, omittingEmptySubsequences: false)
      guard fields.count == 6 else { continue }
      files.append(
        PickedFile(
          handle: Int32(truncatingIfNeeded: number(fields[0])), name: String(decoding: fields[5], as: UTF8.self),
          mediaType: String(decoding: fields[4], as: UTF8.self), byteCount: number(fields[1]),
          width: Int(truncatingIfNeeded: number(fields[2])), height: Int(truncatingIfNeeded: number(fields[3])),
          onRelease: { hostRelease($0) }))
    }
    return files
  }

  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64 {
    var value: Int64 = 0
    for digit in digits where digit >= 0x30 && digit <= 0x39 { value = value &* 10 &+ Int64(digit - 0x30) }
    return value
  }
}
