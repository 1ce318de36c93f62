/// A day as `YYYY-MM-DD`, such as a field for a date has it.
package struct CalendarDay {
  /// Days since 1970-01-01.
  package let number: Int

  /// Returns nil if `text` is not a date.
  package init?(_ text: String) {
    let parts = Array(text.utf8).split(separator: UInt8(ascii: "-"))
    guard parts.count == 3 else { return nil }
    var numbers: [Int] = []
    for part in parts {
      var number = 0
      for byte in part {
        guard byte >= 0x30, byte <= 0x39, number < 100_000 else { return nil }
        number = number * 10 + Int(byte - 0x30)
      }
      numbers.append(number)
    }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
    // The year begins in March, so that the leap day is its last.
    let shifted = month > 2 ? year : year - 1
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    number = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
  }
}
