/// What one node alone may have in its memory. Where there are no other nodes, everything is here, and no row says so.
extension Database {
  /// Takes a thing for this node unless another has it.
  ///
  /// Throws `.unavailable` while this node cannot renew its lease, and what `write` throws.
  package nonisolated(nonsending) func hold(_ name: String) async throws -> Holder {
    guard let nodes else { return .here(fence: 0) }
    // A node that has just begun renews its lease for the first time as it connects.
    if !nodes.lease.isHeld { try await catchUp() }
    guard nodes.lease.isHeld else { throw DatabaseError.unavailable(message: "this node could not renew its lease") }
    let run = run
    return try await write { try Holdings.take(name, for: run, in: $0) }
  }

  /// The other node that has a thing; nil if this one has it, or none whose lease lasts.
  package nonisolated(nonsending) func otherHolder(of name: String) async throws -> NodeContact? {
    guard isNode else { return nil }
    let run = run
    return try await read { tx in
      guard let holder = try Holdings.holder(of: name, in: tx), holder != run else { return nil }
      return try NodeTable.contact(of: holder, in: tx)
    }
  }

  /// Gives a thing away, unless it was taken again since `fence`.
  package nonisolated(nonsending) func letGo(_ name: String, fence: Int64) async throws {
    guard isNode else { return }
    let run = run
    try await write { try Holdings.letGo(name, of: run, fence: fence, in: $0) }
  }

  /// Gives everything away that this node has.
  package nonisolated(nonsending) func letAllGo() async throws {
    guard isNode else { return }
    let run = run
    try await write { try Holdings.letAllGo(of: run, in: $0) }
  }

  /// Whether this node may still use what it holds: not if it could not renew its lease for four seconds. A second later others may take it.
  package var mayHold: Bool { nodes?.lease.isHeld ?? true }

  /// Where a run of another node is reached; nil if its lease has ended.
  package nonisolated(nonsending) func nodeContact(of run: Int64) async throws -> NodeContact? {
    guard isNode else { return nil }
    return try await read { try NodeTable.contact(of: run, in: $0) }
  }

  /// The runs of all nodes whose leases last.
  package nonisolated(nonsending) func liveRuns() async throws -> Set<Int64> {
    Set(try await read { try NodeTable.liveRuns(in: $0) })
  }
}
