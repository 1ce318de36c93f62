import EventLoop
import JSON
import MatrixModel
import Outbound

/// Fetches pages that users name, and their pictures, from public addresses only.
struct PageFetcher: Sendable {
  /// Bytes of a picture.
  static let pictureBytesLimit = 10 << 20
  static let timeout = Duration.seconds(10)
  static let redirectLimit = 5

  let http: HTTPClient
  /// Of one thread: pages are read one at a time.
  let pool: BlockingPool
  let deniedURLs: [String]

  /// What an address stands for.
  enum Content: Sendable {
    case page(PageSummary, url: String)
    case picture([UInt8], ByteString)
    /// Something that says nothing of itself.
    case other
  }

  /// One error for every failure: who asks learns nothing about the server's own network. Clients get an empty preview instead.
  static let unreadable = MatrixError(status: 502, .unknown, "The page could not be read.")

  /// Throws `unreadable`, `M_FORBIDDEN` for addresses that the operator has denied.
  func content(of url: PreviewURL) async throws -> Content {
    let response = try await fetch(
      url.text, accepting: "text/html,application/xhtml+xml;q=0.9,image/*;q=0.8", HTMLPage.bytesLimit)
    let type = MediaType(response.header("content-type") ?? "")
    if let picture = PreviewPicture.contentType(of: response.body) {
      return response.isTruncated ? .other : .picture(response.body, picture)
    }
    guard type.essence == "text/html" || type.essence == "application/xhtml+xml" else { return .other }
    let summary = try await pool.run { HTMLPage(response.body, charset: type.charset).map { PageSummary($0) } }
    return summary.map { .page($0, url: response.url) } ?? .other
  }

  /// Fetches a picture that a page names. Returns nil if it cannot be fetched or is not a picture.
  func picture(
    at reference: String, on page: String, bytesLimit: Int = Self.pictureBytesLimit
  ) async -> (bytes: [UInt8], contentType: ByteString)? {
    guard let resolved = HTMLPage.resolve(reference, at: page), let url = try? PreviewURL(ByteString(resolved)),
      let response = try? await fetch(url.text, accepting: "image/*", bytesLimit), !response.isTruncated,
      let contentType = PreviewPicture.contentType(of: response.body)
    else { return nil }
    return (response.body, contentType)
  }

  private func fetch(_ url: String, accepting types: String, _ bytesLimit: Int) async throws -> IncomingResponse {
    try check(url)
    let request = OutgoingRequest(
      url: url,
      headers: [("Accept", types), ("Accept-Language", "*"), ("User-Agent", "Mozilla/5.0 (compatible; Martlet; link preview)")],
      timeout: Self.timeout, responseBytesLimit: bytesLimit, redirectLimit: Self.redirectLimit,
      destinations: .publicAddresses)
    let response: IncomingResponse
    do throws(OutboundError) { response = try await http.send(request) } catch {
      if error == .cancelled { throw CancellationError() }
      throw Self.unreadable
    }
    // A redirect may lead to what is denied.
    try check(response.url)
    guard (200..<300).contains(response.status) else { throw Self.unreadable }
    return response
  }

  private func check(_ url: String) throws {
    guard try !PreviewURL(ByteString(url)).isDenied(by: deniedURLs) else {
      throw MatrixError.forbidden("This server makes no previews of this address.")
    }
  }
}

/// The parts of a `Content-Type` header. RFC 9110 §8.3.
package struct MediaType {
  /// Type and subtype in lower case.
  let essence: String
  let charset: String?

  package init(_ header: String) {
    let parts = header.split(separator: ";", omittingEmptySubsequences: false).map { PageSummary.oneLine(String($0)) }
    essence = parts.first?.lowercased() ?? ""
    charset = parts.dropFirst().first { $0.lowercased().hasPrefix("charset=") }.map { part in
      String(part.dropFirst("charset=".count)).filter { $0 != "\"" && $0 != "'" }
    }
  }
}
