/// The short name of a room in our own tables and caches.
package struct RoomNumber: Hashable, Sendable {
  package let value: Int64

  package init(_ value: Int64) { self.value = value }
}
