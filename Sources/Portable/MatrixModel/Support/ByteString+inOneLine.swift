import JSON

extension ByteString {
  /// As it can stand among the words of others, who do not know what is in it: without controls and what turns around the text behind it, with a
  /// space for what breaks the line. Source: UTR #36.
  @inline(never)
  package var inOneLine: ByteString {
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
    var kept = String.UnicodeScalarView()
    for scalar in string.unicodeScalars {
      if scalar.breaksLine { kept.append(" ") } else if !scalar.isControl { kept.append(scalar) }
    }
    return ByteString(String(kept))
  }
}

extension Unicode.Scalar {
  package var breaksLine: Bool {
    (0x9...0xD).contains(value) || value == 0x85 || value == 0x2028 || value == 0x2029
  }

  /// Of the old kind (C0, C1, line and paragraph), or of the direction of what stands behind it.
  package var isControl: Bool {
    value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029 || isEmbedding
  }

  /// Embeddings, overrides and isolates.
  package var isEmbedding: Bool { (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value) }
}
