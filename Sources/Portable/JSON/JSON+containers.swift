extension JSON {
  // All of them are calls, down to the comparison of keys: a client reads some hundred members.

  /// The member of an object, or nil. O(members).
  public subscript(key: StaticString) -> JSON? { @inline(never) get { member(key) } }

  /// The member of an object, or nil. O(members).
  @_disfavoredOverload
  public subscript(key: ByteString) -> JSON? {
    @inline(never) get { key.withBytes { member($0) } }
  }

  /// The text of a member that is a string, or nil.
  @inline(never)
  public func text(_ key: StaticString) -> ByteString? { member(key)?.text }

  /// The value of a member that is a whole number, or nil.
  @inline(never)
  public func integer(_ key: StaticString) -> Int64? { member(key)?.integer }

  /// The value of a member that is true or false, or nil.
  @inline(never)
  public func bool(_ key: StaticString) -> Bool? { member(key)?.bool }

  @inline(__always)
  private func member(_ key: StaticString) -> JSON? {
    member { nodes, source, node in
      if node.kind == .string {
        return node.end - node.start == key.utf8CodeUnitCount
          && equal(source + node.start, key.utf8Start, key.utf8CodeUnitCount)
      }
      return ByteString(decoding: JSONEscape.decode(.init(start: source + node.start, count: node.end - node.start))) == key
    }
  }

  @inline(__always)
  private func member(_ key: UnsafeBufferPointer<UInt8>) -> JSON? {
    member { nodes, source, node in
      if node.kind == .string {
        return node.end - node.start == key.count && equal(source + node.start, key.baseAddress, key.count)
      }
      let decoded = JSONEscape.decode(.init(start: source + node.start, count: node.end - node.start))
      return decoded.withUnsafeBufferPointer { compare($0, key) == 0 }
    }
  }

  @inline(__always)
  private func member(where matches: ([JSONNode], UnsafePointer<UInt8>, JSONNode) -> Bool) -> JSON? {
    let nodes = document.nodes
    guard nodes[index].kind == .object else { return nil }
    return document.source.withUnsafeBufferPointer { source in
      guard let base = source.baseAddress else { return nil }
      var i = index + 1
      let end = nodes[index].next
      while i < end {
        if matches(nodes, base, nodes[i]) { return JSON(document: document, index: i + 1) }
        i = nodes[i + 1].next
      }
      return nil
    }
  }

  /// The entries of an array in order; nothing for other kinds.
  public var elements: Elements {
    Elements(document: document, position: index + 1, end: node.kind == .array ? node.next : 0)
  }

  /// The members of an object in source order; nothing for other kinds.
  public var members: Members {
    Members(document: document, position: index + 1, end: node.kind == .object ? node.next : 0)
  }

  public struct Elements: Sequence, IteratorProtocol, Sendable {
    let document: JSONDocument
    var position: Int
    let end: Int

    public mutating func next() -> JSON? {
      guard position < end else { return nil }
      defer { position = document.nodes[position].next }
      return JSON(document: document, index: position)
    }
  }

  public struct Member: Sendable {
    let document: JSONDocument
    let index: Int

    /// The key, its escapes resolved.
    public var key: ByteString { keyValue.text ?? "" }
    public var value: JSON { JSON(document: document, index: index + 1) }

    public func isKey(_ key: StaticString) -> Bool { keyValue.isString(key) }

    private var keyValue: JSON { JSON(document: document, index: index) }
  }

  public struct Members: Sequence, IteratorProtocol, Sendable {
    let document: JSONDocument
    var position: Int
    let end: Int

    public mutating func next() -> Member? {
      guard position < end else { return nil }
      defer { position = document.nodes[position + 1].next }
      return Member(document: document, index: position)
    }
  }
}
