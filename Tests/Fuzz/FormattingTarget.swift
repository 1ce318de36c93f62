import ClientCore
import JSON
import MatrixModel

/// Any bytes as HTML and as Markdown: what is made safe once stays as it is, and links are read as they were written.
func fuzzFormatting(_ bytes: UnsafeRawBufferPointer) {
  let text = ByteString(decoding: bytes)
  let safe = HTML.sanitize(text, for: .sending)
  // Beyond 256 KiB the sanitizer cuts.
  if safe.count < 250_000, HTML.sanitize(safe, for: .sending) != safe { fatalError("safe HTML was changed") }
  _ = HTML.plainText(text)
  let shown = HTML.sanitize(text)
  for forbidden in ["<script", "javascript:\"", " onerror=\"", " style=\""] {
    if shown.string.lowercased().contains(forbidden), !HTML.escape(text).string.lowercased().contains(forbidden) {
      fatalError("\(forbidden) came through")
    }
  }
  let written = FormattedText.markdown(text)
  if let html = written.html, html.count < 250_000, HTML.sanitize(html, for: .sending) != html {
    fatalError("Markdown made HTML that is not safe")
  }
  guard let link = Permalink(text) else { return }
  guard Permalink(link.matrixURI) == link, Permalink(link.matrixTo)?.target == link.target else {
    fatalError("the link came back as another")
  }
}
