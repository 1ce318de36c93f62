import Synchronization

/// Thumbnails that were found to be the image itself: the program is not asked a second time. Lost with the process.
final class UnneededThumbnails: Sendable {
  /// Names kept; beyond it all are forgotten.
  private static let limit = 50_000

  private let names = Mutex<Set<String>>([])

  func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }

  func insert(_ name: String) {
    names.withLock { names in
      if names.count >= Self.limit { names = [] }
      names.insert(name)
    }
  }
}
