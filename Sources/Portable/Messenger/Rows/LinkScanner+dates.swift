/// Dates with a year of this or the neighbouring centuries, as people write them: `2026-11-27`, `2026/11/27`, `27.11.2026`, `2026年11月27日`,
/// `27 November 2026`, `Nov 27, 2026`, `27 de noviembre de 2026`; the time of day may follow. Of `3/4/2026` nobody knows which day it is.
extension LinkScanner {
  private struct Day {
    var year: Int
    var month: Int
    var day: Int
    var end: Int

    /// Nil where the calendar has no such day.
    init?(_ year: Int, _ month: Int, _ day: Int, end: Int) {
      guard (1900...2199).contains(year), day > 0 else { return nil }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let days =
        switch month {
        case 4, 6, 9, 11: 30
        case 2: isLeap ? 29 : 28
        case 1...12: 31
        default: 0
        }
      guard day <= days else { return nil }
      (self.year, self.month, self.day, self.end) = (year, month, day, end)
    }
  }

  /// The date whose first digit is at `position`; the name of its month may stand before it.
  static func date(_ bytes: Bytes, _ position: Int, from start: Int) -> Found? {
    guard let first = upTo(bytes, position, 4) else { return nil }
    // Japanese has no spaces between words.
    let isJapanese = first.digits == 4 && skipping("年", bytes, first.end) != nil
    guard position == 0 || mayComeBeforeTerm(bytes, position) || isJapanese && bytes[position - 1] >= 0x80 else { return nil }
    var begin = position
    var found = first.digits == 4 ? yearFirst(bytes, first) : first.digits < 3 ? dayFirst(bytes, first) : nil
    if found == nil, first.digits < 3, let (month, name) = monthBefore(bytes, position, from: start) {
      found = year(bytes, behindDay(bytes, first.end)).flatMap { Day($0.value, month, first.value, end: $0.end) }
      begin = name
    }
    guard let day = found else { return nil }
    let end = timeEnd(bytes, day.end) ?? day.end
    guard end > day.end || endsTerm(bytes, end) else { return nil }
    var url = Array("date:\(day.year)-".utf8)
    url += padded(day.month) + [0x2D] + padded(day.day)
    if end > day.end { url += [0x54] + bytes[(day.end + 1)..<end] }
    return Found(range: begin..<end, url: String(decoding: url, as: UTF8.self))
  }

  private static func padded(_ number: Int) -> [UInt8] { [0x30 + UInt8(number / 10), 0x30 + UInt8(number % 10)] }

  private static func yearFirst(_ bytes: Bytes, _ year: Number) -> Day? {
    switch bytes.at(year.end) {
    case 0x2D:
      // Source: RFC 3339.
      guard let month = number(bytes, year.end + 1, 2), let day = number(bytes, year.end + 4, 2, after: 0x2D) else {
        return nil
      }
      return Day(year.value, month, day, end: year.end + 6)
    case 0x2F:
      guard let month = upTo(bytes, year.end + 1, 2), bytes.at(month.end) == 0x2F, let day = upTo(bytes, month.end + 1, 2)
      else {
        return nil
      }
      return Day(year.value, month.value, day.value, end: day.end)
    default:
      guard let month = skipping("年", bytes, year.end).flatMap({ upTo(bytes, $0, 2) }),
        let day = skipping("月", bytes, month.end).flatMap({ upTo(bytes, $0, 2) }), let end = skipping("日", bytes, day.end)
      else { return nil }
      return Day(year.value, month.value, day.value, end: end)
    }
  }

  private static func dayFirst(_ bytes: Bytes, _ day: Number) -> Day? {
    if let separator = bytes.at(day.end), separator == 0x2E || separator == 0x2F, let month = upTo(bytes, day.end + 1, 2),
      bytes.at(month.end) == separator, let year = number(bytes, month.end + 1, 4)
    {
      let end = month.end + 5
      guard separator == 0x2F, day.value != month.value else { return Day(year, month.value, day.value, end: end) }
      if day.value > 12 { return Day(year, month.value, day.value, end: end) }
      return month.value > 12 ? Day(year, day.value, month.value, end: end) : nil
    }
    guard var next = space(bytes, behindDay(bytes, day.end)) else { return nil }
    next = particle(bytes, next)
    let word = wordEnd(bytes, next)
    guard let month = month(bytes, next..<word) else { return nil }
    return year(bytes, bytes.at(word) == 0x2E ? word + 1 : word).flatMap { Day($0.value, month, day.value, end: $0.end) }
  }

  /// `1.`, `1st`, `1er`.
  private static func behindDay(_ bytes: Bytes, _ end: Int) -> Int {
    if bytes.at(end) == 0x2E { return end + 1 }
    for ending: StaticString in ["st", "nd", "rd", "th", "er"] {
      if let next = skipping(ending, bytes, end) { return next }
    }
    return end
  }

  /// `of`, `de`, `del` and a space, where they stand there.
  private static func particle(_ bytes: Bytes, _ start: Int) -> Int {
    for word: StaticString in ["of ", "de ", "del "] {
      if let next = skipping(word, bytes, start) { return next }
    }
    return start
  }

  /// The year behind a comma, a space and `de`.
  private static func year(_ bytes: Bytes, _ start: Int) -> Number? {
    guard let next = space(bytes, bytes.at(start) == 0x2C ? start + 1 : start) else { return nil }
    let first = particle(bytes, next)
    return number(bytes, first, 4).map { Number(value: $0, digits: 4, end: first + 4) }
  }

  private static func space(_ bytes: Bytes, _ position: Int) -> Int? {
    skipping(" ", bytes, position) ?? skipping("\u{A0}", bytes, position)
  }

