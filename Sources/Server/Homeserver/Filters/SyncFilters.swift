import JSON
import MatrixModel
import Synchronization

/// The filters that syncs name or bring along, ready for use and nearly always in memory.
package final class SyncFilters: Sendable {
  private struct Key: Hashable {
    /// nil for a filter in the query, which means the same to everyone.
    let user: UserID?
    let text: ByteString
  }

  /// Filters kept in RAM; beyond it all are read again.
  private static let cacheLimit = 10_000
  /// Bytes of a filter in the query that is worth keeping.
  private static let keptBytesLimit = 4_096

  private let cache = Mutex<[Key: SyncFilter]>([:])
  private let stored: StoredFilters

  init(stored: StoredFilters) {
    self.stored = stored
  }

  /// The filter where it is in memory: no wait.
  package func cached(_ text: ByteString?, of user: UserID) -> SyncFilter? {
    guard let text, !text.isEmpty else { return .open }
    let key = Self.key(text, user)
    return cache.withLock { $0[key] }
  }

  /// The filter of a `filter` parameter: JSON where it begins with a brace, else the ID of a stored one.
  ///
  /// Throws `M_INVALID_PARAM` where it is neither, `M_BAD_JSON` where a property is of another kind than the spec says.
  package nonisolated(nonsending) func filter(_ text: ByteString?, of user: UserID) async throws -> SyncFilter {
    guard let text, !text.isEmpty else { return .open }
    let key = Self.key(text, user)
    if let known = cache.withLock({ $0[key] }) { return known }
    let isInline = key.user == nil
    let bytes: [UInt8]
    if isInline {
      bytes = Array(text.utf8)
    } else {
      do {
        bytes = try await stored.filter(text, of: user)
      } catch let error as MatrixError where error.status == 404 {
        throw MatrixError.invalidParameter("There is no filter of this ID.")
      }
    }
    guard let json = try? JSON.parse(bytes) else { throw MatrixError.invalidParameter("'filter' is not JSON.") }
    let filter = try SyncFilter(json)
    if bytes.count <= Self.keptBytesLimit {
      cache.withLock { cache in
        if cache.count >= Self.cacheLimit { cache.removeAll(keepingCapacity: true) }
        cache[key] = filter
      }
    }
    return filter
  }

  private static func key(_ text: ByteString, _ user: UserID) -> Key {
    Key(user: text.hasPrefix("{") ? nil : user, text: text)
  }
}
