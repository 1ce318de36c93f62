import Messenger

/// The numbers of the commands; `Web/host.js` has the same table.
enum Command: Int32 {
  /// name, text
  case atom = 1
  /// node, tag
  case create = 2
  /// template, root, slot count, slots...
  case template = 3
  /// template, first number
  case clone = 4
  /// parent, child
  case append = 5
  /// parent, child, sibling
  case insert = 6
  /// node
  case remove = 7
  /// first number, count
  case free = 8
  /// node, class list
  case classes = 9
  /// node, text
  case text = 10
  /// node, name, text
  case attribute = 11
  /// node, name
  case noAttribute = 12
  /// node, name, millionths
  case variable = 13
  /// node, which, 64ths of a pixel
  case length = 14
  /// node, text
  case value = 15
  /// node, text (empty: none)
  case image = 16
  /// node
  case focus = 17
  /// node, kind, callback
  case listen = 18
  /// node, name, text (empty: none)
  case style = 19
  /// node, text
  case mark = 20
}

/// Commands as 32-bit words beside one area of UTF-8 text. A text in the words is its length in UTF-16 units: the host
/// decodes the whole area once and cuts it by these lengths.
struct CommandBuffer {
  private(set) var words: [Int32] = []
  private(set) var text: [UInt8] = []

  init() {
    words.reserveCapacity(4096)
    text.reserveCapacity(16384)
  }

  var isEmpty: Bool { words.isEmpty }

  mutating func add(_ command: Command, _ a: Int32) {
    words.append(command.rawValue)
    words.append(a)
  }

  mutating func add(_ command: Command, _ a: Int32, _ b: Int32) {
    add(command, a)
    words.append(b)
  }

  mutating func add(_ command: Command, _ a: Int32, _ b: Int32, _ c: Int32) {
    add(command, a, b)
    words.append(c)
  }

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
