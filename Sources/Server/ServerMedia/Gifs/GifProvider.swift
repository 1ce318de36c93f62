import JSON
import MatrixModel
import Outbound
import Telemetry

/// Where moving pictures come from. The operator chooses it; its API is that of GIPHY, version 1.
package struct GifConfiguration: Sendable {
  /// Without a slash at its end; `/search`, `/trending` and `/{id}` are below it.
  package let url: String
  package let key: Redacted<String>
  /// The least harmless pictures that are asked for: `g`, `pg`, `pg-13` or `r`.
  package let rating: String
  /// As people are told it.
  package let name: String

  package init(url: String, key: Redacted<String>, rating: String, name: String) {
    self.url = url
    self.key = key
    self.rating = rating
    self.name = name
  }
}

/// Asks the provider. Nothing of who wants to know goes along, and nothing that it answers is believed.
struct GifProvider: Sendable {
  /// Pictures of a page.
  static let pageLimit = 24
  /// How far back pages go: the provider's own limit.
  static let offsetLimit: Int64 = 4_999
  private static let answerBytesLimit = 1 << 20
  private static let timeout = Duration.seconds(10)

  let configuration: GifConfiguration
  let http: HTTPClient

  /// One answer for every failure.
  static let unavailable = MatrixError(
    status: 502, .unknown, "The GIFs could not be had from where they come from. Try again later.")

  /// - Parameters:
  ///   - words: none for those that are much sent now.
  ///   - offset: how many come before.
  ///   - language: two letters.
  func page(of words: String, from offset: Int64, language: String?) async throws -> (gifs: [Gif], next: Int64?) {
    var parameters = [("limit", "\(Self.pageLimit)"), ("offset", "\(offset)"), ("rating", configuration.rating)]
    if !words.isEmpty { parameters.append(("q", words)) }
    if let language { parameters.append(("lang", language)) }
    let answer = try await get(words.isEmpty ? "/trending" : "/search", parameters)
    guard let answer, let data = answer["data"], data.isArray else { throw Self.unavailable }
    let (next, overflows) = offset.addingReportingOverflow(Int64(data.count))
    let total = answer["pagination"]?["total_count"]?.integer ?? (data.count < Self.pageLimit ? 0 : .max)
    let hasMore = data.count > 0 && !overflows && next < total && next <= Self.offsetLimit
    return (data.elements.prefix(Self.pageLimit).compactMap { Gif($0) }, hasMore ? next : nil)
  }

  /// The most harmless first.
  private static let ratings = ["g", "pg", "pg-13", "r"]

  /// Returns nil if no GIF has this ID.
  func gif(_ id: ByteString) async throws -> Gif? {
    // For an unknown ID the provider answers with another status, or without an object.
    guard let data = try await get("/" + id.string, [])?["data"], let gif = Gif(data), gif.id == id else { return nil }
    // A search finds only what is harmless enough; of an ID anybody may have heard.
    if let own = Self.ratings.firstIndex(of: data["rating"]?.string ?? ""),
      own > Self.ratings.firstIndex(of: configuration.rating) ?? .max
    {
      return nil
    }
    return gif
  }

  /// nil for 404.
  private func get(_ path: String, _ parameters: [(name: String, value: String)]) async throws -> JSON? {
    let query = ([("api_key", configuration.key.reveal())] + parameters).map { parameter in
      parameter.0 + "=" + PercentEncoding.encode(ByteString(parameter.1))
    }
    // A redirect would take the key elsewhere.
    let request = OutgoingRequest(
      url: configuration.url + path + "?" + query.joined(separator: "&"),
      headers: [("Accept", "application/json"), ("User-Agent", "Martlet")], timeout: Self.timeout,
      responseBytesLimit: Self.answerBytesLimit, destinations: .any)
    let response: IncomingResponse
    do throws(OutboundError) { response = try await http.send(request) } catch {
      if error == .cancelled { throw CancellationError() }
      throw Self.unavailable
    }
    if response.status == 404 { return nil }
    guard response.status == 200, !response.isTruncated, let json = try? JSON.parse(response.body), json.isObject else {
      throw Self.unavailable
    }
    return json
  }
}

/// A moving picture as its provider describes it.
struct Gif: Sendable {
  struct Rendition: Sendable {
    let url: String
    /// Pixels, where it says.
    let width: Int64?
    let height: Int64?
  }

  static let idBytesLimit = 64
  private static let titleBytesLimit = 120
  private static let edgeLimit: Int64 = 10_000

  let id: ByteString
  let title: String
  private let images: JSON

  /// nil for what has no ID that could stand in a path, or no pictures.
  init?(_ json: JSON) {
    guard let id = json["id"]?.text, Self.isID(id), let images = json["images"], images.isObject else { return nil }
    self.id = id
    self.images = images
    let title = PageSummary.cut(PageSummary.oneLine(json["title"]?.string ?? ""), Self.titleBytesLimit)
    self.title = title.isEmpty ? "GIF" : title
  }

  static func isID(_ id: ByteString) -> Bool {
    (1...idBytesLimit).contains(id.count)
      && id.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
          || byte == UInt8(ascii: "_")
      }
  }

  /// For a grid: the first that is small enough.
  func preview(bytesLimit: Int) -> Rendition? {
    rendition(["fixed_width_small", "fixed_height_small", "preview_gif", "fixed_width_downsampled", "fixed_width"], bytesLimit)
  }

  /// To be sent: the best that is small enough.
  func full(bytesLimit: Int) -> Rendition? {
    rendition(["original", "downsized_large", "downsized_medium", "downsized", "fixed_height", "fixed_width"], bytesLimit)
  }

  /// What does not say how large it is may be small enough.
  private func rendition(_ names: [StaticString], _ bytesLimit: Int) -> Rendition? {
    for name in names {
      guard let image = images[name], let url = image["url"]?.string, !url.isEmpty else { continue }
      if let bytes = Self.number(image["size"]), bytes > bytesLimit { continue }
      return Rendition(url: url, width: Self.edge(image["width"]), height: Self.edge(image["height"]))
    }
    return nil
  }

  private static func edge(_ json: JSON?) -> Int64? { number(json).flatMap { (1...edgeLimit).contains($0) ? $0 : nil } }

  /// The provider writes numbers as texts.
  private static func number(_ json: JSON?) -> Int64? { json?.integer ?? json?.string.flatMap { Int64($0) } }
}
