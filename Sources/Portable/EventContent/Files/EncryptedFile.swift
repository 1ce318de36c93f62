public import JSON
public import MatrixModel

/// A file that lies encrypted on the server, and what decrypts it. Spec: Client-Server API, "Sending encrypted attachments".
public struct EncryptedFile: Hashable, Sendable {
  /// Where the ciphertext is. It is of no use as a picture or a file, and the server can make no thumbnail of it.
  public let source: MediaURI
  public let keys: FileKeys

  public init(_ source: MediaURI, _ keys: FileKeys) {
    self.source = source
    self.keys = keys
  }

  /// Reads an `EncryptedFile` of the specification: version 2, AES-256-CTR and SHA-256 only. nil if it is another or lacks something.
  ///
  /// `key_ops` and `ext` are for WebCrypto, and nobody is safer if they are demanded.
  package init?(_ json: JSON?) {
    guard let json, json["v"]?.isString("v2") ?? false, let source = MediaURI(json["url"]), let key = json["key"],
      key["kty"]?.isString("oct") ?? false, key["alg"]?.isString("A256CTR") ?? false,
      let keys = FileKeys(key: key.text("k"), counter: json.text("iv"), digest: json["hashes"]?.text("sha256"))
    else { return nil }
    self.init(source, keys)
  }

  package func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("v", "v2")
      writer.member("url", source)
      writer.key("key")
      writer.object { writer in
        writer.member("kty", "oct")
        writer.key("key_ops")
        writer.array { writer in
          writer.write("encrypt")
          writer.write("decrypt")
        }
        writer.member("alg", "A256CTR")
        writer.member("k", keys.key)
        writer.member("ext", true)
      }
      writer.member("iv", keys.counter)
      writer.key("hashes")
      writer.object { $0.member("sha256", keys.digest) }
    }
  }
}

/// What decrypts a file and proves that it is the sender's, as the event has it: in base64 without padding. They are secrets of the room.
public struct FileKeys: Hashable, Sendable {
  /// 32 bytes in URL-safe base64.
  public let key: ByteString
  /// The first counter: 16 bytes.
  public let counter: ByteString
  /// The SHA-256 of the ciphertext: 32 bytes.
  public let digest: ByteString

  /// nil if one has another length. Whether the letters are base64 is seen by who decrypts.
  public init?(key: ByteString?, counter: ByteString?, digest: ByteString?) {
    guard let key = key?.base64(byteCount: 32), let counter = counter?.base64(byteCount: 16),
      let digest = digest?.base64(byteCount: 32)
    else { return nil }
    self.key = key
    self.counter = counter
    self.digest = digest
  }
}

extension EncryptedFile: CustomStringConvertible {
  /// Without the keys, which belong in no log.
  public var description: String { source.string }
}

extension FileKeys: CustomStringConvertible {
  public var description: String { "FileKeys" }
}

extension ByteString {
  /// Without padding, which some clients write; nil if so many bytes have another length.
  fileprivate func base64(byteCount: Int) -> ByteString? {
    let count = (byteCount * 4 + 2) / 3, letters = Array(utf8.prefix(count + 3))
    let isPadded = letters.count % 4 == 0 && letters.dropFirst(count).allSatisfy { $0 == UInt8(ascii: "=") }
    guard letters.count == count || letters.count > count && isPadded else { return nil }
    return ByteString(decoding: letters.prefix(count))
  }
}
