import ClientCore
import JSON
import MatrixModel

/// Names a file of the content repository, or a thumbnail of it.
struct MediaKey: Hashable, Sendable {
  let text: ByteString

  init(_ uri: MediaURI, _ size: ThumbnailSize?) {
    guard let size else {
      text = uri.text
      return
    }
    text = ByteString(uri.string + " \(size.width)x\(size.height)" + (size.crops ? "c" : ""))
  }

  // MARK: File names

  /// As many letters as every file system takes, with room for the size behind a dot.
  private static let nameLettersLimit = 230
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Letters and digits alone (base 32), different for different keys also where the file system knows no capitals: whatever a
  /// URI holds, the name means no other folder and no other file. nil where it would be too long.
  var fileName: String? {
    var letters: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in text.utf8 {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        letters.append(Self.alphabet[Int(bits >> UInt32(count - 5) & 31)])
        count -= 5
      }
    }
    if count > 0 { letters.append(Self.alphabet[Int(bits << UInt32(5 - count) & 31)]) }
    return letters.count <= Self.nameLettersLimit ? String(decoding: letters, as: UTF8.self) : nil
  }

  /// nil for what is no name of a key.
  init?(fileName: some StringProtocol) {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for letter in fileName.utf8 {
      guard let value = Self.alphabet.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count - 8)))
        count -= 8
      }
    }
    text = ByteString(decoding: bytes)
    guard text.hasPrefix("mxc://"), self.fileName.map({ $0.utf8.elementsEqual(fileName.utf8) }) ?? false else { return nil }
  }
}
