import ObjectStore

/// Content that the bucket has, and this disk perhaps.
package struct RemoteContent: Sendable {
  let hash: String
  package let bytes: Int64
  let store: BucketStore

  /// Whether a file of so many bytes on this disk is the content; notes that it is used. Blocks.
  package func isCached(at path: String, fileBytes: Int64?) -> Bool {
    let isThere = fileBytes == bytes && store.cache.use(path)
    store.counters.count(isHit: isThere)
    return isThere
  }

  /// A range of the content, once its first bytes are there; all of the content comes to this disk meanwhile. A range far behind what has
  /// come is asked for by itself.
  ///
  /// Throws `BucketError` and `CancellationError`.
  package func open(_ range: Range<Int64>) async throws -> RemoteRange {
    guard !range.isEmpty else { return RemoteRange(content: self, range: range, source: .nothing) }
    let fetched = store.fetches.current(hash)?.fetched ?? 0
    if range.lowerBound <= fetched + ObjectFetch.pieceBytes {
      do {
        let fetch = try await store.fetches.fetch(hash, bytes: bytes)
        _ = try await fetch.fetched(beyond: range.lowerBound)
        return RemoteRange(content: self, range: range, source: .fetch(fetch))
      } catch let error as MediaFileError where error.isForWantOfSpace {
        // A full disk keeps nothing from being read.
      }
    }
    return RemoteRange(content: self, range: range, source: .bucket(first: try await piece(range)))
  }

  /// What one request brings of a range.
  fileprivate func piece(_ range: Range<Int64>) async throws -> [UInt8] {
    let end = min(range.upperBound, range.lowerBound + ObjectFetch.pieceBytes)
    return try await store.bucket.get(BucketStore.key(hash), range.lowerBound..<end)
  }
}

/// A range of content in the bucket, of which the first bytes are there.
package struct RemoteRange: Sendable {
  fileprivate enum Source: Sendable {
    case nothing
    case fetch(ObjectFetch)
    case bucket(first: [UInt8])
  }

  fileprivate let content: RemoteContent
  fileprivate let range: Range<Int64>
  fileprivate let source: Source

  /// Gives the bytes to `write`, piece by piece, as they come.
  ///
  /// Throws `BucketError`, what `write` throws, and `CancellationError`. A failure may follow pieces that were given.
  package func send(_ write: ([UInt8]) async throws -> Void) async throws {
    switch source {
    case .nothing: return
    case .fetch(let fetch): try await fetch.read(range, write)
    case .bucket(let first):
      try await write(first)
      var offset = range.lowerBound + Int64(first.count)
      while offset < range.upperBound {
        let piece = try await content.piece(offset..<range.upperBound)
        try await write(piece)
        offset += Int64(piece.count)
      }
    }
  }
}
