import Testing

@testable import Olm

@Suite struct Base64Tests {
  // RFC 4648, §10.
  @Test(
    arguments: [
      ("", "", ""), ("f", "Zg", "Zg=="), ("fo", "Zm8", "Zm8="), ("foo", "Zm9v", "Zm9v"), ("foob", "Zm9vYg", "Zm9vYg=="),
      ("fooba", "Zm9vYmE", "Zm9vYmE="), ("foobar", "Zm9vYmFy", "Zm9vYmFy")
    ])
  func `text is written without padding and read with or without`(bytes: String, text: String, padded: String) {
    #expect(Base64.encode(ascii(bytes)) == ascii(text))
    #expect(Base64.decode(ascii(text)) == ascii(bytes))
    #expect(Base64.decode(ascii(padded)) == ascii(bytes))
  }

  @Test func `all letters are written and read`() throws {
    let alphabet = ascii("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    #expect(Base64.encode(try #require(Base64.decode(alphabet))) == alphabet)
    for byte in UInt8.min...UInt8.max {
      #expect((Base64.decode([0x41, 0x41, 0x41, byte]) != nil) == (alphabet + [0x3D]).contains(byte))
    }
  }

  @Test(arguments: ["Z", "Zm9vY", "Zh", "Zm9", "Zg=", "Zm9v=", "Zm9vYg===", "Z=g=", "Zm 9v", "Zm9v\n", "Zm-_", "===="])
  func `what no encoder writes is refused`(text: String) { #expect(Base64.decode(ascii(text)) == nil) }

  @Test func `keys in URLs have two letters of their own, and either alphabet is read there`() {
    let bytes: [UInt8] = (0..<64).flatMap { [UInt8]([$0 << 2 | 3, 0xFF, 0xFE]) } + [0xFB, 0xEF, 0xBE, 0x3E]
    let text = Base64.encodeForURL(bytes), plain = Base64.encode(bytes)
    #expect(plain.contains(0x2B) && plain.contains(0x2F) && !text.contains(0x2B) && !text.contains(0x2F))
    #expect(text == plain.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 })
    #expect(Base64.decodeFromURL(text) == bytes && Base64.decodeFromURL(plain) == bytes && Base64.decode(text) == nil)
    #expect(Base64.decodeFromURL(ascii("ab!d")) == nil && Base64.decodeFromURL(ascii("é===")) == nil)
  }
}
