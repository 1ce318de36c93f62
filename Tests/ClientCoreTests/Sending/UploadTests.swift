import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct UploadTests {
  private let message = OutgoingMessage.media(
    OutgoingMedia(
      .image, Attachment(fileName: "cat.png", blob: BlobHandle("cat"), mimeType: "image/png", sizeBytes: 1000),
      thumbnail: Attachment(fileName: "small.png", blob: BlobHandle("small"), sizeBytes: 100)))

  private func progress(_ host: Host) -> [String] {
    var seen: [String] = []
    for case .sending(_, _, .uploading(let sent, let total)) in host.changes where seen.last != "\(sent)/\(total)" {
      seen.append("\(sent)/\(total)")
    }
    return seen
  }

  @Test func `the thumbnail goes first, and the progress ends at the total`() {
    var host = Host.inRoom()
    host.command(.send(.test, message))
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
    host.command(.send(.test, message))
    host.answer("/media/config", "{}")
    host.writesAtOnce = false
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    #expect(host.request("/upload") == nil)
    var early = host.restarted()
    early.answer("/media/config", "{}")
    #expect(early.request("/upload")?.blob == BlobHandle("small"))
    host.finishWrites()
    var later = host.restarted()
    later.answer("/media/config", "{}")
    #expect(later.request("/upload")?.blob == BlobHandle("cat"))
    host.answer("/upload", #"{"content_uri":"mxc://test/2"}"#)
    #expect(host.request("/send/") == nil)
    host.finishWrites()
    #expect(host.body("/send/")?["info"]?["thumbnail_url"]?.string == "mxc://test/1")
  }

  @Test func `a file that the server would not take is refused with the limit before it is sent`() {
    var host = Host.inRoom()
    host.command(.send(.test, message))
    host.answer("/media/config", #"{"m.upload.size":999}"#)
    #expect(host.texts() == ["one", "cat.png uploading 0/1100"])
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    guard case .failed(.tooLarge(limitBytes: 999)) = host.items()[1].delivery else { return #expect(Bool(false), "no limit") }
    #expect(host.request("/upload") == nil)
    // Once the limit is known the command itself says so.
    host.command(.send(.test, message))
    #expect(host.result() == "tooLarge(limitBytes: 999)")
    #expect(host.restarted().client.outbox.entries.count == 1)
    guard case .failed(.tooLarge(limitBytes: 999))? = host.restarted().client.outbox.entries.first?.phase else {
      return #expect(Bool(false), "forgotten")
    }
  }

  @Test func `a server that refuses the size all the same is believed`() {
    var host = Host.inRoom()
    host.command(.send(.test, message))
    host.answer("/media/config", #"{"m.upload.size":5000}"#)
    host.answer("/upload", status: 413, #"{"errcode":"M_TOO_LARGE","error":""}"#)
    #expect(host.texts() == ["one", "cat.png failed"])
  }

  @Test func `a cancelled upload leaves no event`() {
    var host = Host.inRoom()
    host.command(.send(.test, message))
    host.command(.send(.test, .text("after")))
    host.answer("/media/config", "{}")
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    host.command(.cancel(.test, host.items()[1].id))
    #expect(host.request("/upload") == nil)
    #expect(host.releasedBlobs == [BlobHandle("small"), BlobHandle("cat")])
    #expect(host.body("/send/")?["body"]?.string == "after")
    #expect(host.texts() == ["one", "after sending"])
  }

  @Test func `a caption is changed while the file goes up`() {
    var host = Host.inRoom()
    host.command(.send(.test, message))
    host.answer("/media/config", "{}")
    host.command(.edit(.test, .item(host.items()[1].id), FormattedText("my cat")))
    host.answer("/upload", #"{"content_uri":"mxc://test/1"}"#)
    host.answer("/upload", #"{"content_uri":"mxc://test/2"}"#)
    #expect(host.body("/send/")?["body"]?.string == "my cat")
    #expect(host.body("/send/")?["filename"]?.string == "cat.png")
    #expect(host.client.outbox.entries.count == 1)
  }
}
