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

  private struct Cache {
    var filters: [Key: SyncFilter] = [:]
    /// Bytes of their JSON.
    var bytes = 0
  }

  /// Filters kept in RAM, and bytes of their JSON, of which each takes up to ten when ready for use; beyond either all are
  /// read again.
  private static let cacheLimit = 10_000
  private static let cacheBytesLimit = 4 << 20
  /// Bytes of a filter in the query that is worth keeping.
  private static let keptBytesLimit = 4_096

  private let cache = Mutex(Cache())
  private let stored: StoredFilters

  package init(stored: StoredFilters) {
    self.stored = stored
  }

  /// The filter of a `filter` parameter: JSON where it begins with a brace, else the ID of a stored one.
  ///
  /// Throws `M_INVALID_PARAM` where it is neither, `M_BAD_JSON` where a property is of another kind than the spec says.
  package nonisolated(nonsending) func filter(_ text: ByteString?, of user: UserID) async throws -> SyncFilter {
    guard let text, !text.isEmpty else { return SyncFilter.open }
    let isInline = text.hasPrefix("{")
    let key = Key(user: isInline ? nil : user, text: text)
    if let known = cache.withLock({ $0.filters[key] }) { return known }
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
        if cache.filters.count >= Self.cacheLimit || cache.bytes + bytes.count > Self.cacheBytesLimit { cache = Cache() }
        if cache.filters.updateValue(filter, forKey: key) == nil { cache.bytes += bytes.count }
      }
    }
    return filter
  }
}
