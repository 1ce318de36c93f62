/// Letters without case and accents, as FTS5's `unicode61 remove_diacritics 2` has them.
enum WordFolding {
  static func folded(_ word: String) -> String {
    if word.utf8.allSatisfy({ $0 < 0x80 }) { return word.lowercased() }
    var folded = String.UnicodeScalarView()
    for scalar in word.unicodeScalars where !isAccent(scalar) { folded.append(fold(scalar)) }
    return String(folded)
  }

  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool { (0x300...0x36F).contains(scalar.value) }

  private static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    // İ becomes i and a mark.
    let letter = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    return bases[letter] ?? letter
  }

  private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for line in letters.split(separator: "\n") {
      let scalars = line.unicodeScalars
      guard let base = scalars.first else { continue }
      for letter in scalars.dropFirst(2) { bases[letter] = base }
    }
    return bases
  }()

  /// Each line: a letter, and those that are it with accents, or another form of it. Other scripts keep their accents.
  private static let letters = """
    a àáâãäåāăąǎǟǻȁȃȧḁạảấầẩẫậắằẳẵặ
    b ḃḅḇ
    c çćĉċčḉ
    d ďḋḍḏḑḓ
    e èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ
    f ḟ
    g ĝğġģǧǵḡ
    h ĥȟḣḥḧḩḫẖ
    i ìíîïĩīĭįǐȉȋḭḯỉị
    j ĵǰ
    k ķǩḱḳḵ
    l ĺļľḷḹḻḽ
    m ḿṁṃ
    n ñńņňǹṅṇṉṋ
    o òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ
    p ṕṗ
    r ŕŗřȑȓṙṛṝṟ
    s śŝşšſșṡṣṥṧṩẛ
    t ţťțṫṭṯṱẗ
    u ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
    v ṽṿ
    w ŵẁẃẅẇẉẘ
    x ẋẍ
    y ýÿŷȳẏẙỳỵỷỹ
    z źżžẑẓẕ
    β ϐ
    ε ϵ
    θ ϑ
    ι \u{1FBE}
    κ ϰ
    μ µ
    π ϖ
    ρ ϱ
    σ ς
    φ ϕ
    """
}
