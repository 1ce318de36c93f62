import CCrypto

/// How a WebSocket begins at a client: what is asked over HTTP/1.1, and whether the answer is one. No I/O. RFC 6455 §4.1.
package struct ClientHandshake: Sendable {
  /// Of an answer's head.
  package static let headBytesLimit = 16 << 10

  package enum Progress: Equatable {
    case needsMore
    /// What came after the head belongs to the socket.
    case open(rest: [UInt8])
    case refused
  }

  package let request: [UInt8]
  private let accept: [UInt8]
  private var head: [UInt8] = []

  /// - Parameters:
  ///   - target: the path, with the query.
  ///   - authority: as `Host` has it. RFC 9110 §7.2.
  ///   - headers: further ones, without line breaks.
  ///   - nonce: 16 random bytes.
  package init(
    target: String, authority: String, headers: [(name: String, value: String)] = [],
    nonce: [UInt8] = (0..<16).map { _ in .random(in: 0...255) }
  ) {
    let key = Self.base64(nonce)
    let further = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    request = Array(
      """
      GET \(target) HTTP/1.1\r
      Host: \(authority)\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Key: \(key)\r
      Sec-WebSocket-Version: 13\r
      User-Agent: Martlet\r
      \(further)\r

      """.utf8)
    accept = Array(Self.base64(Self.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).utf8)
  }

  package mutating func receive(_ bytes: some Sequence<UInt8>) -> Progress {
    head += bytes
    guard let end = Self.end(of: head) else { return head.count > Self.headBytesLimit ? .refused : .needsMore }
    guard end <= Self.headBytesLimit, isAccepted(head[..<end]) else { return .refused }
    return .open(rest: Array(head[end...]))
  }

  /// Behind the empty line.
  private static func end(of head: [UInt8]) -> Int? {
    let empty = Array("\r\n\r\n".utf8)
    guard head.count >= empty.count else { return nil }
    return (0...head.count - empty.count).first { head[$0..<$0 + 4].elementsEqual(empty) }.map { $0 + 4 }
  }

  private func isAccepted(_ head: ArraySlice<UInt8>) -> Bool {
    let lines = head.split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    guard let status = lines.first, status.starts(with: "HTTP/1.1 101".utf8) else { return false }
    var (upgrades, isUpgrade, isOurs) = (false, false, false)
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let value = Self.trimmed(line[(colon + 1)...])
      switch Self.lowercased(line[..<colon]) {
      case Array("upgrade".utf8): upgrades = Self.lowercased(value) == Array("websocket".utf8)
      case Array("connection".utf8):
        isUpgrade = value.split(separator: UInt8(ascii: ",")).contains {
          Self.lowercased(Self.trimmed($0)) == Array("upgrade".utf8)
        }
      case Array("sec-websocket-accept".utf8): isOurs = value.elementsEqual(accept)
      // Nothing of the kind was offered.
      case Array("sec-websocket-extensions".utf8), Array("sec-websocket-protocol".utf8): return false
      default: break
      }
    }
    return upgrades && isUpgrade && isOurs
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  private static func lowercased(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    var count: UInt32 = 0
    EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha1(), nil)
    return digest
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
  }
}
