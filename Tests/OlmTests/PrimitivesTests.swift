import CPrimitives
import Testing

@testable import Olm

/// What the libraries below compute, beside the published vectors.
@Suite struct PrimitivesTests {
  // RFC 7748, §5.2 and §6.1.
  @Test func `X25519 gives what RFC 7748 says`() throws {
    let pair = try #require(
      Curve25519KeyPair(Secret(hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"))))
    let point = try #require(Curve25519Key(hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")))
    #expect(try pair.agree(with: point).exposed() == hex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"))
    let alice = try #require(
      Curve25519KeyPair(Secret(hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))))
    let bob = try #require(
      Curve25519KeyPair(Secret(hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))))
    #expect(alice.key.bytes == hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
    #expect(bob.key.bytes == hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    #expect(try alice.agree(with: bob.key).exposed() == shared)
    #expect(try bob.agree(with: alice.key).exposed() == shared)
  }

  @Test(arguments: weakPoints)
  func `an agreement with a point of small order is refused`(point: String) throws {
    var random = SecretSource.system
    let weak = try #require(Curve25519Key(hex(point)))
    #expect(throws: OlmError.weakKey) { try Curve25519KeyPair(from: &random).agree(with: weak) }
  }

  // RFC 8032, §7.1, tests 1 to 3.
  @Test(
    arguments: [
      (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
      ),
      (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
      ),
      (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
      )
    ] as [(String, String, String, String)])
  func `Ed25519 signs as RFC 8032 says`(seed: String, message: String, key: String, signature: String) throws {
    let pair = try #require(Ed25519KeyPair(seed: Secret(hex(seed))))
    #expect(pair.key.bytes == hex(key))
    #expect(pair.sign(hex(message)) == hex(signature))
    #expect(pair.key.verifies(hex(signature), of: hex(message)))
    #expect(!pair.key.verifies(hex(signature), of: hex(message) + [0]))
  }

  // With OpenSSL, up to all 64 of these pass: Documentation/Decisions/0023-encryption.md.
  @Test(
    arguments: [
      "0100000000000000000000000000000000000000000000000000000000000000",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "0000000000000000000000000000000000000000000000000000000000000000",
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
    ])
  func `a key of small order signs nothing`(key: String) throws {
    let key = try #require(Ed25519Key(hex(key)))
    let forged = [1] + [UInt8](repeating: 0, count: 63)
    for number in 0..<64 { #expect(!key.verifies(forged, of: ascii("message \(number)"))) }
  }

  @Test func `a signature with a number that is not reduced is refused`() throws {
    var random = SecretSource.system
    let pair = Ed25519KeyPair(from: &random)
    var signature = pair.sign(ascii("hi"))
    // The order of the base point, added to the signature's second half.
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    var carry: UInt16 = 0
    for index in 0..<32 {
      carry += UInt16(signature[32 + index]) + UInt16(order[index])
      signature[32 + index] = UInt8(truncatingIfNeeded: carry)
      carry >>= 8
    }
    #expect(!pair.key.verifies(signature, of: ascii("hi")))
  }

  // RFC 5869, A.1 and A.3.
  @Test func `HKDF gives what RFC 5869 says`() {
    let secret = Secret([UInt8](repeating: 0x0B, count: 22))
    let salted = secret.derived(42, info: hex("f0f1f2f3f4f5f6f7f8f9"), salt: Secret(hex("000102030405060708090a0b0c")))
    #expect(
      salted.exposed()
        == hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    #expect(
      secret.derived(42, info: []).exposed()
        == hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
  }

  // RFC 4231, cases 1, 2 and 6.
  @Test func `HMAC gives what RFC 4231 says`() {
    #expect(
      Secret([UInt8](repeating: 0x0B, count: 20)).tag(of: ascii("Hi There"))
        == hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    #expect(
      Secret(ascii("Jefe")).tag(of: ascii("what do ya want for nothing?"))
        == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    #expect(
      Secret([UInt8](repeating: 0xAA, count: 131)).tag(of: ascii("Test Using Larger Than Block-Size Key - Hash Key First"))
        == hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
  }

  // FIPS 180-4's example.
  @Test func `SHA-256 is the same in one part and in many`() {
    let digest = hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(SHA256.digest(of: ascii("abc")) == digest)
    var hash = SHA256()
    for letter in ascii("abc") { hash.add([letter]) }
    #expect(hash.digest == digest)
  }

  // NIST SP 800-38A, F.2.5.
  @Test func `AES-CBC gives what NIST says`() {
    let key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    let plaintext = hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    var bytes = plaintext
    primitives_aes256_cbc_encrypt(&bytes, bytes.count, key, [UInt8](0..<16))
    #expect(
      bytes
        == hex(
          "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
        ))
    primitives_aes256_cbc_decrypt(&bytes, bytes.count, key, [UInt8](0..<16))
    #expect(bytes == plaintext)
  }

  // NIST SP 800-38A, F.5.5; the second with a counter that overflows after one block, from Python's cryptography.
  @Test(
    arguments: [
      (
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
      ),
      (
        "ffffffffffffffffffffffffffffffff",
        "50fd97c3e61abb4873fb78df1e8e77e64b457cd68accda4a89fa236c06bf2605a1dd021ba826fb0a252c6dc9b434030be1910794ac1349c2d4cd7bf39da5ff03"
      )
    ])
  func `AES-CTR gives what NIST says, in parts of any size`(counter: String, ciphertext: String) throws {
    let plaintext = hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    let key = Secret(hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))
    for partBytes in 1...64 {
      var cipher = try #require(CounterCipher(key: key, counter: hex(counter)))
      var result: [UInt8] = []
      for start in stride(from: 0, to: plaintext.count, by: partBytes) {
        var part = [UInt8](plaintext[start..<min(start + partBytes, plaintext.count)])
        cipher.apply(to: &part)
        result += part
      }
      #expect(result == hex(ciphertext))
    }
  }

  // From Python's hashlib: no RFC has vectors with SHA-512.
  @Test func `PBKDF2 gives what other implementations give`() throws {
    #expect(
      try PassphraseKey(salt: ascii("salt"), rounds: 1).derive(from: ascii("password"), byteCount: 64).exposed()
        == hex(
          "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce"
        ))
    #expect(
      try PassphraseKey(salt: ascii("saltSALTsaltSALTsaltSALTsaltSALTsalt"), rounds: 4096)
        .derive(from: ascii("passwordPASSWORDpassword"), byteCount: 64).exposed()
        == hex(
          "8c0511f4c6e597c6ac6315d8f0362e225f3c501495ba23b868c005174dc4ee71115b59f9e60cd9532fa33e0f75aefe30225c583a186cd82bd4daea9724a3d3b8"
        ))
  }
}
