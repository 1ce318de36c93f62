import Olm

/// A command and its arguments.
struct Arguments {
  let command: String
  private let words: [[UInt8]]

  init(_ line: [UInt8]) {
    let words = line.split(separator: 0x20).map { [UInt8]($0) }
    command = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    self.words = [[UInt8]](words.dropFirst())
  }

  func name(_ place: Int) throws(OlmError) -> [UInt8] {
    guard place < words.count else { throw .malformed }
    return words[place]
  }

  func bytes(_ place: Int) throws(OlmError) -> [UInt8] {
    let word = try name(place)
    if word == [UInt8(ascii: "-")] { return [] }
    guard let bytes = Base64.decode(word) else { throw .malformed }
    return bytes
  }

  func number(_ place: Int) throws(OlmError) -> UInt32 {
    guard let number = UInt32(String(decoding: try name(place), as: UTF8.self)) else { throw .malformed }
    return number
  }

  func key(_ place: Int) throws(OlmError) -> Curve25519Key {
    guard let key = Curve25519Key(try bytes(place)) else { throw .malformed }
    return key
  }
}

/// An answer of several words.
func words(_ words: [UInt8]...) -> [UInt8] { [UInt8](words.joined(separator: [0x20])) }

func base64(_ bytes: [UInt8]) -> [UInt8] { bytes.isEmpty ? [UInt8(ascii: "-")] : Base64.encode(bytes) }

func decimal(_ number: some BinaryInteger) -> [UInt8] { Array("\(UInt64(number))".utf8) }

func list(_ numbers: [some BinaryInteger]) -> [UInt8] { [UInt8](numbers.map { decimal($0) }.joined(separator: [0x2C])) }

func yes(_ is: Bool) -> [UInt8] { Array((`is` ? "yes" : "no").utf8) }
