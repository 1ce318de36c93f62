extension LinkScanner {
  /// The end of a number such as `+49 30 1234-567` that begins at `start`: 8 to 15 digits. Source: ITU-T E.164.
  static func phoneEnd(_ bytes: Bytes, _ start: Int) -> Int? {
    guard start == 0 || !isWord(bytes[start - 1]) else { return nil }
    let number = run(bytes, start + 1)
    return (8...15).contains(number.digits) && (number.end == bytes.count || !isWord(bytes[number.end])) ? number.end : nil
  }

  /// The end of a number as it is dialled within a country, where it cannot be anything else: `(030) 123 45 67` with the 0 that leads out of a
  /// town and 9 to 14 digits, or `555-210-9999` with a North American area. Source: ITU-T E.123.
  static func localPhoneEnd(_ bytes: Bytes, _ start: Int) -> Int? {
    guard start == 0 || mayComeBeforeTerm(bytes, start) else { return nil }
    let first = bytes[start] == 0x28 ? start + 1 : start
    if first < bytes.count, bytes[first] == 0x30 {
      let number = run(bytes, start)
      let code = first + bytes[first...].prefix { $0 >= 0x30 && $0 <= 0x39 }.count
      // What is around the number is no part of it.
      guard first == start || bytes.at(code) == 0x29 else { return nil }
      guard (9...14).contains(number.digits), number.isParted, endsTerm(bytes, number.end) else { return nil }
      return number.end
    }
    guard let area = group(bytes, first, 3), var separator = bytes.at(area) else { return nil }
    var next = area + 1
    if first > start {
      guard separator == 0x29 else { return nil }
      if bytes.at(next) == 0x20 { next += 1 }
      separator = 0x2D
    }
    guard separator == 0x2D || separator == 0x2E, let exchange = group(bytes, next, 3), bytes.at(exchange) == separator,
      let end = digitsEnd(bytes, exchange + 1, 4), endsTerm(bytes, end)
    else { return nil }
    return end
  }

  static func phone(_ bytes: Bytes, _ range: Range<Int>) -> Found {
    var dialled: [UInt8] = []
    for byte in bytes[range] where byte >= 0x30 && byte <= 0x39 || byte == 0x2B { dialled.append(byte) }
    return Found(range: range, url: "tel:" + String(decoding: dialled, as: UTF8.self))
  }

  /// Digits with single separators between them.
  private static func run(_ bytes: Bytes, _ start: Int) -> (digits: Int, end: Int, isParted: Bool) {
    var (digits, end, isParted) = (0, start, false)
    for position in start..<bytes.count {
      switch bytes[position] {
      case 0x30...0x39:
        isParted = isParted || digits > 0 && end < position
        digits += 1
        end = position + 1
        if digits > 15 { return (digits, end, isParted) }
      case 0x20, 0x28, 0x29, 0x2D, 0x2E, 0x2F:
        // Two of the same in a row end it.
        if end < position, bytes[position] == bytes[position - 1] { return (digits, end, isParted) }
      default: return (digits, end, isParted)
      }
    }
    return (digits, end, isParted)
  }

  /// The end of that many digits, the first of them neither 0 nor 1.
  private static func group(_ bytes: Bytes, _ start: Int, _ count: Int) -> Int? {
    guard let first = bytes.at(start), first >= 0x32 else { return nil }
    return digitsEnd(bytes, start, count)
  }

  private static func digitsEnd(_ bytes: Bytes, _ start: Int, _ count: Int) -> Int? {
    number(bytes, start, count).map { _ in start + count }
  }
}
