import CCrypto

/// The opening handshake. RFC 6455 §4.2.
enum WebSocketHandshake {
  /// The key of a request that is a handshake of version 13, else nil.
  static func key(of request: RequestHead) -> [UInt8]? {
    guard request.method == .get, let key = request.headers.first("Sec-WebSocket-Key"), key.count == 24,
      let upgrade = request.headers.first("Upgrade"), ASCII.list(upgrade).contains(where: { ASCII.equal($0, "websocket") }),
      let connection = request.headers.first("Connection"),
      ASCII.list(connection).contains(where: { ASCII.equal($0, "upgrade") }),
      let version = request.headers.first("Sec-WebSocket-Version"), ASCII.equal(version, "13")
    else { return nil }
    return Array(key)
  }

  /// The value of `Sec-WebSocket-Accept`: base64 of the SHA-1 of the key and the standard's identifier.
  static func accept(_ key: [UInt8]) -> String {
    let input = key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
    var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
    SHA1(input, input.count, &digest)
    var text = [UInt8](repeating: 0, count: 32)
    let count = EVP_EncodeBlock(&text, digest, SHA_DIGEST_LENGTH)
    return String(decoding: text[..<Int(count)], as: UTF8.self)
  }
}