  private static func skipping(_ text: StaticString, _ bytes: Bytes, _ start: Int) -> Int? {
    let end = start + text.utf8CodeUnitCount
    guard end <= bytes.count else { return nil }
    for offset in 0..<text.utf8CodeUnitCount where bytes[start + offset] != text.utf8Start[offset] { return nil }
    return end
  }

  // MARK: Months

  /// In the languages that the client speaks, whole and short, all of the same month in a row.
  private static let months: [StaticString] = [
    "january januar janvier enero jan janv ene يناير", "february februar février febrero feb févr فبراير",
    "march märz mars marzo mar مارس", "april avril abril apr avr abr أبريل إبريل", "may mai mayo مايو",
    "june juni juin junio jun يونيو", "july juli juillet julio jul juil يوليو", "august août agosto aug ago أغسطس",
    "september septembre septiembre sep sept سبتمبر", "october oktober octobre octubre oct okt أكتوبر",
    "november novembre noviembre nov نوفمبر", "december dezember décembre diciembre dec dez déc dic ديسمبر"
  ]

  private static func month(_ bytes: Bytes, _ word: Range<Int>) -> Int? {
    guard word.count >= 3, word.count <= 16 else { return nil }
    for (index, names) in months.enumerated() {
      var position = 0
      let count = names.utf8CodeUnitCount
      while position < count {
        var offset = 0
        while position + offset < count, names.utf8Start[position + offset] != 0x20, offset < word.count,
          lowered(bytes[word.lowerBound + offset]) == names.utf8Start[position + offset]
        { offset += 1 }
        if offset == word.count, position + offset == count || names.utf8Start[position + offset] == 0x20 { return index + 1 }
        while position < count, names.utf8Start[position] != 0x20 { position += 1 }
        position += 1
      }
    }
    return nil
  }

  private static func lowered(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

  private static func isWordOrMore(_ byte: UInt8) -> Bool { isWord(byte) || byte >= 0x80 }

  private static func wordEnd(_ bytes: Bytes, _ start: Int) -> Int {
    var end = start
    while end < bytes.count, end - start <= 16, isWordOrMore(bytes[end]) { end += 1 }
    return end
  }

  /// The month whose name stands before a day's number, and where it begins.
  private static func monthBefore(_ bytes: Bytes, _ position: Int, from start: Int) -> (month: Int, begin: Int)? {
    guard position > start, bytes[position - 1] == 0x20 else { return nil }
    var end = position - 1
    if end > start, bytes[end - 1] == 0x2E { end -= 1 }
    var begin = end
    while begin > start, end - begin <= 16, isWordOrMore(bytes[begin - 1]) { begin -= 1 }
    guard begin == 0 || mayComeBeforeTerm(bytes, begin) else { return nil }
    return month(bytes, begin..<end).map { ($0, begin) }
  }

  // MARK: The time of day

  /// The end of the time of day that follows a date, with a space or a `T` before it.
  private static func timeEnd(_ bytes: Bytes, _ start: Int) -> Int? {
    guard start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x54, var end = clockEnd(bytes, start + 1) else {
      return nil
    }
    if let seconds = number(bytes, end + 1, 2, after: 0x3A), seconds < 60 { end += 3 }
    if end < bytes.count, bytes[end] == 0x5A {
      end += 1
    } else if end < bytes.count, bytes[end] == 0x2B || bytes[end] == 0x2D, let zone = clockEnd(bytes, end + 1) {
      end = zone
    }
    return endsTerm(bytes, end) ? end : nil
  }

  /// The end of `14:30`.
  private static func clockEnd(_ bytes: Bytes, _ start: Int) -> Int? {
    guard let hour = number(bytes, start, 2), hour < 24, let minute = number(bytes, start + 3, 2, after: 0x3A), minute < 60
    else {
      return nil
    }
    return start + 5
  }

  // MARK: Pieces

  /// Punctuation may follow, more digits behind it may not.
  static func endsTerm(_ bytes: Bytes, _ end: Int) -> Bool {
    guard end < bytes.count else { return true }
    switch bytes[end] {
    case 0x2B, 0x2D, 0x2F, 0x5F: return false
    case 0x2C, 0x2E, 0x3A: return end + 1 == bytes.count || !isWord(bytes[end + 1])
    default: return !isWord(bytes[end])
    }
  }

  /// Of that many digits. `after`: the byte that stands before them.
  static func number(
    _ bytes: Bytes, _ start: Int, _ count: Int, after byte: UInt8? = nil
  ) -> Int? {
    guard start + count <= bytes.count, byte == nil || bytes[start - 1] == byte else { return nil }
    var value = 0
    for digit in bytes[start..<(start + count)] {
      guard digit >= 0x30, digit <= 0x39 else { return nil }
      value = value * 10 + Int(digit - 0x30)
    }
    return value
  }

  private struct Number {
    var value: Int
    var digits: Int
    var end: Int
  }

  /// Of at most that many digits, and not the beginning of a longer one.
  private static func upTo(_ bytes: Bytes, _ start: Int, _ count: Int) -> Number? {
    var end = start
    while end - start < count, let byte = bytes.at(end), byte >= 0x30, byte <= 0x39 { end += 1 }
    guard end > start, bytes.at(end).map({ $0 < 0x30 || $0 > 0x39 }) ?? true else { return nil }
    return number(bytes, start, end - start).map { Number(value: $0, digits: end - start, end: end) }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Nil behind the end.
  func at(_ index: Int) -> UInt8? { index < count ? self[index] : nil }
}
