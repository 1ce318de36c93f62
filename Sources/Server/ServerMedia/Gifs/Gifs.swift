import JSON
import MatrixModel
import Outbound
import ServerCore
import Synchronization

/// Moving pictures to look for and to send. Ours: capability `martlet.gifs`.
///
/// The server asks the provider, which learns neither who looks for something nor from where. The pictures of a page become media of
/// nobody, as those of link previews are, and go with them; what is taken to be sent is an upload of who takes it.
package final class Gifs: Sendable {
  /// One page of what was found.
  package struct Page: Sendable {
    package struct Entry: Sendable {
      package let id: ByteString
      package let title: String
      package let preview: MediaURI
      /// Pixels of the preview, where they are known.
      package let width: Int64?
      package let height: Int64?
    }

    package let entries: [Entry]
    /// For `from` of the next page; nil at the end.
    package let next: Int64?
  }

  /// A picture as an upload of who took it.
  package struct Taken: Sendable {
    package let uri: MediaURI
    package let contentType: ByteString
    package let bytes: Int
    package let width: Int64?
    package let height: Int64?
  }

  /// Bytes of what is looked for.
  static let wordsBytesLimit = 100
  /// Bytes of a picture of a page, of which one request holds `GifProvider.pageLimit` at once.
  static let previewBytesLimit = 512 << 10
  /// Milliseconds that a page is answered again.
  static let lifeMilliseconds: Int64 = 60 * 60_000
  /// Pages that are remembered.
  static let pagesLimit = 500
  /// What is asked for and not answered yet of one user.
  static let userLimit = 4
  private static let types: [ByteString] = ["image/gif", "image/webp"]

  private let provider: GifProvider
  private let previews: URLPreviews
  private let media: MediaRepository
  private let clock: WallClock
  private let pages = Mutex<[String: (page: Page, expires: Int64)]>([:])
  private let locks = KeyedLock()
  private let underWay = FairQueue(places: 10_000, ownerPlaces: userLimit, ownerLimit: 0, limit: 0)
  private let queue = FairQueue(places: 4, ownerPlaces: 2, ownerLimit: userLimit, limit: 200)

  package init(
    _ configuration: GifConfiguration, http: HTTPClient, previews: URLPreviews, media: MediaRepository, clock: WallClock
  ) {
    provider = GifProvider(configuration: configuration, http: http)
    self.previews = previews
    self.media = media
    self.clock = clock
  }

  // MARK: Looking

  /// - Parameters:
  ///   - words: empty for what is much sent now.
  ///   - offset: `Page.next` of the page before, 0 for the first.
  ///   - language: as browsers name it: `en`, `en-GB`.
  /// Throws `M_INVALID_PARAM`, `M_LIMIT_EXCEEDED`, `M_UNKNOWN` (502) where the provider has no answer.
  package func search(_ words: ByteString, from offset: Int64, language: ByteString?, for user: UserID) async throws -> Page {
    guard words.count <= Self.wordsBytesLimit else {
      throw MatrixError.invalidParameter("'q' has at most \(Self.wordsBytesLimit) bytes.")
    }
    guard (0...GifProvider.offsetLimit).contains(offset) else {
      throw MatrixError.invalidParameter("'from' is at most \(GifProvider.offsetLimit).")
    }
    let words = PageSummary.oneLine(words.string).lowercased()
    let language = language.flatMap { Self.twoLetters($0) }
    let key = "\(language ?? "") \(offset) \(words)"
    if let known = remembered(key) { return known }
    return try await underWay.run(for: user.string) {
      try await locks.withLock(key) {
        // Who had the lock before may have asked.
        if let known = remembered(key) { return known }
        return try await queue.run(for: user.string) {
          let page = try await ask(for: words, from: offset, language)
          remember(page, key)
          try await previews.sweep()
          return page
        }
      }
    }
  }

  private static func twoLetters(_ language: ByteString) -> String? {
    let letters = language.utf8.prefix { (0x61...0x7A).contains($0 | 0x20) }
    return letters.count == 2 ? String(decoding: letters.map { $0 | 0x20 }, as: UTF8.self) : nil
  }

  private func ask(for words: String, from offset: Int64, _ language: String?) async throws -> Page {
    let found = try await provider.page(of: words, from: offset, language: language)
    let entries = try await withThrowingTaskGroup(of: (Int, Page.Entry?).self) { group in
      for (index, gif) in found.gifs.enumerated() { group.addTask { [self] in (index, try await entry(gif)) } }
      var entries = [Page.Entry?](repeating: nil, count: found.gifs.count)
      for try await (index, entry) in group { entries[index] = entry }
      return entries.compactMap { $0 }
    }
    guard !entries.isEmpty || found.gifs.isEmpty else { throw GifProvider.unavailable }
    return Page(entries: entries, next: found.next)
  }

  /// nil for one whose picture cannot be had.
  private func entry(_ gif: Gif) async throws -> Page.Entry? {
    guard let preview = gif.preview(bytesLimit: Self.previewBytesLimit),
      let picture = await picture(preview, bytesLimit: Self.previewBytesLimit)
    else { return nil }
    let uri = try await media.keep(picture.bytes, contentType: picture.contentType)
    return Page.Entry(id: gif.id, title: gif.title, preview: uri, width: preview.width, height: preview.height)
  }

  /// Where it is says the provider: only public addresses are asked.
  private func picture(_ rendition: Gif.Rendition, bytesLimit: Int) async -> (bytes: [UInt8], contentType: ByteString)? {
    guard let picture = await previews.fetcher.picture(at: rendition.url, on: rendition.url, bytesLimit: bytesLimit),
      Self.types.contains(picture.contentType)
    else { return nil }
    return picture
  }

  private func remembered(_ key: String) -> Page? {
    let now = clock.now()
    return pages.withLock { pages in
      guard let known = pages[key], known.expires > now else { return nil }
      return known.page
    }
  }

  private func remember(_ page: Page, _ key: String) {
    let now = clock.now()
    pages.withLock { pages in
      if pages.count >= Self.pagesLimit { pages = pages.filter { $0.value.expires > now } }
      if pages.count >= Self.pagesLimit, let oldest = pages.min(by: { $0.value.expires < $1.value.expires }) {
        pages[oldest.key] = nil
      }
      pages[key] = (page, now + Self.lifeMilliseconds)
    }
  }

  // MARK: Taking

  /// Makes the picture an upload of the user.
  ///
  /// Throws `M_NOT_FOUND`, `M_LIMIT_EXCEEDED`, `M_UNKNOWN` (502), and what `MediaRepository.upload` throws.
  package func take(_ id: ByteString, for user: UserID) async throws -> Taken {
    guard Gif.isID(id) else { throw MatrixError.invalidParameter("'id' is not one that a search has answered.") }
    return try await underWay.run(for: user.string) {
      try await queue.run(for: user.string) {
        guard let gif = try await provider.gif(id) else { throw MatrixError.notFound("There is no such GIF.") }
        let limit = min(PageFetcher.pictureBytesLimit, Int(clamping: media.uploadBytesLimit))
        guard let rendition = gif.full(bytesLimit: limit), let picture = await picture(rendition, bytesLimit: limit) else {
          throw GifProvider.unavailable
        }
        return try await keep(picture.bytes, picture.contentType, gif.title, rendition, for: user)
      }
    }
  }

  private func keep(
    _ bytes: [UInt8], _ contentType: ByteString, _ title: String, _ rendition: Gif.Rendition, for user: UserID
  ) async throws -> Taken {
    let isGif = contentType == Self.types[0]
    let upload = try MediaUpload(
      contentType: contentType, fileName: ByteString(title + (isGif ? ".gif" : ".webp")), announcedBytes: Int64(bytes.count))
    var pieces = [bytes][...]
    let uri = try await media.upload(upload, by: user) { pieces.popFirst() }
    var (width, height) = (rendition.width, rendition.height)
    // GIF89a §18: the logical screen, which beats what somebody says of it.
    if isGif, bytes.count >= 10 {
      let screen = (Int64(bytes[6]) | Int64(bytes[7]) << 8, Int64(bytes[8]) | Int64(bytes[9]) << 8)
      if screen.0 > 0, screen.1 > 0 { (width, height) = screen }
    }
    return Taken(uri: uri, contentType: contentType, bytes: bytes.count, width: width, height: height)
  }
}
