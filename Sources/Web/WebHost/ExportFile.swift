import Messenger

/// A file that the program writes piece by piece, and gives the user at the end. Letting go of it before `finish` gives it up.
public final class ExportFile {
  private let handle: JSHandle

  private init(_ handle: JSHandle) { self.handle = handle }

  /// Must be called while an event of a person is handled: the browser may ask them where the file goes.
  /// - Parameters:
  ///   - name: what the file is called, with its ending. What no file system takes is left out.
  ///   - then: gets nil if they picked no file.
  public static func open(named name: String, mediaType: String, _ then: @escaping (ExportFile?) -> Void) {
    var handle: JSHandle?
    let id = registerOnce { event in
      then(event.code == 1 ? handle.map { ExportFile($0) } : nil)
      handle = nil
    }
    handle = JSHandle(id: id)
    hostExportOpen(id, name, mediaType)
  }

  /// - Parameter then: whether the bytes are in the file; not if its disk is full, for one.
  public func write(_ bytes: [UInt8], _ then: @escaping (Bool) -> Void) {
    hostExportWrite(registerOnce { then($0.code == 1) }, handle.id, bytes)
  }

  /// Keeps bytes aside, behind those that were kept before.
  public func keep(_ bytes: [UInt8], _ then: @escaping (Bool) -> Void) {
    hostExportKeep(registerOnce { then($0.code == 1) }, handle.id, bytes)
  }

  /// Reads kept bytes.
  /// - Parameter then: the bytes of each range, or nil if the browser does not have them any more.
  public func read(_ ranges: [Range<Int64>], _ then: @escaping ([[UInt8]]?) -> Void) {
    var text = ""
    for range in ranges { text += (text.utf8.isEmpty ? "" : " ") + "\(range.lowerBound) \(range.upperBound)" }
    let id = registerOnce { event in
      guard event.code == 1 else { return then(nil) }
      var rest = event.array[...]
      then(
        ranges.map { range in
          defer { rest = rest.dropFirst(range.count) }
          return Array(rest.prefix(range.count))
        })
    }
    hostExportRead(id, handle.id, text)
  }

  /// Ends the file and gives it to the user.
  public func finish(_ then: @escaping (Bool) -> Void) {
    hostExportFinish(registerOnce { then($0.code == 1) }, handle.id)
  }
}
