@testable import HTTPServer
import Testing

@Suite struct ContentRangeTests {
  @Test(
    arguments: [
      ("bytes 0-9/10", 0..<10, 10), ("bytes 0-0/1", 0..<1, 1), ("bytes 5-7/10", 5..<8, 10), ("Bytes 0-9/10", 0..<10, 10),
      ("bytes  0-9 /10", 0..<10, 10), ("bytes 00-009/010", 0..<10, 10), ("bytes */10", 10..<10, 10), ("bytes */0", 0..<0, 0),
      ("bytes */9223372036854775807", .max ..< .max, .max),
      ("bytes 0-9223372036854775806/9223372036854775807", 0 ..< .max, .max)
    ] as [(String, Range<Int64>, Int64)])
  func `a range within a whole is read`(value: String, range: Range<Int64>, size: Int64) {
    let read = ContentRange(Array(value.utf8)[...])
    #expect(read?.range == range && read?.size == size)
  }

  @Test(arguments: [
    "", " ", "/", " /", "bytes", "bytes ", "bytes /", "bytes /10", "bytes */", "bytes */*", "bytes 0-9/*", "bytes 0-10/10",
    "bytes 0-0/0", "bytes 9-0/10", "bytes -9/10", "bytes 0-/10", "bytes 0 - 9/10", "bytes +0-9/10", "bytes 0-9/-10",
    "bytes 0-9/ 10", "bytes 0-9/10 ", "bytes=0-9/10", "lines 0-9/10", "bytes/10 0-9", "bytes 0-1,3-4/10", "bytes 0-1/2/10",
    "bytes 0-9/9223372036854775808", "bytes 0-9223372036854775807/9223372036854775807",
    "bytes 9223372036854775808-9/10", "bytes \u{0660}-\u{0669}/10"
  ])
  func `what is no range of a whole is refused`(value: String) {
    #expect(ContentRange(Array(value.utf8)[...]) == nil)
  }

  @Test func `a range that is cut off anywhere is no other range before the size`() {
    let whole = Array("bytes 10-99/200".utf8)
    for count in 0..<whole.count {
      let read = ContentRange(whole[..<count])
      // `/2` and `/20` are too small for the range.
      #expect(read == nil, "\(count)")
      // Nor does it read what lies before the slice.
      #expect(ContentRange(whole[count...]).map { $0.range == 10..<100 } == (count == 0 ? true : nil), "\(count)")
    }
  }
}
