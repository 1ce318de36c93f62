import ClientCore
import JSON
import Messenger
import WebHost

/// Picked files that wait to be sent or are on the screen, by the name the client knows them by. They do not outlive the page.
final class BlobShelf {
  private var files: [ByteString: PickedFile] = [:]
  private var urls: [ByteString: String] = [:]
  private var last = 0

  func add(_ file: PickedFile) -> BlobHandle {
    last += 1
    // A name from before a reload must not meet a new file.
    let handle = BlobHandle(ByteString("\(Host.wallClockMilliseconds()).\(last)"))
    files[handle.name] = file
    return handle
  }

  func file(_ blob: BlobHandle) -> PickedFile? { files[blob.name] }

  /// An address under which the page shows the file; nil where it is gone.
  func url(_ blob: BlobHandle) -> String? {
    if let known = urls[blob.name] { return known }
    guard let file = files[blob.name] else { return nil }
    let url = Host.objectURL(file)
    urls[blob.name] = url
    return url
  }

  /// The picture stays where a row shows it: only what nobody looked at is let go of.
  func release(_ blob: BlobHandle) {
    files[blob.name] = nil
  }
}
