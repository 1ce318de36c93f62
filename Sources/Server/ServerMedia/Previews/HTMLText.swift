import CXML2
import Glibc

/// Text of a page: its character references, and the characters it is written in.
enum HTMLText {
  /// Bytes of a reference's name.
  private static let nameBytesLimit = 32

  /// The text with its character references put in. Source: HTML Standard §13.2.5.72, for references that end in `;`.
  static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
    var decoded: [UInt8] = []
    var rest = bytes
    while let byte = rest.first {
      if byte == UInt8(ascii: "&"), let reference = reference(rest.dropFirst()) {
        decoded += String(reference.character).utf8
        rest = rest[reference.end...]
      } else {
        decoded.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private static func reference(_ bytes: ArraySlice<UInt8>) -> (character: Unicode.Scalar, end: Int)? {
    guard let end = bytes.prefix(nameBytesLimit).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = bytes[..<end]
    let code: UInt32?
    if name.first == UInt8(ascii: "#") {
      let digits = String(decoding: name.dropFirst(), as: UTF8.self)
      code = digits.first?.lowercased() == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    } else {
      code = htmlEntityLookup(String(decoding: name, as: UTF8.self))?.pointee.value
    }
    guard let code else { return nil }
    let isCharacter = code != 0 && Unicode.Scalar(code) != nil
    return (isCharacter ? Unicode.Scalar(code) ?? "\u{FFFD}" : "\u{FFFD}", end + 1)
  }
}

/// The characters a page is written in. Source: HTML Standard §13.2.3.
enum PageCharset {
  /// Bytes in which a page says what it is written in.
  private static let declarationBytesLimit = 1_024
  private static let nameBytesLimit = 40

  /// The page in UTF-8, at most `HTMLPage.bytesLimit` bytes of it: by its byte order mark; else as the server says; else as it
  /// is where that is UTF-8, which pages often forget to say; else as the page says.
  static func utf8(_ bytes: [UInt8], _ charset: String?) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return converted(bytes, from: "UTF-16") ?? bytes }
    if let charset, let named = named(charset, bytes) { return named }
    if String(validating: bytes, as: UTF8.self) != nil { return bytes }
    if let declared = declared(bytes), let named = named(declared, bytes) { return named }
    return converted(bytes, from: "WINDOWS-1252") ?? bytes
  }

  private static func named(_ name: String, _ bytes: [UInt8]) -> [UInt8]? {
    guard (1...nameBytesLimit).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte) else { return nil }
    return ["utf-8", "utf8"].contains(name.lowercased()) ? bytes : converted(bytes, from: name)
  }

  /// What stands behind the first `charset=`. A page that says so in bytes of ASCII is not in UTF-16.
  private static func declared(_ bytes: [UInt8]) -> String? {
    let start = bytes.prefix(declarationBytesLimit).map(HTMLTag.lowercased)
    let key = Array("charset=".utf8)
    guard start.count > key.count,
      let index = (0..<(start.count - key.count)).first(where: { start[$0..<($0 + key.count)].elementsEqual(key) })
    else { return nil }
    let value = start[(index + key.count)...].drop { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }.prefix(
      while: isNameByte)
    let name = String(decoding: value, as: UTF8.self)
    return name.hasPrefix("utf-16") ? nil : name
  }

  /// nil for an encoding that is not known. What is no character in it becomes U+FFFD.
  private static func converted(_ bytes: [UInt8], from name: String) -> [UInt8]? {
    guard let converter = iconv_open("UTF-8", name), Int(bitPattern: converter) != -1 else { return nil }
    defer { iconv_close(converter) }
    var input = bytes
    return input.withUnsafeMutableBytes { input in
      [UInt8](unsafeUninitializedCapacity: HTMLPage.bytesLimit) { output, count in
        var from = input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var to = UnsafeMutableRawPointer(output.baseAddress)?.assumingMemoryBound(to: CChar.self)
        var (left, room) = (input.count, HTMLPage.bytesLimit)
        let replacement = Array("\u{FFFD}".utf8CString.dropLast())
        while left > 0, iconv(converter, &from, &left, &to, &room) == -1, errno == EILSEQ, room >= replacement.count {
          to?.update(from: replacement, count: replacement.count)
          to = to?.advanced(by: replacement.count)
          from = from?.advanced(by: 1)
          (left, room) = (left - 1, room - replacement.count)
        }
        count = HTMLPage.bytesLimit - room
      }
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    HTMLTag.isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.:".utf8.contains(byte)
  }
}
