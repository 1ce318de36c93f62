/// Finds the name that somebody probably meant who wrote another one.
enum NearestName {
  /// Longer names are not compared: the time grows with the product of the lengths.
  private static let bytesLimit = 64

  /// Returns the name among `known` that is nearest to `name`; nil if none is near. A name is near if a third of its bytes or fewer differ. It is
  /// also near if it is the only one with the same last part (`level` means `log.level`), or with all the words (`public_url` means
  /// `public_base_url`).
  static func of(_ name: String, among known: [String]) -> String? {
    guard name.utf8.count <= bytesLimit else { return nil }
    let plain = normal(name)
    let alike = known.filter { lastPart(normal($0)) == lastPart(plain) }
    if alike.count == 1 { return alike[0] }
    let words = plain.split(separator: UInt8(ascii: "_"))
    let containing = known.filter { known in
      let parts = normal(known).split(separator: UInt8(ascii: "_"))
      return words.allSatisfy(parts.contains)
    }
    if containing.count == 1 { return containing[0] }
    let measured = known.map { (name: $0, distance: distance(plain, normal($0))) }
    guard let nearest = measured.min(by: { $0.distance < $1.distance }), nearest.distance * 3 <= plain.count else { return nil }
    return nearest.name
  }

  /// `serverName`, `server-name` and `SERVER_NAME` are one.
  private static func normal(_ name: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var wasSmall = false
    for byte in name.utf8 {
      let isCapital = (0x41...0x5A).contains(byte)
      if isCapital, wasSmall { bytes.append(UInt8(ascii: "_")) }
      wasSmall = (0x61...0x7A).contains(byte)
      bytes.append(isCapital ? byte | 0x20 : byte == UInt8(ascii: "-") ? UInt8(ascii: "_") : byte)
    }
    return bytes
  }

  private static func lastPart(_ name: [UInt8]) -> ArraySlice<UInt8> {
    name.lastIndex(of: UInt8(ascii: ".")).map { name[($0 + 1)...] } ?? name[...]
  }

  /// The number of bytes to insert, remove, replace or swap with their neighbour.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...b.count)
    for i in a.indices {
      var next = [i + 1]
      for j in b.indices {
        var best = min(row[j] + (a[i] == b[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
        next.append(best)
      }
      (before, row) = (row, next)
    }
    return row[b.count]
  }
}
