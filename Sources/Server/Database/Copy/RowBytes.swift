import CCrypto

/// Rows as PostgreSQL's COPY has them in binary form: the number of columns in two bytes; for each its length in four, -1 for NULL, and its
/// bytes; numbers in network byte order. It is the form in which rows of both engines are compared.
struct RowBytes {
  private(set) var bytes: [UInt8] = []

  mutating func begin(columns: Int) {
    bytes.removeAll(keepingCapacity: true)
    append(Int16(columns))
  }

  mutating func appendNull() { append(Int32(-1)) }

  mutating func append(value: Int64) {
    append(Int32(8))
    append(value)
  }

  mutating func append(value: UnsafeRawBufferPointer) {
    append(Int32(clamping: value.count))
    bytes.append(contentsOf: value)
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// `Array.withUnsafeBytes` for a closure that throws errors of one type.
  static func with<Failure: Error>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    let outcome = bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }
    try outcome.get()
  }

  /// Calls `body` with the bytes of each column, nil for NULL. False if the row is not one of so many columns.
  static func forEachColumn(
    of row: UnsafeRawBufferPointer, count: Int, _ body: (Int, UnsafeRawBufferPointer?) throws -> Void
  ) rethrows -> Bool {
    guard row.count >= 2, Int(Int16(bigEndian: row.loadUnaligned(as: Int16.self))) == count else { return false }
    var offset = 2
    for column in 0..<count {
      guard row.count - offset >= 4 else { return false }
      let length = Int(Int32(bigEndian: row.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
      offset += 4
      guard length >= 0 else {
        try body(column, nil)
        continue
      }
      guard row.count - offset >= length else { return false }
      try body(column, UnsafeRawBufferPointer(rebasing: row[offset..<offset + length]))
      offset += length
    }
    return offset == row.count
  }
}

/// How many rows a table has, and the SHA-256 of them all in order.
struct TableSum: Equatable, Sendable {
  var rows = 0
  var hash: [UInt8] = []
}

/// Adds up a `TableSum`.
struct TableSummer: ~Copyable {
  private let context = EVP_MD_CTX_new()
  private var rows = 0

  init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

  deinit { EVP_MD_CTX_free(context) }

  mutating func add(_ row: UnsafeRawBufferPointer) {
    rows += 1
    EVP_DigestUpdate(context, row.baseAddress, row.count)
  }

  mutating func sum() -> TableSum {
    var hash = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &hash, nil)
    return TableSum(rows: rows, hash: hash)
  }
}
