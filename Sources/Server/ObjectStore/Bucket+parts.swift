// An object that is sent in parts. Source: Amazon S3 User Guide, "Multipart upload".
extension Bucket {
  /// The most parts of one object.
  private static let partsLimit: Int64 = 10_000

  func putParts(of content: Content, as key: String, _ contentType: String) async throws {
    let upload = try await beginParts(key, contentType)
    do {
      let tags = try await sendParts(of: content, as: key, upload)
      try await complete(key, upload, tags)
    } catch {
      // Also for a client that is gone, whose task is cancelled: parts that nobody completes are paid for.
      let abort = BucketRequest("DELETE", of: .delete, key, query: [("uploadId", upload)])
      _ = try? await Task { [self] in try await send(abort) }.value
      throw error
    }
  }

  private func beginParts(_ key: String, _ contentType: String) async throws -> String {
    var begin = BucketRequest("POST", of: .put, key, query: [("uploads", "")])
    begin.headers = [("content-type", contentType)]
    let answer = try await send(begin)
    guard let upload = BucketXML(answer.body)?.text("UploadId"), !upload.isEmpty else {
      throw BucketError.refused(status: answer.status, code: "without an UploadId")
    }
    return upload
  }

  /// Returns the parts' entity tags in their order.
  private func sendParts(of content: Content, as key: String, _ upload: String) async throws -> [String] {
    let partBytes = max(Self.partBytes, (content.count + Self.partsLimit - 1) / Self.partsLimit)
    let ranges = stride(from: 0, to: content.count, by: Int(partBytes)).map { $0..<min($0 + partBytes, content.count) }
    var tags = [String](repeating: "", count: ranges.count)
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for (index, range) in ranges.enumerated() {
        if index >= Self.partsAtOnce, let (sent, tag) = try await group.next() { tags[sent] = tag }
        group.addTask { [self] in (index, try await sendPart(content, range, as: key, upload, number: index + 1)) }
      }
      for try await (sent, tag) in group { tags[sent] = tag }
    }
    return tags
  }

  private func sendPart(
    _ content: Content, _ range: Range<Int64>, as key: String, _ upload: String, number: Int
  ) async throws -> String {
    var part = BucketRequest("PUT", of: .put, key, query: [("partNumber", "\(number)"), ("uploadId", upload)])
    part.body = content
    part.range = range
    let answer = try await send(part)
    guard let tag = answer.header("etag"), tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"<>&".utf8.contains($0) })
    else {
      throw BucketError.refused(status: answer.status, code: "without an ETag")
    }
    return tag
  }

  private func complete(_ key: String, _ upload: String, _ tags: [String]) async throws {
    var complete = BucketRequest("POST", of: .put, key, query: [("uploadId", upload)])
    let parts = tags.enumerated().map { "<Part><PartNumber>\($0 + 1)</PartNumber><ETag>\($1)</ETag></Part>" }
    let body = Array(
      #"<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\#(parts.joined())</CompleteMultipartUpload>"#
        .utf8)
    complete.body = .bytes(body)
    complete.range = 0..<Int64(body.count)
    complete.payload = RequestSignature.sha256(body)
    // The service may say that it begins, with 200, before it knows how it ends.
    let answer = try await send(complete)
    guard BucketXML(answer.body)?.root == "CompleteMultipartUploadResult" else {
      throw BucketError.unavailable(reason: "it did not put the parts of an object together")
    }
  }
}
