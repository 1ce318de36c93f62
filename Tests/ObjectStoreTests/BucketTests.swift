import OutboundTesting
import ServerCore
import Synchronization
import Telemetry
import Testing

@testable import ObjectStore

/// A bucket whose service says what a test wants; that a real one takes our requests is proved by Tests/EndToEnd/test_bucket.py.
@Suite struct BucketTests {
  private final class Turns: Sendable {
    let count = Atomic<Int>(0)
  }

  /// Runs `body` with a bucket whose service gives these answers one after the other, the last one again and again. The service notes the
  /// heads of requests.
  private func withBucket(
    _ answers: [String], metrics: Metrics = Metrics(), _ body: (Bucket, LoopbackServer) async throws -> Void
  ) async throws {
    let next = Turns()
    let server = LoopbackServer { server, connection in
      while true {
        let head = connection.read(until: "\r\n\r\n")
        if head.isEmpty { return }
        server.note(head)
        let answer = answers[min(next.count.wrappingAdd(1, ordering: .relaxed).oldValue, answers.count - 1)]
        guard !answer.isEmpty else { return }
        connection.write(answer)
      }
    }
    let configuration = BucketConfiguration(
      endpoint: "http://127.0.0.1:\(server.port)", region: "us-east-1", bucket: "photos", accessKey: "key",
      secretKey: Redacted("a-secret-nobody-sees"))
    let bucket = Bucket(configuration, metrics: metrics)
    do { try await body(bucket, server) } catch {
      await bucket.shutdown()
      server.close()
      throw error
    }
    await bucket.shutdown()
    server.close()
  }

  private static func answer(_ status: Int, _ body: String = "", headers: String = "") -> String {
    "HTTP/1.1 \(status) x\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static func error(_ status: Int, _ code: String, headers: String = "") -> String {
    answer(status, "<Error><Code>\(code)</Code></Error>", headers: headers)
  }

  @Test(arguments: [
    (403, "SignatureDoesNotMatch", BucketError.wrongKey), (403, "InvalidAccessKeyId", .wrongKey),
    (403, "AccessDenied", .denied), (404, "NoSuchBucket", .noBucket), (404, "NoSuchKey", .noObject),
    (403, "RequestTimeTooSkewed", .clock(bucket: "Mon, 30 Nov 2026 12:00:00 GMT")),
    (400, "InvalidRange", .refused(status: 400, code: "InvalidRange"))
  ])
  func `a refusal is told in words for the operator, and not asked for again`(
    _ status: Int, _ code: String, _ expected: BucketError
  ) async throws {
    let refusal = Self.error(status, code, headers: "Date: Mon, 30 Nov 2026 12:00:00 GMT\r\n")
    try await withBucket([refusal]) { bucket, server in
      let thrown = await #expect(throws: BucketError.self) { try await bucket.get("media/ab", 0..<10) }
      #expect(thrown == expected)
      #expect(server.notes.count == 1)
      #expect(!"\(expected)".contains("a-secret-nobody-sees"))
    }
  }

  @Test func `a request without an answer, or with one that asks to come again, is sent again`() async throws {
    let metrics = Metrics()
    try await withBucket(["", Self.error(503, "SlowDown"), Self.answer(206, "abc")], metrics: metrics) { bucket, server in
      let bytes = try await bucket.get("media/ab", 0..<3)
      #expect(bytes == Array("abc".utf8))
      #expect(server.notes.count == 3)
    }
    let text = String(decoding: metrics.exposition(), as: UTF8.self)
    #expect(text.contains(#"martlet_bucket_errors_total{operation="get",kind="unavailable"} 2"#), "\(text)")
    #expect(text.contains(#"martlet_bucket_seconds_count{operation="get"} 2"#), "\(text)")
  }

  @Test func `a service that keeps failing is not asked any more`() async throws {
    try await withBucket([Self.error(500, "InternalError")]) { bucket, server in
      for _ in 0..<Circuit.failuresLimit {
        await #expect(throws: BucketError.self) { try await bucket.check() }
      }
      #expect(server.notes.count == Circuit.failuresLimit)
      await #expect(throws: BucketError.self) { try await bucket.delete("media/ab") }
      #expect(server.notes.count == Circuit.failuresLimit)
    }
  }

  @Test func `an object shorter than it should be, or another part of it, is damaged`() async throws {
    for answer in [Self.answer(206, "ab"), Self.answer(200, "whole")] {
      try await withBucket([answer]) { bucket, _ in
        await #expect(throws: BucketError.damaged(key: "media/ab")) { try await bucket.get("media/ab", 1..<4) }
      }
    }
  }

  @Test func `what is not there has no size and no content`() async throws {
    try await withBucket([Self.answer(404, headers: ""), Self.error(404, "NoSuchKey"), Self.answer(204)]) { bucket, _ in
      for _ in 0..<2 {
        let found = try await bucket.get("media/ab", limit: 10)
        #expect(found == nil)
      }
      try await bucket.delete("media/ab")
    }
  }

  @Test func `a list goes on where its page ended, and leaves out keys of others`() async throws {
    func page(_ key: String, _ rest: String) -> String {
      Self.answer(200, "<ListBucketResult><Contents><Key>\(key)</Key><Size>5</Size></Contents>\(rest)</ListBucketResult>")
    }
    let pages = [
      page("media/a", "<IsTruncated>true</IsTruncated><NextContinuationToken>t/1</NextContinuationToken>"),
      page("media/b", "<IsTruncated>false</IsTruncated>")
    ]
    try await withBucket(pages) { bucket, server in
      var keys: [String] = []
      try await bucket.forEach("media/") { keys.append($0.key) }
      #expect(keys == ["media/a", "media/b"])
      #expect(
        server.notes.last?.hasPrefix("GET /photos?continuation-token=t%2F1&list-type=2&max-keys=1000&prefix=media%2F ") == true)
    }
  }

  @Test func `a bucket that nobody listens for is away`() async throws {
    let configuration = BucketConfiguration(
      endpoint: "http://127.0.0.1:1", region: "r", bucket: "b", accessKey: "a", secretKey: Redacted("s"))
    let bucket = Bucket(configuration, metrics: Metrics())
    await #expect(throws: BucketError.unavailable(reason: "nothing accepts connections there")) { try await bucket.check() }
    await bucket.shutdown()
  }
}
