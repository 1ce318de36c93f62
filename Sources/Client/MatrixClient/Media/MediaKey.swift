import ClientCore
import JSON
import MatrixModel

/// The key of a file of the content repository, or of its thumbnail.
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

  /// The limit of characters that every file system allows, with room for the size after a dot.
  private static let nameLettersLimit = 230
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// The file name: letters and digits only (base 32). Names of different keys differ even if the file system ignores case. No URI can lead
  /// to another folder or file. nil if the name would be too long.
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

  /// Reads a file name; nil if it is not the name of a key.
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
