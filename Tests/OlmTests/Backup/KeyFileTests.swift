import Testing

@testable import Olm

@Suite struct KeyFileTests {
  private static let sessions = ascii(#"[{"room_id":"!a:b"}]"#)

  private func keys(_ file: KeyFile, _ passphrase: String) -> Secret {
    file.passphraseKey.derive(from: ascii(passphrase), byteCount: KeyFile.keysByteCount)
  }

  /// A file of few rounds, for tests.
  private func seal(_ plaintext: [UInt8], _ passphrase: String) throws -> [UInt8] {
    var random = SecretSource.system
    let passphraseKey = try PassphraseKey(salt: random.bytes(16), rounds: 10)
    let keys = passphraseKey.derive(from: ascii(passphrase), byteCount: KeyFile.keysByteCount)
    return try KeyFile.seal(plaintext, keys, passphraseKey, random: &random)
  }

  // Proves E10
  @Test func `the passphrase opens the file, another does not`() throws {
    let file = try KeyFile(seal(Self.sessions, "correct"))
    #expect(try file.open(keys(file, "correct")) == Self.sessions)
    #expect(throws: OlmError.wrongMAC) { try file.open(keys(file, "wrong")) }
    #expect(throws: OlmError.malformed) { try file.open(Secret([1])) }
  }

  @Test func `a file has lines, and bit 63 of its counter is zero`() throws {
    for _ in 0..<20 {
      let text = try seal([UInt8](repeating: 0x61, count: 1_000), "p")
      let lines = text.split(separator: 0x0A)
      #expect(lines.allSatisfy { $0.count <= 96 } && lines.count == 17)
      #expect(text.last == 0x0A)
      let bytes = try #require(Base64.decode([UInt8](lines[1...15].joined())))
      #expect(bytes[17 + 8] & 0x80 == 0)
    }
  }

  @Test func `lines may end as on other systems, and other text may stand around`() throws {
    let text = try seal(Self.sessions, "p")
    let foreign = ascii("Subject: keys\r\n") + text.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] } + ascii("--\r\nsent by mail")
    let file = try KeyFile(foreign)
    #expect(try file.open(keys(file, "p")) == Self.sessions)
  }

  @Test func `a changed file is refused`() throws {
    let lines = try seal(Self.sessions, "p").split(separator: 0x0A)
    let bytes = try #require(Base64.decode([UInt8](lines[1..<lines.count - 1].joined())))
    for damaged in damaged(bytes) {
      let text = [UInt8]([[UInt8](lines[0]), Base64.encode(damaged), [UInt8](lines[lines.count - 1])].joined(separator: [0x0A]))
      #expect(throws: OlmError.self) {
        let file = try KeyFile(text)
        // What was changed may be the rounds.
        guard file.passphraseKey.rounds < 1_000 else { throw OlmError.malformed }
        _ = try file.open(keys(file, "p"))
      }
    }
  }

  @Test(arguments: [
    "", "-----BEGIN MEGOLM SESSION DATA-----", "-----BEGIN MEGOLM SESSION DATA-----\n-----END MEGOLM SESSION DATA-----", "hello"
  ])
  func `what is not a key file is refused`(text: String) { #expect(throws: OlmError.malformed) { try KeyFile(ascii(text)) } }

  @Test func `a file that was cut off is told from one that is no key file`() throws {
    let text = try seal(Self.sessions, "p")
    #expect(!KeyFile.isCutOff(text) && !KeyFile.isCutOff([]) && !KeyFile.isCutOff(ascii("hello\n")))
    let begin = 36, end = text.count - "-----END MEGOLM SESSION DATA-----\n".utf8.count
    for length in [begin, begin + 1, end - 1, end, text.count - 2] {
      #expect(KeyFile.isCutOff([UInt8](text[..<length])), "after \(length) bytes")
      #expect(throws: OlmError.malformed) { try KeyFile([UInt8](text[..<length])) }
    }
  }

  @Test func `a passphrase takes at most ten million rounds`() {
    #expect(throws: OlmError.malformed) { try PassphraseKey(salt: [], rounds: 0) }
    #expect(throws: OlmError.malformed) { try PassphraseKey(salt: [], rounds: 10_000_001) }
    var random = SecretSource.system
    #expect(PassphraseKey(random: &random).rounds == 500_000 && PassphraseKey(random: &random).salt.count == 16)
  }

  @Test func `what matrix-nio wrote is read`() throws {
    let file = try KeyFile(ascii(KeptVectors.keyFile))
    #expect(try file.open(keys(file, "correct horse")) == Self.sessions)
  }
}
