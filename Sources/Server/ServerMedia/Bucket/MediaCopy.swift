import EventLoop
import ObjectStore

/// Copies content between the media folder of a data folder and a bucket, while a server uses one of them or while none does.
///
/// What is there already is not copied again, so a copy that was stopped goes on where it was. Nothing is removed at the source.
package struct MediaCopy: Sendable {
  package struct Progress: Sendable {
    /// Content that was looked at, and what of it was copied.
    package var files = 0
    package var copiedFiles = 0
    package var copiedBytes: Int64 = 0
    /// Hashes of content that is another than its name says. It was not copied.
    package var damaged: [String] = []
    /// How much of all was looked at, from 0 to `parts`.
    package var part = 0
    package static let parts = 16
  }

  fileprivate enum Outcome: Sendable {
    case copied(bytes: Int64)
    case damaged(hash: String)
    /// It was deleted meanwhile.
    case gone
  }

  /// Copies at once.
  private static let places = 4

  private let bucket: Bucket
  private let folder: MediaFolder
  private let files: BlockingPool

  package init(_ bucket: Bucket, dataDirectory: String) throws {
    self.bucket = bucket
    folder = try MediaFolder(besideServer: dataDirectory + "/media")
    files = try BlockingPool(threads: Self.places, name: "media")
  }

  package func shutdown() async {
    await files.shutdown()
    await bucket.shutdown()
  }

  /// Throws `BucketError`, `MediaFileError`.
  package func toBucket(_ tell: (Progress) -> Void) async throws -> Progress {
    try await parts(tell) { there, here in
      here.filter { there[$0.key] != $0.value }
    } copy: { hash, _ in
      let path = folder.path(of: hash)
      guard let found = try await files.run({ try ContentDigest.ofFile(path) }) else { return .gone }
      guard found.hash == hash else { return .damaged(hash: hash) }
      try await bucket.put(.file(path: path, bytes: found.bytes), as: BucketStore.key(hash), hash: hash)
      return .copied(bytes: found.bytes)
    }
  }

  /// Throws `BucketError`, `MediaFileError`.
  package func toFolder(_ tell: (Progress) -> Void) async throws -> Progress {
    try await parts(tell) { there, here in
      there.filter { here[$0.key] != $0.value }
    } copy: { hash, bytes in
      do {
        let fetch = try await files.run { [folder, files] in try ObjectFetch(hash, bytes: bytes, into: folder, files: files) }
        await fetch.run(from: bucket, BucketStore.key(hash))
        try await fetch.wait()
        return .copied(bytes: bytes)
      } catch BucketError.damaged {
        return .damaged(hash: hash)
      } catch BucketError.noObject {
        return .gone
      }
    }
  }

  /// Goes through all content by the first digit of its hash. `choose` says what of the bucket's and the folder's content, each with its
  /// bytes, is to be copied.
  private func parts(
    _ tell: (Progress) -> Void, choose: (_ there: [String: Int64], _ here: [String: Int64]) -> [String: Int64],
    copy: @escaping @Sendable (String, Int64) async throws -> Outcome
  ) async throws -> Progress {
    var progress = Progress()
    for digit in BucketStore.digits {
      let there = try await bucket.content(ofHashesBeginningWith: digit)
      let here = try await files.run { [folder] in folder.content(ofHashesBeginningWith: digit) }
      let chosen = choose(there, here).sorted { $0.key < $1.key }
      progress.files += Set(there.keys).union(here.keys).count
      try await withThrowingTaskGroup(of: Outcome.self) { group in
        for (index, (hash, bytes)) in chosen.enumerated() {
          if index >= Self.places, let outcome = try await group.next() { progress.count(outcome) }
          group.addTask { try await copy(hash, bytes) }
        }
        for try await outcome in group { progress.count(outcome) }
      }
      progress.part += 1
      tell(progress)
    }
    return progress
  }
}

extension MediaCopy.Progress {
  fileprivate mutating func count(_ outcome: MediaCopy.Outcome) {
    switch outcome {
    case .copied(let bytes):
      copiedFiles += 1
      copiedBytes += bytes
    case .damaged(let hash): damaged.append(hash)
    case .gone: break
    }
  }
}

extension BucketStore {
  /// The parts in which all content is looked at: by the first digit of its hash, so that few requests do and each part fits into memory.
  static let digits = (0..<16).map { String($0, radix: 16) }
}

extension Bucket {
  /// The bytes of all content whose hash begins with a digit, by hash.
  func content(ofHashesBeginningWith digit: String) async throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    try await forEach("media/\(digit)") { object in
      let name = object.key.split(separator: "/").last.map(String.init) ?? ""
      if BucketStore.key(name) == object.key, MediaFolder.isHash(name) { found[name] = object.bytes }
    }
    return found
  }
}

extension MediaFolder {
  /// The same of a folder. Blocks.
  fileprivate func content(ofHashesBeginningWith digit: String) -> [String: Int64] {
    let first = (UInt8(digit, radix: 16) ?? 0) << 4
    let hashes = (first...(first | 15)).flatMap { byte in
      files(ofHashesBeginningWith: byte).filter { $0.value.contains($0.key) }.keys
    }
    return Dictionary(uniqueKeysWithValues: hashes.compactMap { hash in bytes(of: hash).map { (hash, $0) } })
  }
}
