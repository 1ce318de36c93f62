import ClientCore
import JSON
import Messenger
import WebHost

/// Picked files that wait to be sent or are on the screen, by the name the client knows them by. Those that wait outlive the page.
package final class BlobShelf {
  private var files: [ByteString: PickedFile] = [:]
  private var urls: [ByteString: String] = [:]
  /// Of files that were let go of, and may still be on the screen.
  private var shown: [ByteString] = []
  private var last = 0

  package func add(_ file: PickedFile) -> BlobHandle {
    last += 1
    // A name from before a reload must not meet a new file.
    let handle = BlobHandle(ByteString("\(Host.wallClockMilliseconds()).\(last)"))
    files[handle.name] = file
    Host.keep(file, named: handle.name.string)
    return handle
  }

  /// An address under which the page shows the file; nil where it is gone.
  package func url(_ blob: BlobHandle) -> String? {
    if let known = urls[blob.name] { return known }
    guard let file = files[blob.name] else { return nil }
    let url = Host.objectURL(file)
    urls[blob.name] = url
    return url
  }

  /// Its address stays: a row may show the picture until the next `forgetShown`.
  package func release(_ blob: BlobHandle) {
    files[blob.name] = nil
    if urls[blob.name] != nil { shown.append(blob.name) }
    Host.dropFile(named: blob.name.string)
  }

  /// Lets go of what was released: no row shows it anymore.
  package func forgetShown() {
    for name in shown {
      guard let url = urls[name] else { continue }
      Host.revokeObjectURL(url)
      urls[name] = nil
    }
    shown = []
  }

  /// Finds the file in memory, or one kept before the page was reloaded; nil if there is neither.
  package func find(_ blob: BlobHandle, _ then: @escaping (PickedFile?) -> Void) -> HostTask? {
    if let file = files[blob.name] {
      then(file)
      return nil
    }
    return Host.findFile(named: blob.name.string) { [self] in
      files[blob.name] = $0
      then($0)
    }
  }
}
