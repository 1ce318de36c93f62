import Testing

@testable import Olm

@Suite struct AttachmentTests {
  private let bytes = [UInt8](0..<200)

  @Test func `a file is read as it was written, in other parts`() throws {
    var random = SecretSource.system
    var writer = AttachmentCipher(random: &random)
    #expect(writer.counter.suffix(8).allSatisfy { $0 == 0 })
    var (first, second) = ([UInt8](bytes[..<77]), [UInt8](bytes[77...]))
    writer.encrypt(&first)
    writer.encrypt(&second)
    var reader = try AttachmentReader(key: writer.key, counter: writer.counter, digest: writer.digest)
    var whole = first + second
    reader.decrypt(&whole)
    #expect(whole == bytes)
    try reader.verify()
  }

  @Test func `a changed or shortened file is refused`() throws {
    var random = SecretSource.system
    var writer = AttachmentCipher(random: &random)
    var ciphertext = bytes
    writer.encrypt(&ciphertext)
    for damaged in damaged(ciphertext) {
      var reader = try AttachmentReader(key: writer.key, counter: writer.counter, digest: writer.digest)
      var part = damaged
      reader.decrypt(&part)
      #expect(throws: OlmError.wrongMAC) { try reader.verify() }
    }
  }

  @Test func `keys, counters and hashes of other lengths are refused`() {
    let (key, counter, digest) = (
      Secret(count: 32) { _ in }, [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 32)
    )
    #expect(throws: OlmError.malformed) { try AttachmentReader(key: Secret([1]), counter: counter, digest: digest) }
    #expect(throws: OlmError.malformed) { try AttachmentReader(key: key, counter: [1], digest: digest) }
    #expect(throws: OlmError.malformed) { try AttachmentReader(key: key, counter: counter, digest: [1]) }
  }

  @Test func `what matrix-nio wrote is read`() throws {
    var reader = try AttachmentReader(
      key: Secret(decode(KeptVectors.attachmentKey)), counter: decode(KeptVectors.attachmentCounter),
      digest: decode(KeptVectors.attachmentDigest))
    var file = try decode(KeptVectors.attachment)
    reader.decrypt(&file)
    try reader.verify()
    #expect(file == bytes)
  }
}
