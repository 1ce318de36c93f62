import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Files for encrypted rooms, with a host that encrypts them.
@Suite struct FileEncryptionTests {
  private let picture = OutgoingMessage.media(
    OutgoingMedia(
      .image, Attachment(fileName: "cat.png", blob: BlobHandle("cat"), mimeType: "image/png", sizeBytes: 1000),
      thumbnail: Attachment(fileName: "small.png", blob: BlobHandle("small"), sizeBytes: 100)))
  private let file = OutgoingMessage.media(
    OutgoingMedia(.file, Attachment(fileName: "plan.txt", blob: BlobHandle("plan"), mimeType: "text/plain", sizeBytes: 10)))

  private static let members = #"{"chunk":[\#(Wire.member("@me:test")),\#(Wire.member("@alice:test"))]}"#

  private static func encrypting() -> Host {
    var host = Host.signedIn()
    (host.client.encrypts, host.client.encryptsFiles) = (true, true)
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members + UnreadTests.encrypted, extra: Wire.counts))
    host.command(.timeline(.openRoom(.test)))
    return host
  }

  private static func keys(_ letter: Character) throws -> FileKeys {
    func text(_ count: Int) -> ByteString { ByteString(String(repeating: letter, count: count)) }
    return try #require(FileKeys(key: text(43), counter: text(22), digest: text(43)))
  }

  private func uploads(_ host: Host) -> [(blob: ByteString?, isEncrypted: Bool)] {
    host.waiting.filter { $0.request.target.contains("/upload") }.map { ($0.blob?.name, $0.encryptsBlob) }
  }

  /// Ends the upload of a blob.
  private func upload(_ blob: ByteString, to uri: String, _ letter: Character, in host: inout Host) throws {
    let place = try #require(host.waiting.firstIndex { $0.blob?.name == blob })
    let waiting = host.waiting.remove(at: place)
    host.handle(.fileEncrypted(waiting.id, try Self.keys(letter)))
    host.handle(.response(waiting.id, .answer(status: 200, body: Array(#"{"content_uri":"\#(uri)"}"#.utf8))))
  }

  @Test func `file and thumbnail are encrypted while they are uploaded, and the server learns neither name nor type`() throws {
    var host = Self.encrypting()
    host.command(.sending(.send(.test, picture)))
    host.answer("/media/config", "{}")
    let waiting = host.waiting.filter { $0.request.target.contains("/upload") }
    #expect(waiting.map(\.encryptsBlob) == [true, true])
    for upload in waiting {
      #expect(upload.request.contentType == "application/octet-stream" && !upload.request.target.contains("?"))
    }
    try upload("small", to: "mxc://test/1", "S", in: &host)
    try upload("cat", to: "mxc://test/2", "C", in: &host)
    host.answer("/members", Self.members)
    let content = try JSON.parse(try #require(host.unencrypted.first).message.content)
    #expect(content["url"] == nil && content["info"]?["thumbnail_url"] == nil)
    #expect(EncryptedFile(content["file"]) == EncryptedFile(try #require(MediaURI("mxc://test/2")), try Self.keys("C")))
    #expect(EncryptedFile(content["info"]?["thumbnail_file"])?.keys == (try Self.keys("S")))
    #expect(content["info"]?.text("mimetype") == "image/png" && content.text("filename") == "cat.png")
  }

  @Test func `the keys are stored with what they opened, so a restart uploads only the rest`() throws {
    var host = Self.encrypting()
    host.command(.sending(.send(.test, picture)))
    host.answer("/media/config", "{}")
    try upload("small", to: "mxc://test/1", "S", in: &host)
    var next = host.restarted()
    next.answer("/media/config", "{}")
    #expect(uploads(next).map(\.blob) == ["cat"] && uploads(next).allSatisfy(\.isEncrypted))
    try upload("cat", to: "mxc://test/2", "D", in: &next)
    next.command(.timeline(.openRoom(.test)))
    next.sync()
    next.answer("/members", Self.members)
    let content = try JSON.parse(try #require(next.unencrypted.first).message.content)
    #expect(EncryptedFile(content["info"]?["thumbnail_file"])?.keys == (try Self.keys("S")))
    #expect(EncryptedFile(content["file"])?.keys == (try Self.keys("D")))
  }

  @Test func `an upload that is repeated has the keys of the last try`() throws {
    var host = Self.encrypting()
    host.command(.sending(.send(.test, file)))
    host.answer("/media/config", "{}")
    let first = try #require(host.request("/upload"))
    host.handle(.fileEncrypted(first.id, try Self.keys("A")))
    host.answer("/upload", status: 502, "{}")
    host.wait(60_000)
    try upload("plan", to: "mxc://test/1", "B", in: &host)
    host.handle(.fileEncrypted(first.id, try Self.keys("A")))
    host.answer("/members", Self.members)
    let content = try JSON.parse(try #require(host.unencrypted.first).message.content)
    #expect(EncryptedFile(content["file"])?.keys == (try Self.keys("B")))
  }

  @Test func `a host that says no keys sends nothing, and one that encrypts no files refuses them`() throws {
    var host = Self.encrypting()
    host.command(.sending(.send(.test, file)))
    host.answer("/media/config", "{}")
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    guard case .failed(.encryptedRoom)? = host.items().last?.delivery else { return #expect(Bool(false), "not failed") }
    #expect(host.unencrypted.isEmpty && host.request("/upload") == nil)
    host.client.encryptsFiles = false
    host.command(.sending(.send(.test, file)))
    #expect(host.result() == "encryptedRoom")
  }

  @Test func `a room that becomes encrypted gets its waiting files anew, and clear uploads end`() throws {
    var host = Host.inRoom()
    (host.client.encrypts, host.client.encryptsFiles) = (true, true)
    host.command(.sending(.send(.test, picture)))
    host.answer("/media/config", "{}")
    #expect(uploads(host).map(\.isEncrypted) == [false, false])
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    host.sync(Wire.join(UnreadTests.encrypted))
    #expect(uploads(host).map(\.blob) == ["small", "cat"] && uploads(host).allSatisfy(\.isEncrypted), "the first one, too")
    #expect(host.unencrypted.isEmpty && host.request("/send/") == nil)
    try upload("small", to: "mxc://test/3", "S", in: &host)
    try upload("cat", to: "mxc://test/4", "C", in: &host)
    host.answer("/members", Self.members)
    let content = try JSON.parse(try #require(host.unencrypted.first).message.content)
    #expect(EncryptedFile(content["file"])?.source.string == "mxc://test/4")
    #expect(EncryptedFile(content["info"]?["thumbnail_file"])?.source.string == "mxc://test/3")
  }

  @Test func `a file's keys go to no room that is not encrypted`() throws {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("msgtype", "m.file")
      writer.member("body", "plan.txt")
      writer.key("file")
      EncryptedFile(MediaURI("mxc://test/1")!, try! Self.keys("A")).write(to: &writer)
    }
    let forwarded = OutgoingMessage.custom(.message, content: writer.bytes)
    var plain = Host.inRoom()
    plain.command(.sending(.send(.test, forwarded)))
    #expect(plain.result() == "invalidContent" && plain.client.outbox.entries.isEmpty)
    var encrypted = Self.encrypting()
    encrypted.command(.sending(.send(.test, forwarded)))
    encrypted.answer("/members", Self.members)
    #expect(encrypted.unencrypted.count == 1)
  }
}
