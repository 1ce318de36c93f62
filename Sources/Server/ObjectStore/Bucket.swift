import Outbound
import ServerCore
import Synchronization
import Telemetry

/// A bucket of an S3-compatible service: objects by key, which are written as a whole and never changed.
///
/// A request that fails is tried again, and nothing is asked for a while of a service that keeps failing (`Circuit`). All functions throw
/// `BucketError`, and `CancellationError` in a cancelled task.
package final class Bucket: Sendable {
  package struct Object: Sendable {
    package let key: String
    package let bytes: Int64
  }

  /// Objects of a list, in the order of their keys' bytes.
  package struct Page: Sendable {
    package let objects: [Object]
    /// What the next page begins with; nil at the end.
    package let next: String?
  }

  /// What an object is made of.
  package enum Content: Sendable {
    case bytes([UInt8])
    /// The whole of a file of so many bytes, which stays as it is meanwhile.
    case file(path: String, bytes: Int64)

    var count: Int64 {
      switch self {
      case .bytes(let bytes): Int64(bytes.count)
      case .file(_, let bytes): bytes
      }
    }
  }

  /// Content with more bytes is sent in parts of so many, `partsAtOnce` of them at a time.
  package static let partBytes: Int64 = 16 << 20
  static let partsAtOnce = 4
  /// Bytes of an answer that says what is wrong, and of one that is not an object.
  private static let errorBytesLimit = 64 << 10
  static let answerBytesLimit = 8 << 20

  package let configuration: BucketConfiguration
  let http: HTTPClient
  let clock: WallClock
  let circuit = Mutex(Circuit())
  let metrics: BucketMetrics

  package init(_ configuration: BucketConfiguration, clock: WallClock = .system, metrics: Metrics = .process) {
    self.configuration = configuration
    self.clock = clock
    self.metrics = BucketMetrics(metrics)
    var outbound = OutboundConfiguration()
    outbound.connectTimeout = .seconds(5)
    outbound.connectionsLimit = 32
    outbound.connectionsPerHostLimit = 32
    outbound.certificatesFile = configuration.certificatesFile
    http = HTTPClient(outbound, log: Log("bucket"))
  }

  /// SHA-256 in hexadecimal, as `put` takes it.
  package static func hash(of bytes: [UInt8]) -> String { RequestSignature.sha256(bytes) }

  package func shutdown() async { await http.shutdown() }

  /// Asks once whether the bucket is there and the key good for it.
  package func check() async throws {
    _ = try await send(BucketRequest("GET", of: .list, nil, query: Self.listQuery("", nil, 1), tries: 1))
  }

  /// Writes an object, in place of one that is there.
  ///
  /// - Parameter hash: SHA-256 of the content in hexadecimal, which the service compares; nil if it is not known.
  package func put(_ content: Content, as key: String, hash: String?, contentType: String = "application/octet-stream")
    async throws
  {
    guard content.count <= Self.partBytes else { return try await putParts(of: content, as: key, contentType) }
    var request = BucketRequest("PUT", of: .put, key)
    request.headers = [("content-type", contentType)]
    request.body = content
    request.range = 0..<content.count
    request.payload = hash
    _ = try await send(request)
  }

  /// A part of an object.
  ///
  /// - Parameter range: bytes that the object has, one at least.
  package func get(_ key: String, _ range: Range<Int64>) async throws -> [UInt8] {
    var request = BucketRequest("GET", of: .get, key)
    request.headers = [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
    request.answerBytesLimit = max(range.count, Self.errorBytesLimit)
    request.expectedBytes = range.count
    let answer = try await send(request)
    // A service that knows no ranges answers with the whole, which is right if that is what was asked for.
    guard answer.status == 206 || range.lowerBound == 0, answer.body.count == range.count, !answer.isTruncated else {
      throw BucketError.damaged(key: key)
    }
    return answer.body
  }

  /// A whole object with the content type that it was written with; nil if there is none.
  ///
  /// - Parameter limit: bytes it has at most.
  package func get(_ key: String, limit: Int) async throws -> (bytes: [UInt8], contentType: String)? {
    var request = BucketRequest("GET", of: .get, key)
    request.answerBytesLimit = max(limit, Self.errorBytesLimit)
    do {
      let answer = try await send(request)
      guard !answer.isTruncated, answer.body.count <= limit else { throw BucketError.damaged(key: key) }
      return (answer.body, answer.header("content-type") ?? "")
    } catch BucketError.noObject {
      return nil
    }
  }

  /// The bytes of an object; nil if there is none.
  package func size(of key: String) async throws -> Int64? {
    do {
      let answer = try await send(BucketRequest("HEAD", of: .head, key))
      guard let size = answer.header("content-length").flatMap({ Int64($0) }) else { throw BucketError.damaged(key: key) }
      return size
    } catch BucketError.noObject {
      return nil
    }
  }

  /// Removes an object; one that is not there is no error.
  package func delete(_ key: String) async throws {
    do { _ = try await send(BucketRequest("DELETE", of: .delete, key)) } catch BucketError.noObject {}
  }

  /// Objects whose keys begin with `prefix`, at most 1,000.
  ///
  /// - Parameter next: of the page before; nil for the first.
  package func list(_ prefix: String, from next: String? = nil) async throws -> Page {
    let answer = try await send(
      BucketRequest("GET", of: .list, nil, query: Self.listQuery(configuration.prefix + prefix, next, 1_000)))
    guard let xml = BucketXML(answer.body), xml.root == "ListBucketResult" else {
      throw BucketError.refused(status: answer.status, code: "without a list")
    }
    let objects = xml.elements.filter { $0.name == "Contents" }.compactMap { element -> Object? in
      guard let key = element.children["Key"], key.hasPrefix(configuration.prefix),
        let bytes = element.children["Size"].flatMap({ Int64($0) })
      else { return nil }
      return Object(key: String(key.dropFirst(configuration.prefix.count)), bytes: bytes)
    }
    let hasMore = xml.text("IsTruncated") == "true"
    return Page(objects: objects, next: hasMore ? xml.text("NextContinuationToken") : nil)
  }

  /// All objects whose keys begin with `prefix`, page by page.
  package func forEach(_ prefix: String, _ body: (Object) async throws -> Void) async throws {
    var next: String?
    repeat {
      let page = try await list(prefix, from: next)
      for object in page.objects { try await body(object) }
      next = page.next
    } while next != nil
  }

  private static func listQuery(_ prefix: String, _ next: String?, _ limit: Int) -> [(name: String, value: String)] {
    [("list-type", "2"), ("max-keys", "\(limit)"), ("prefix", prefix)] + (next.map { [("continuation-token", $0)] } ?? [])
  }
}
