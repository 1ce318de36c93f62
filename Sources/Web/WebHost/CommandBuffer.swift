import Messenger

/// Commands as 32-bit words beside one area of UTF-8 text. A text in the words is its length in UTF-16 units: the host
/// decodes the whole area once and cuts it by these lengths. HostProtocol.swift has a method for each command.
struct CommandBuffer {
  private(set) var words: [Int32] = []
  private(set) var text: [UInt8] = []

  init() {
    words.reserveCapacity(4096)
    text.reserveCapacity(16384)
  }

  var isEmpty: Bool { words.isEmpty }

  mutating func add(word: Int32) { words.append(word) }

  /// Appends a text and the word with its length.
  mutating func add(text added: String) {
    var added = added
    let units = added.withUTF8 { bytes in
      text.append(contentsOf: bytes)
      return CommandBuffer.utf16Length(bytes)
    }
    words.append(units)
  }

  /// Continuation bytes count nothing, leads of four bytes two (a surrogate pair).
  static func utf16Length(_ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
    var units: Int32 = 0
    for byte in bytes {
      if byte & 0xC0 != 0x80 { units &+= byte >= 0xF0 ? 2 : 1 }
    }
    return units
  }

  mutating func removeAll() {
    words.removeAll(keepingCapacity: true)
    text.removeAll(keepingCapacity: true)
  }
}
