import RoomRules
import Testing

@testable import ServerPush

/// RFC 8291 §5 and Appendix A.
@Suite struct WebPushEncryptionTests {
  private enum Example {
    static let plaintext = Array("When I grow up, I want to be a watermelon".utf8)
    static let senderPublic = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
    static let senderPrivate = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    static let receiverPublic = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let receiverPrivate = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
    static let authenticationSecret = "BTBZMqHH6r4Tts7J_aSIgg"
    static let sharedSecret = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"
    static let message =
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_y"
      + "l95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
  }

  private static func bytes(_ text: String) -> [UInt8] { UnpaddedBase64.decode(text.utf8) ?? [] }

  /// The key pair as OpenSSL reads it. RFC 5915 §3.
  private static func pair(_ privateKey: String, _ publicKey: String) throws -> P256KeyPair {
    let curve: [UInt8] = [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    let der: [UInt8] =
      [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20] + bytes(privateKey) + curve + [0xA1, 0x44, 0x03, 0x42, 0x00]
      + bytes(publicKey)
    let base64 = String(decoding: UnpaddedBase64.encode(der), as: UTF8.self)
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    var lines = base64 + padding
    lines = stride(from: 0, to: lines.count, by: 64).map { String(lines.dropFirst($0).prefix(64)) }.joined(separator: "\n")
    return try #require(
      P256KeyPair(pem: Array("-----BEGIN EC PRIVATE KEY-----\n\(lines)\n-----END EC PRIVATE KEY-----\n".utf8)))
  }

  private static let keys = WebPushSubscription.Keys(
    publicKey: bytes(Example.receiverPublic), authenticationSecret: bytes(Example.authenticationSecret))

  @Test func `the example of RFC 8291 comes out to the byte`() throws {
    let sender = try Self.pair(Example.senderPrivate, Example.senderPublic)
    #expect(sender.publicKey == Self.bytes(Example.senderPublic))
    #expect(sender.agree(with: Self.keys.publicKey) == Self.bytes(Example.sharedSecret))
    let receiver = try Self.pair(Example.receiverPrivate, Example.receiverPublic)
    #expect(receiver.agree(with: sender.publicKey) == Self.bytes(Example.sharedSecret))
    let message = WebPushEncryption.encrypt(
      Example.plaintext, for: Self.keys, key: sender, salt: Self.bytes(Example.salt), paddedBytes: Example.plaintext.count)
    #expect(message == Self.bytes(Example.message))
  }

  @Test func `a message is 4,096 bytes, whatever is in it, and never the same twice`() throws {
    for count in [0, 1, 41, WebPushEncryption.plaintextBytesLimit] {
      let plaintext = [UInt8](repeating: 7, count: count)
      let one = try #require(WebPushEncryption.encrypt(plaintext, for: Self.keys))
      let other = try #require(WebPushEncryption.encrypt(plaintext, for: Self.keys))
      #expect(one.count == 4_096 && other.count == 4_096)
      // Salt, and the message's key.
      #expect(one[..<16] != other[..<16] && one[21..<86] != other[21..<86] && one[86...] != other[86...])
    }
    #expect(WebPushEncryption.plaintextBytesLimit == 3_993)
    #expect(WebPushEncryption.encrypt([UInt8](repeating: 7, count: 3_994), for: Self.keys) == nil)
  }

  @Test func `what is no point of the curve is no public key`() throws {
    var point = Self.bytes(Example.receiverPublic)
    #expect(P256KeyPair.isPublicKey(point))
    point[64] ^= 1
    #expect(!P256KeyPair.isPublicKey(point))
    #expect(P256KeyPair().agree(with: point) == nil)
    let compressed = [2] + Self.bytes(Example.receiverPublic)[1..<33]
    for bytes in [[], [4], compressed, [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 255, count: 64)] {
      #expect(!P256KeyPair.isPublicKey(bytes), "\(bytes.count)")
    }
  }

  @Test func `a key is read as it was written, and an invalid key is refused`() throws {
    let pair = P256KeyPair()
    let pem = try #require(pair.pem)
    #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----"))
    #expect(try #require(P256KeyPair(pem: pem)).publicKey == pair.publicKey)
    for count in 0..<pem.count - 30 { #expect(P256KeyPair(pem: Array(pem[..<count])) == nil, "\(count)") }
    let ed25519 = """
      -----BEGIN PRIVATE KEY-----
      MC4CAQAwBQYDK2VwBCIEIGgL4y2nJN0Zl5n1sBAhGeVGJZuCeRa6gsRVKwVSWP6B
      -----END PRIVATE KEY-----

      """
    #expect(P256KeyPair(pem: Array(ed25519.utf8)) == nil)
  }
}
