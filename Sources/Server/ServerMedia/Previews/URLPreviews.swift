import Database
import EventLoop
import JSON
import MatrixModel
import Outbound
import ServerCore

/// What the pages that messages name are about. Spec: Client-Server API, `GET /_matrix/client/v1/media/preview_url`.
///
/// A page is fetched once an hour at most, however many ask; its picture becomes media of nobody, which goes after a week.
package final class URLPreviews: Sendable {
  /// Milliseconds that what was found is answered again.
  static let lifeMilliseconds: Int64 = 60 * 60_000
  /// The same for a page that could not be read.
  static let failureMilliseconds: Int64 = 5 * 60_000
  /// Milliseconds that a picture is kept.
  static let pictureMilliseconds: Int64 = 7 * 24 * 60 * 60_000
  /// Bytes of all pictures; beyond it the oldest go sooner.
  static let picturesBytesLimit: Int64 = 2 << 30
  /// Rows and pictures that one preview sweeps: more than it adds.
  private static let sweepLimit = 20

  private let isEnabled: Bool
  let fetcher: PageFetcher
  private let database: Database
  private let media: MediaRepository
  private let moderation: MediaModeration
  private let clock: WallClock
  private let locks = KeyedLock()
  /// What is asked for and not answered yet of one user, also where another has asked for the same page.
  static let userLimit = 20
  /// Fetches at once, and those of one user: each may hold a page and a picture in memory.
  static let places = 8
  static let userPlaces = 4
  private let underWay = FairQueue(places: 10_000, ownerPlaces: userLimit, ownerLimit: 0, limit: 0)
  private let queue = FairQueue(places: places, ownerPlaces: userPlaces, ownerLimit: 16, limit: 500)

  package init(
    _ configuration: MediaConfiguration, database: Database, http: HTTPClient, media: MediaRepository,
    moderation: MediaModeration, clock: WallClock
  ) throws {
    isEnabled = configuration.previewsPages
    let pool = try BlockingPool(threads: 1, name: "preview")
    fetcher = PageFetcher(http: http, pool: pool, deniedURLs: configuration.deniedPreviewURLs)
    self.database = database
    self.media = media
    self.moderation = moderation
    self.clock = clock
  }

  package func shutdown() async { await fetcher.pool.shutdown() }

  /// Returns the OpenGraph data of a page as JSON; an empty object if it says nothing or could not be read.
  ///
  /// - Parameter time: milliseconds since 1970 from which the preview may be; a newer one will do as well.
  /// Throws `M_INVALID_PARAM`, `M_FORBIDDEN` for addresses that the operator has denied, `M_LIMIT_EXCEEDED`,
  /// `M_UNRECOGNIZED` (404) where the server makes no previews.
  package func preview(of url: ByteString, from time: Int64?, for user: UserID) async throws -> [UInt8] {
    guard isEnabled else { throw MatrixError(status: 404, .unrecognized, "This server makes no previews.") }
    let page = try PreviewURL(url)
    guard !page.isDenied(by: fetcher.deniedURLs) else {
      throw MatrixError.forbidden("This server makes no previews of this address.")
    }
    if let known = try await stored(page, from: time) { return known }
    return try await underWay.run(for: user.string) {
      try await locks.withLock(page.text) {
        // Who had the lock before may have fetched it.
        if let known = try await stored(page, from: time) { return known }
        return try await queue.run(for: user.string) { try await fetch(page, for: user) }
      }
    }
  }

  /// Of a page that could not be read.
  private static let nothing = Array("{}".utf8)

  private func fetch(_ page: PreviewURL, for user: UserID) async throws -> [UInt8] {
    let json: [UInt8]
    do {
      json = try await answer(fetcher.content(of: page), for: user)
    } catch let error as MatrixError {
      guard error.status == PageFetcher.unreadable.status else { throw error }
      // The link in the message is as good without a preview: to the client this is no error.
      try await store(nil, of: page)
      return Self.nothing
    }
    try await store(json, of: page)
    return json
  }

  private func answer(_ content: PageFetcher.Content, for user: UserID) async throws -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    switch content {
    case .page(let summary, let url):
      for property in summary.properties {
        writer.key(ByteString(property.name))
        writer.write(property.value)
      }
      if let reference = summary.image, let picture = await fetcher.picture(at: reference, on: url) {
        try await write(picture.bytes, picture.contentType, for: user, to: &writer)
      }
    case .picture(let bytes, let contentType): try await write(bytes, contentType, for: user, to: &writer)
    case .other: break
    }
    writer.endObject()
    return writer.bytes
  }

  private func write(
    _ picture: [UInt8], _ contentType: ByteString, for user: UserID, to writer: inout JSONWriter
  ) async throws {
    let uri = try await media.keep(picture, contentType: contentType)
    let item = try await media.item(uri.serverName.text, uri.mediaID, for: .user(user))
    writer.member("og:image", uri)
    writer.member("og:image:type", contentType)
    if let header = try await media.header(of: item, for: user.string) {
      writer.member("og:image:width", header.width)
      writer.member("og:image:height", header.height)
    }
    writer.member("matrix:image:size", picture.count)
  }

  // MARK: Remembering

  /// What is remembered of a page; nil where it has to be fetched.
  private func stored(_ page: PreviewURL, from time: Int64?) async throws -> [UInt8]? {
    let now = clock.now()
    let url = page.text
    return try await database.read { tx in
      try tx.first("SELECT expires, fetched, json FROM url_preview WHERE url = $1", url) { row in
        let isNewEnough = row.integer(0) > now || time.map { row.integer(1) >= $0 } ?? false
        guard isNewEnough else { return nil }
        return row.optionalBlob(2) ?? Self.nothing
      } ?? nil
    }
  }

  private func store(_ json: [UInt8]?, of page: PreviewURL) async throws {
    let now = clock.now()
    let expires = now + (json == nil ? Self.failureMilliseconds : Self.lifeMilliseconds)
    let url = page.text
    try await database.write { tx in
      try tx.execute(
        """
        INSERT INTO url_preview(url, fetched, expires, json) VALUES($1, $2, $3, $4)
        ON CONFLICT(url) DO UPDATE SET fetched = excluded.fetched, expires = excluded.expires, json = excluded.json
        """, url, now, expires, json)
    }
    _ = try await sweepOnce()
  }

  /// Forgets what has expired, and deletes pictures that are too old or too many.
  package func sweep() async throws {
    while try await sweepOnce() {}
  }

  /// Some of it; the answer is whether there may be more.
  private func sweepOnce() async throws -> Bool {
    let now = clock.now()
    let forgotten = now - Self.pictureMilliseconds
    let swept = try await database.write { tx in
      // What names a picture goes before it.
      let pages = try tx.changes(
        """
        DELETE FROM url_preview WHERE url IN
          (SELECT url FROM url_preview WHERE expires <= $1 ORDER BY expires LIMIT $2)
        """, now, Self.sweepLimit)
      let bytes = try tx.first("SELECT bytes FROM media_usage WHERE user_id = ''") { $0.integer(0) } ?? 0
      let pictures = try tx.all(
        "SELECT media_id FROM media WHERE user_id = '' AND created < $1 ORDER BY created, media_id LIMIT $2",
        bytes > Self.picturesBytesLimit ? now : forgotten, Self.sweepLimit
      ) { ByteString($0.text(0)) }
      return (pages: pages, pictures: pictures)
    }
    for picture in swept.pictures {
      do {
        try await moderation.delete(picture)
      } catch let error as MatrixError where error.code == .notFound {}
    }
    return swept.pages == Self.sweepLimit || swept.pictures.count == Self.sweepLimit
  }
}
