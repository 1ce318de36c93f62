import CSSL

/// HMAC-SHA1 with a key set once: the states after the padded key are kept and copied. RFC 2104 §4.
struct HMACSHA1 {
  static let tagBytes = 20

  /// The 20 bytes of a tag.
  struct Tag {
    private var bytes = InlineArray<20, UInt8>(repeating: 0)

    /// Whether the tag begins with these bytes, in a time that does not depend on where they differ.
    func matches(_ other: UnsafeRawBufferPointer) -> Bool {
      guard !other.isEmpty, other.count <= HMACSHA1.tagBytes else { return false }
      return withUnsafeBytes(of: bytes) { CRYPTO_memcmp($0.baseAddress!, other.baseAddress!, other.count) == 0 }
    }

    func append(to array: inout [UInt8]) { withUnsafeBytes(of: bytes) { array.append(contentsOf: $0) } }

    /// Copies the first bytes, as many as the target has.
    func copy(to target: UnsafeMutableRawBufferPointer) {
      withUnsafeBytes(of: bytes) { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[0..<target.count])) }
    }

    fileprivate mutating func withBytes(_ body: (UnsafeMutablePointer<UInt8>) -> Void) {
      withUnsafeMutableBytes(of: &bytes) { body($0.baseAddress!.assumingMemoryBound(to: UInt8.self)) }
    }
  }

  /// A tag in the making.
  struct State {
    fileprivate var sha: SHA_CTX

    mutating func add(_ bytes: UnsafeRawBufferPointer) { SHA1_Update(&sha, bytes.baseAddress, bytes.count) }
  }

  private let inner: SHA_CTX
  private let outer: SHA_CTX

  init(key: [UInt8]) {
    var block = [UInt8](repeating: 0, count: 64)
    if key.count <= block.count {
      block.replaceSubrange(0..<key.count, with: key)
    } else {
      var digest = [UInt8](repeating: 0, count: Self.tagBytes)
      SHA1(key, key.count, &digest)
      block.replaceSubrange(0..<digest.count, with: digest)
    }
    inner = Self.state(block, xor: 0x36)
    outer = Self.state(block, xor: 0x5C)
    block.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }

  private static func state(_ block: [UInt8], xor mask: UInt8) -> SHA_CTX {
    var state = SHA_CTX()
    SHA1_Init(&state)
    SHA1_Update(&state, block.map { $0 ^ mask }, block.count)
    return state
  }

  @inline(__always) func begin() -> State { State(sha: inner) }

  @inline(__always) func finish(_ state: inout State) -> Tag {
    var tag = Tag()
    var last = outer
    tag.withBytes { bytes in
      SHA1_Final(bytes, &state.sha)
      SHA1_Update(&last, bytes, Self.tagBytes)
      SHA1_Final(bytes, &last)
    }
    return tag
  }
}
