import JSON

/// A pattern in which `*` stands for any bytes, also none.
package enum StarPattern {
  package static func matches(_ text: ByteString, _ pattern: ByteString) -> Bool {
    text.withBytes { text in
      pattern.withBytes { pattern in
        // Greedy with one point of return: linear for each star.
        var t = 0
        var p = 0
        var starAt = -1
        var starText = 0
        while t < text.count {
          if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
            starAt = p
            starText = t
            p += 1
          } else if p < pattern.count, pattern[p] == text[t] {
            t += 1
            p += 1
          } else if starAt >= 0 {
            starText += 1
            t = starText
            p = starAt + 1
          } else {
            return false
          }
        }
        return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
      }
    }
  }
}
