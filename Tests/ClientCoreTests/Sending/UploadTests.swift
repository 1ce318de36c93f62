import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct UploadTests {
  private let message = OutgoingMessage.media(
    OutgoingMedia(
      .image, Attachment(fileName: "cat.png", blob: BlobHandle("cat"), mimeType: "image/png", sizeBytes: 1000),
      thumbnail: Attachment(fileName: "small.png", blob: BlobHandle("small"), sizeBytes: 100)))

  private func uploads(_ host: Host) -> [ByteString] {
    host.waiting.filter { $0.request.target.contains("/upload") }.compactMap { $0.blob?.name }
  }

  private func file(_ name: ByteString, _ bytes: Int64 = 100) -> OutgoingMedia {
    OutgoingMedia(.file, Attachment(fileName: name, blob: BlobHandle(name), sizeBytes: bytes))
  }

  private func progress(_ host: Host) -> [String] {
    var seen: [String] = []
    for case .sending(_, _, .uploading(let sent, let total)) in host.changes where seen.last != "\(sent)/\(total)" {
      seen.append("\(sent)/\(total)")
    }
    return seen
  }

  @Test func `the thumbnail goes first, and the progress ends at the total`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    host.answer("/media/config", "{}")
    #expect(host.request("/upload")?.blob == BlobHandle("small"))
    if let id = host.request("/upload")?.id { host.handle(.uploadProgress(id, sentBytes: 60, totalBytes: 100)) }
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    #expect(host.request("/upload")?.blob == BlobHandle("cat"))
    if let id = host.request("/upload")?.id { host.handle(.uploadProgress(id, sentBytes: 2000, totalBytes: 1000)) }
    host.answer("/upload", #"{"content_uri":"mxc://test/2"}"#)
    #expect(progress(host) == ["0/1100", "60/1100", "100/1100", "1100/1100"])
    #expect(host.body("/send/")?["url"]?.string == "mxc://test/2")
  }

  @Test func `each step is stored before the next, so a restart repeats none`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    host.answer("/media/config", "{}")
    host.writesAtOnce = false
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    // The other one is under way already.
    #expect(uploads(host) == ["cat"])
    var early = host.restarted()
    early.answer("/media/config", "{}")
    #expect(uploads(early) == ["small", "cat"])
    host.finishWrites()
    var later = host.restarted()
    later.answer("/media/config", "{}")
    #expect(uploads(later) == ["cat"])
    host.answer("/upload", #"{"content_uri":"mxc://test/2"}"#)
    #expect(host.request("/send/") == nil)
    host.finishWrites()
    #expect(host.body("/send/")?["info"]?["thumbnail_url"]?.string == "mxc://test/1")
  }

  @Test func `a file that the server would not take is refused with the limit before it is sent`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    host.answer("/media/config", #"{"m.upload.size":999}"#)
    guard case .failed(.tooLarge(limitBytes: 999)) = host.items()[1].delivery else { return #expect(Bool(false), "no limit") }
    #expect(host.request("/upload") == nil)
    // Once the limit is known the command itself says so.
    host.command(.sending(.send(.test, message)))
    #expect(host.result() == "tooLarge(limitBytes: 999)")
    #expect(host.restarted().client.outbox.entries.count == 1)
    guard case .failed(.tooLarge(limitBytes: 999))? = host.restarted().client.outbox.entries.first?.phase else {
      return #expect(Bool(false), "forgotten")
    }
  }

  @Test func `a server that refuses the size all the same is believed`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    host.answer("/media/config", #"{"m.upload.size":5000}"#)
    host.answer("/upload", status: 413, #"{"errcode":"M_TOO_LARGE","error":""}"#)
    #expect(host.texts() == ["one", "cat.png failed"])
  }

  @Test func `a cancelled upload leaves no event`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    host.command(.sending(.send(.test, .text("after"))))
    host.answer("/media/config", "{}")
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    host.command(.sending(.cancel(.test, .item(host.items()[1].id))))
    #expect(host.request("/upload") == nil)
    #expect(host.releasedBlobs == [BlobHandle("small"), BlobHandle("cat")])
    #expect(host.body("/send/")?["body"]?.string == "after")
    #expect(host.texts() == ["one", "after sending"])
  }

  @Test func `a caption is changed while the file goes up`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, message)))
    host.answer("/media/config", "{}")
    host.command(.sending(.edit(.test, .item(host.items()[1].id), FormattedText("my cat"))))
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    host.answer("/upload", #"{"content_uri":"mxc://test/2"}"#)
    #expect(host.body("/send/")?["body"]?.string == "my cat")
    #expect(host.body("/send/")?["filename"]?.string == "cat.png")
    #expect(host.client.outbox.entries.count == 1)
  }

  // MARK: Side by side

  // Proves P14
  @Test func `three files of a room are uploaded at a time, of one message or of several, and none waits for a write`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .gallery([file("a"), file("b")]))))
    for name in ["c", "d"] as [ByteString] { host.command(.sending(.send(.test, .media(file(name))))) }
    host.answer("/media/config", "{}")
    #expect(uploads(host) == ["a", "b", "c"])
    host.writesAtOnce = false
    host.answer("/upload", #"{"content_uri":"mxc://test/a"}"#)
    #expect(uploads(host) == ["b", "c", "d"])
    #expect(host.texts().dropFirst() == [" uploading 100/200", "c uploading 0/100", "d uploading 0/100"])
  }

  // Proves P14
  @Test func `what is uploaded first is sent in its turn all the same`() {
    var host = Host.inRoom()
    for name in ["a", "b"] as [ByteString] { host.command(.sending(.send(.test, .media(file(name))))) }
    host.command(.sending(.send(.test, .text("after"))))
    host.answer("/media/config", "{}")
    let last = host.waiting.first { $0.blob == BlobHandle("b") }
    if let last {
      host.waiting.removeAll { $0.id == last.id }
      host.handle(.response(last.id, .answer(status: 200, body: Array(#"{"content_uri":"mxc://test/b"}"#.utf8))))
    }
    #expect(host.request("/send/") == nil && uploads(host) == ["a"])
    // A kill now: the file that is there is not uploaded again, and the order is what it was.
    var later = host.restarted()
    later.answer("/media/config", "{}")
    #expect(uploads(later) == ["a"])
    later.answer("/upload", #"{"content_uri":"mxc://test/a"}"#)
    for (name, event) in [("a", "$a"), ("b", "$b"), ("after", "$c")] {
      #expect(later.body("/send/")?["body"]?.string == name)
      #expect(later.waiting.filter { $0.request.target.contains("/send/") }.count == 1)
      later.answer("/send/", #"{"event_id":"\#(event)"}"#)
    }
  }

  @Test func `one file that has no network waits, the others go on, and none goes up twice`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .gallery([file("a"), file("b")]))))
    host.answer("/media/config", "{}")
    host.respond("/upload", .networkError)
    #expect(uploads(host) == ["b"] && host.texts()[1] == " uploading 0/200")
    host.answer("/upload", #"{"content_uri":"mxc://test/b"}"#)
    #expect(uploads(host).isEmpty && host.request("/send/") == nil && host.texts()[1] == " queued")
    host.wait(600_000)
    #expect(uploads(host) == ["a"])
    host.answer("/upload", #"{"content_uri":"mxc://test/a"}"#)
    let sent = host.body("/send/")
    #expect(sent?["itemtypes"]?.elements.compactMap { $0["url"]?.string } == ["mxc://test/a", "mxc://test/b"])
  }

  @Test func `an upload that fails does not cut short how long the server wants the room to wait`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("early"))))
    host.command(.sending(.send(.test, .media(file("a")))))
    host.answer("/media/config", "{}")
    #expect(uploads(host) == ["a"])
    host.answer("/send/", status: 429, #"{"errcode":"M_LIMIT_EXCEEDED","error":"","retry_after_ms":60000}"#)
    host.respond("/upload", .networkError)
    host.wait(59_000)
    #expect(host.request("/send/") == nil)
    host.wait(2_000)
    #expect(host.body("/send/")?["body"]?.string == "early" && uploads(host) == ["a"])
  }

  @Test func `a message that fails takes its other uploads along, and what is behind it goes on`() {
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .gallery([file("a"), file("b"), file("c")]))))
    host.command(.sending(.send(.test, .media(file("d")))))
    host.answer("/media/config", "{}")
    host.respond("/upload", .blobIsGone)
    #expect(host.texts()[1] == " failed" && uploads(host) == ["d"])
    host.answer("/upload", #"{"content_uri":"mxc://test/d"}"#)
    #expect(host.body("/send/")?["body"]?.string == "d")
  }

  // Proves P14
  @Test(arguments: 0..<60)
  func `whatever answers when, fails or is killed, files arrive once each, in the order they were written`(_ seed: UInt64) {
    var random = RandomSource(seed: seed)
    var host = Host.inRoom()
    let names = (0..<6).map { ByteString("f\($0)") }
    for name in names { host.command(.sending(.send(.test, .media(file(name))))) }
    host.writesAtOnce = false
    var sent: [String] = []
    var events: [String: Int] = [:]
    for _ in 0..<2_000 where sent.count < names.count {
      #expect(uploads(host).count <= Limits.uploadsInRoom)
      let sends = host.waiting.filter { $0.request.target.contains("/send/") }
      #expect(sends.count <= 1, "one at a time")
      let choices = host.waiting.filter { !$0.request.target.contains("/sync") }
      guard !choices.isEmpty, random.next(below: 12) > 0 else {
        if random.next(below: 3) == 0 {
          // What was not durable by then is lost.
          host = host.restarted(seed: UInt64(random.next(below: 1 << 30)))
          host.writesAtOnce = false
        } else {
          host.finishWrites()
          host.wait(60_000)
        }
        continue
      }
      let chosen = choices[Int(random.next(below: Int64(choices.count)))]
      host.waiting.removeAll { $0.id == chosen.id }
      var answer = "{}"
      if let blob = chosen.blob { answer = #"{"content_uri":"mxc://test/\#(blob.name.string)"}"# }
      if chosen.request.target.contains("/send/") {
        // The server has it, whether its answer arrives or not: by the transaction ID one event.
        let transaction = String(chosen.request.target.split(separator: "/").last ?? "")
        if events[transaction] == nil {
          events[transaction] = events.count
          sent.append((try? JSON.parse(chosen.request.body ?? []))?["url"]?.string ?? "")
        }
        answer = #"{"event_id":"$\#(events[transaction] ?? 0)"}"#
      }
      let isLost = random.next(below: 5) == 0
      host.handle(.response(chosen.id, isLost ? .networkError : .answer(status: 200, body: Array(answer.utf8))))
    }
    #expect(sent == names.map { "mxc://test/" + $0.string })
  }
}
