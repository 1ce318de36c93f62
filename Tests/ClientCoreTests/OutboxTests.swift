import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct OutboxTests {
  @Test func `a message shows at once, is stored, then sent`() {
    var host = Host.inRoom()
    host.writesAtOnce = false
    host.command(.sending(.send(.test, .text("hello"))))
    #expect(host.texts() == ["one", "hello queued"])
    #expect(host.request("/send/") == nil)
    host.finishWrites()
    #expect(host.texts() == ["one", "hello sending"])
    #expect(host.body("/send/")?["body"]?.string == "hello")
  }

  @Test func `the echo keeps its identity when the answer comes before the sync`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("hello"))))
    let id = host.items()[1].id
    let transaction = host.transaction
    host.answer("/send/", #"{"event_id":"$2"}"#)
    #expect(host.texts() == ["one", "hello sent"])
    host.sync(Wire.join([Wire.message("hello", "$2", by: "@me:test", transaction: transaction)]))
    #expect(host.texts() == ["one", "hello"])
    #expect(host.items()[1].id == id)
    #expect(host.client.outbox.entries.isEmpty)
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
  }

  @Test func `the echo keeps its identity when the sync comes before the answer`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("hello"))))
    let id = host.items()[1].id
    let transaction = host.transaction
    host.sync(Wire.join([Wire.message("hello", "$2", by: "@me:test", transaction: transaction)]))
    #expect(host.texts() == ["one", "hello"])
    #expect(host.items()[1].id == id)
    host.answer("/send/", #"{"event_id":"$2"}"#)
    #expect(host.texts() == ["one", "hello"])
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
  }

  @Test func `an answer between prepare and commit does not bring the record back`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("hello"))))
    let transaction = host.transaction
    host.writesAtOnce = false
    host.sync(Wire.join([Wire.message("hello", "$2", by: "@me:test", transaction: transaction)]))
    host.answer("/send/", #"{"event_id":"$2"}"#)
    host.finishWrites()
    host.finishWrites()
    #expect(host.texts() == ["one", "hello"])
    #expect(host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
  }

  // Proves W8
  @Test func `an event without transaction ID is known by the answer's event ID`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("hello"))))
    host.sync(Wire.join([Wire.message("hello", "$2", by: "@me:test")]))
    host.answer("/send/", #"{"event_id":"$2"}"#)
    #expect(host.texts() == ["one", "hello"])
    #expect(host.client.outbox.entries.isEmpty)
  }

  @Test func `messages go out one by one, in order`() {
    var host = Host.inRoom()
    for text in ["a", "b", "c"] { host.command(.sending(.send(.test, .text(ByteString(text))))) }
    for (n, text) in ["a", "b", "c"].enumerated() {
      #expect(host.waiting.filter { $0.request.target.contains("/send/") }.count == 1)
      #expect(host.body("/send/")?["body"]?.string == text)
      host.answer("/send/", #"{"event_id":"$n\#(n)"}"#)
    }
    #expect(host.request("/send/") == nil)
  }

  @Test(arguments: [500, 502, 429]) func `trouble of the server is waited out and the order kept`(status: Int) {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.command(.sending(.send(.test, .text("b"))))
    let transaction = host.transaction
    host.answer("/send/", status: status, #"{"errcode":"M_UNKNOWN","error":""}"#)
    #expect(host.request("/send/") == nil)
    host.wait(2000)
    #expect(host.body("/send/")?["body"]?.string == "a")
    #expect(host.transaction == transaction)
  }

  @Test func `the server's retry_after_ms is followed`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.answer("/send/", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"","retry_after_ms":20000}"#)
    host.wait(19_999)
    #expect(host.request("/send/") == nil)
    host.wait(1000)
    #expect(host.request("/send/") != nil)
  }

  @Test func `a refused message stays as failed and the next goes on`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.command(.sending(.send(.test, .text("b"))))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(host.texts() == ["one", "a failed", "b sending"])
    guard case .failed(.refused(403, .forbidden, let message, _)) = host.items()[1].delivery else {
      Issue.record("no reason")
      return
    }
    #expect(message == "no")
    host.command(.sending(.retry(.test, .item(host.items()[1].id))))
    host.answer("/send/", #"{"event_id":"$b"}"#)
    #expect(host.body("/send/")?["body"]?.string == "a")
    host.answer("/send/", #"{"event_id":"$a"}"#)
    #expect(host.texts() == ["one", "a sent", "b sent"])
  }

  // Proves W11
  @Test func `a failed message is still failed after a restart`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "a failed"])
    #expect(next.request("/send/") == nil)
    next.command(.sending(.cancel(.test, .item(next.items()[1].id))))
    #expect(next.texts() == ["one"])
    #expect(next.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
  }

  // Proves W11
  @Test func `offline messages wait and go out in order when the network is back`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    guard case .offline = host.client.connection else { return #expect(Bool(false), "not offline") }
    for text in ["a", "b", "c"] { host.command(.sending(.send(.test, .text(ByteString(text))))) }
    #expect(host.request("/send/") == nil)
    var next = host.restarted()
    next.command(.timeline(.openRoom(.test)))
    #expect(next.texts() == ["one", "a sending", "b queued", "c queued"])
    host.handle(.networkChanged(isOnline: true))
    #expect(host.body("/send/")?["body"]?.string == "a")
  }

  @Test(arguments: [true, false]) func `messages that wait for the network do not wait for a room that the user has left`(
    comesBack: Bool
  ) {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.sync(#""leave":{"!room:test":{"timeline":{"events":[\#(Wire.member("@me:test", "leave", "$l"))]}}}"#)
    if comesBack { host.sync(Wire.join([Wire.member("@me:test", "join", "$j")])) }
    host.respond("/send/", .networkError)
    host.wait(120_000)
    #expect(host.texts().contains("a failed") != comesBack)
    #expect((host.request("/send/") != nil) == comesBack)
  }

  @Test func `a restart repeats the request with the same transaction ID`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    let next = host.restarted()
    #expect(next.transaction == host.transaction)
    #expect(!next.transaction.isEmpty)
  }

  @Test func `a cancelled message never goes out`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("a"))))
    host.command(.sending(.send(.test, .text("b"))))
    host.command(.sending(.cancel(.test, .item(host.items()[2].id))))
    host.command(.sending(.cancel(.test, .item(host.items()[1].id))))
    #expect(host.texts() == ["one", "a sending"])
    host.answer("/send/", #"{"event_id":"$a"}"#)
    #expect(host.request("/send/") == nil)
  }

  @Test func `the outbox has an end`() {
    var host = Host.inRoom()
    host.handle(.networkChanged(isOnline: false))
    host.comparesMirrors = false
    for _ in 0..<Limits.outboxEntries { host.command(.sending(.send(.test, .text("a")))) }
    #expect(host.result() == "queued")
    host.command(.sending(.send(.test, .text("a"))))
    #expect(host.result() == "outboxIsFull")
    #expect(host.client.outbox.entries.count == Limits.outboxEntries)
  }

  // Proves J28
  @Test func `an image uploads with progress, then goes out with its size`() {
    var host = Host.inRoom()
    let blob = BlobHandle("file-1")
    let image = Attachment(
      fileName: "cat.png", blob: blob, mimeType: "image/png", sizeBytes: 1000, width: 640, height: 480)
    host.command(.sending(.send(.test, .attachment(kind: .image, image))))
    host.command(.sending(.send(.test, .text("after"))))
    host.answer("/media/config", #"{"m.upload.size":1000}"#)
    #expect(host.texts() == ["one", "cat.png uploading 0/1000", "after queued"])
    guard let upload = host.request("/upload") else { return #expect(Bool(false), "no upload") }
    #expect(upload.blob == blob)
    #expect(upload.request.contentType == "image/png")
    host.handle(.uploadProgress(upload.id, sentBytes: 400, totalBytes: 1000))
    #expect(host.texts()[1] == "cat.png uploading 400/1000")
    host.answer("/upload", #"{"content_uri":"mxc://test/abc"}"#)
    let body = host.body("/send/")
    #expect(body?["msgtype"]?.string == "m.image")
    #expect(body?["url"]?.string == "mxc://test/abc")
    #expect(body?["info"]?["w"]?.integer == 640)
    #expect(body?["info"]?["h"]?.integer == 480)
    #expect(body?["info"]?["size"]?.integer == 1000)
    #expect(body?["info"]?["mimetype"]?.string == "image/png")
    let transaction = host.transaction
    let content = #"{"msgtype":"m.image","body":"cat.png","url":"mxc://test/abc","info":{"w":640,"h":480}}"#
    host.sync(
      Wire.join([
        Wire.event("m.room.message", "$i", by: "@me:test", content, unsigned: #"{"transaction_id":"\#(transaction)"}"#)
      ]))
    guard case .message(let message) = host.items()[1].content else { return #expect(Bool(false), "no message") }
    #expect(message.attachment?.blob == blob)
    #expect(message.attachment?.source == MediaURI("mxc://test/abc"))
    #expect(host.releasedBlobs == [blob])
  }

  @Test func `an upload whose file is gone fails for good, one without network is tried again`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .attachment(kind: .file, Attachment(fileName: "a.txt", blob: BlobHandle("x"))))))
    host.respond("/media/config", .networkError)
    host.respond("/upload", .networkError)
    #expect(host.texts() == ["one", "a.txt queued"])
    host.wait(2000)
    host.respond("/upload", .blobIsGone)
    #expect(host.texts() == ["one", "a.txt failed"])
    #expect(host.restarted().request("/upload") == nil)
  }

  // Proves P15
  @Test func `an upload that is tried again is shown where it stopped`() {
    var host = Host.inRoom()
    let file = Attachment(fileName: "a.bin", blob: BlobHandle("x"), sizeBytes: 1000)
    host.command(.sending(.send(.test, .attachment(kind: .file, file))))
    host.answer("/media/config", "{}")
    if let id = host.request("/upload")?.id { host.handle(.uploadProgress(id, sentBytes: 400, totalBytes: 1000)) }
    host.respond("/upload", .networkError)
    host.wait(2000)
    #expect(host.request("/upload") != nil)
    #expect(host.texts() == ["one", "a.bin uploading 400/1000"])
  }

  @Test func `a cancelled upload is stopped`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .attachment(kind: .file, Attachment(fileName: "a.txt", blob: BlobHandle("x"))))))
    host.answer("/media/config", "{}")
    #expect(host.request("/upload") != nil)
    host.command(.sending(.cancel(.test, .item(host.items()[1].id))))
    #expect(host.request("/upload") == nil)
    #expect(host.texts() == ["one"])
    #expect(host.releasedBlobs == [BlobHandle("x")])
  }

  @Test func `an echo that a limited sync skips is found in the gap`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    host.answer("/send/", #"{"event_id":"$mine"}"#)
    // The sync under way may not know it yet; the next one does.
    host.sync()
    host.sync(Wire.join([Wire.message("late", "$9")], limited: true, token: "t9"))
    #expect(host.texts() == ["one", "[gap]", "late"])
    #expect(host.client.outbox.entries.isEmpty)
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
    host.answer(
      "/messages",
      #"{"start":"t9","end":"t1","chunk":["# + Wire.message("mine", "$mine", by: "@me:test") + ","
        + Wire.message("one", "$1") + "]}")
    #expect(host.texts() == ["one", "mine", "late"])
  }
}
