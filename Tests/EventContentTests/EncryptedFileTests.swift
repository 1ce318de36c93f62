import JSON
import MatrixModel
import Testing

@testable import EventContent

@Suite struct EncryptedFileTests {
  private static let file =
    #"{"v":"v2","url":"mxc://one.example/a","key":{"kty":"oct","key_ops":["encrypt","decrypt"],"alg":"A256CTR","#
    + #""k":"aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0","ext":true},"iv":"w+sE15fzSc0AAAAAAAAAAA","#
    + #""hashes":{"sha256":"fdSLu/YkRx3Wyh3KQabP3rd6+SFiKg5lsJZQHtkSAYA"}}"#

  private func read(_ text: String) -> EncryptedFile? { EncryptedFile(try? JSON.parse(Array(text.utf8))) }

  private func changed(_ old: String, _ new: String) -> EncryptedFile? {
    #expect(Self.file.contains(old))
    return read(Self.file.replacing(old, with: new))
  }

  @Test func `the example of the specification is read, and written as it is`() throws {
    let file = try #require(read(Self.file))
    #expect(file.source.string == "mxc://one.example/a" && file.keys.counter == "w+sE15fzSc0AAAAAAAAAAA")
    #expect(file.keys.key == "aWF6-32KGYaC3A_FEUCk1Bt0JA37zP0wrStgmdCaW-0")
    #expect(file.keys.digest == "fdSLu/YkRx3Wyh3KQabP3rd6+SFiKg5lsJZQHtkSAYA")
    var writer = JSONWriter()
    file.write(to: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == Self.file)
    #expect("\(file) \(file.keys)" == "mxc://one.example/a FileKeys", "no key in a log")
  }

  @Test func `padding is read, and what WebCrypto wants is not demanded`() {
    let plain = read(Self.file)
    #expect(changed("AAAAAAAAAAA\"", "AAAAAAAAAAA==\"") == plain && changed("SAYA\"", "SAYA=\"") == plain)
    #expect(changed(#","ext":true"#, "") == plain && changed(#""key_ops":["encrypt","decrypt"],"#, "") == plain)
  }

  @Test(arguments: [
    (#""v2""#, #""v1""#), (#""v":"v2","#, ""), ("mxc:", "https:"), (#""oct""#, #""RSA""#), (#""A256CTR""#, #""A128CTR""#),
    ("AAAAAAAAAAA\"", "AAAAAAAAAA\""), ("AAAAAAAAAAA\"", "AAAAAAAAAAAA\""), ("AAAAAAAAAAA\"", "AAAAAAAAAAA=\""),
    ("W-0\"", "W-\""),
    ("W-0\"", "W-00\""), ("W-0\"", "W-0==\""), ("SAYA\"", "SAY\""), (#""sha256""#, #""md5""#), (#""k":"#, #""l":"#),
    (#""iv":""#, #""iv":7,"x":""#)
  ])
  func `another version, algorithm or length is no file`(old: String, new: String) { #expect(changed(old, new) == nil) }

  @Test(arguments: ["7", "[]", "{}", "null", #"{"v":"v2"}"#])
  func `what is no object of that shape is no file`(text: String) { #expect(read(text) == nil) }

  // MARK: Messages

  private func attachment(_ content: String) throws -> EventContent.Attachment {
    try #require(try MessageContent(JSON.parse(Array(content.utf8)), type: .message).attachment)
  }

  @Test func `a message has its file and thumbnail encrypted, and never the clear ones beside them`() throws {
    let info =
      #""info":{"mimetype":"image/png","thumbnail_file":\#(Self.file.replacing("/a", with: "/b")),"thumbnail_url":"mxc://x/t"}"#
    let picture = try attachment(
      #"{"msgtype":"m.image","body":"cat.png","url":"mxc://x/c","file":\#(Self.file),\#(info)}"#)
    #expect(picture.encrypted == read(Self.file) && picture.encryptedThumbnail?.source.string == "mxc://one.example/b")
    #expect(picture.source == nil && picture.thumbnail == nil)
    let damaged = try attachment(#"{"msgtype":"m.image","body":"cat.png","url":"mxc://x/c","file":{"v":"v9"}}"#)
    #expect(damaged.encrypted == nil && damaged.source == nil)
    let plain = try attachment(#"{"msgtype":"m.image","body":"cat.png","url":"mxc://x/c"}"#)
    #expect(plain.encrypted == nil && plain.source?.string == "mxc://x/c")
  }

  @Test func `an edit of the caption keeps the file and its thumbnail`() throws {
    let info = #""info":{"size":7,"thumbnail_file":\#(Self.file.replacing("/a", with: "/b"))}"#
    let before = try MessageContent(
      JSON.parse(Array(#"{"msgtype":"m.image","body":"cat.png","file":\#(Self.file),\#(info)}"#.utf8)), type: .message)
    let edited = before.content(with: FormattedText("a cat"), own: UserID(trusted: "@me:test"))
    let after = try attachment(String(decoding: edited, as: UTF8.self))
    #expect(after.encrypted == before.attachment?.encrypted && after.encrypted != nil && after.source == nil)
    #expect(after.encryptedThumbnail == before.attachment?.encryptedThumbnail && after.encryptedThumbnail != nil)
  }

  @Test func `only types that run no script are shown`() {
    for shown in ["image/png", "IMAGE/JPEG", "video/mp4; codecs=avc1", "audio/ogg"] {
      #expect(ShownMediaType.of(ByteString(shown)) != ShownMediaType.other, "\(shown)")
    }
    #expect(ShownMediaType.of("Video/MP4; codecs=avc1") == "video/mp4")
    for hidden in ["image/svg+xml", "text/html", "application/xhtml+xml", "text/plain", "image/pngx", "", "application/pdf"] {
      #expect(ShownMediaType.of(ByteString(hidden)) == ShownMediaType.other, "\(hidden)")
    }
    #expect(ShownMediaType.of(nil) == ShownMediaType.other)
  }
}
