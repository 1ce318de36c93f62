import JSON
import ServerMedia

/// Pages of strangers, as they are read before a preview is answered.
///
/// The first byte chooses the encoding that a server claims; the rest is a page and, in its last line, an address.
func fuzzPreview(_ bytes: UnsafeRawBufferPointer) {
  let bytes = [UInt8](bytes)
  let charsets: [String?] = [nil, "utf-8", "iso-8859-1", "utf-16", "shift_jis", "iso-2022-jp"]
  let charset = bytes.first.flatMap { charsets[Int($0) % charsets.count] }
  let body = Array(bytes.dropFirst())
  if let page = HTMLPage(body, charset: charset) {
    let summary = PageSummary(page)
    for property in summary.properties {
      precondition(property.value.utf8.count <= PageSummary.valueBytesLimit, "a value is longer than it may be")
    }
    if let image = summary.image { _ = HTMLPage.resolve(image, at: "https://example.org/a/b?c") }
  }
  _ = PreviewPicture.contentType(of: body)
  let line = body.suffix(256).split(separator: UInt8(ascii: "\n")).last ?? []
  _ = MediaType(String(decoding: line, as: UTF8.self))
  if let url = try? PreviewURL(ByteString(decoding: line)) {
    _ = url.isDenied(by: ["*://*.example.org/*", "*a*b*c"])
    precondition(url.text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an address has bytes that no URL has")
  }
}
