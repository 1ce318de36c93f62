import JSON
import Testing

@Suite struct JSONParsingTests {
  static let accepted = [
    "null", "true", " false ", "0", "-0", "12.5e-3", "1E+9", "\"\"", "[]", "{}", "[ ]", "{ }", "\t\r\n[1 , 2]\n",
    "{\"a\":{\"b\":[{},[],\"x\"]}}", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"é😀\"",
    "[[[[1]]]]", "\"\u{7f}\"", "{\"\":0}", "{\"a\":1,\"a\":2}", "9223372036854775808", "\"\\u0000\""
  ]

  static let refused = [
    "", " ", "nul", "tru", "True", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "\"", "\"\\\"", "\"\\x\"",
    "\"\\u12\"",
    "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\ud800\\n\"", "\"\n\"", "\"\t\"", "[", "[1", "[1,", "[1,]", "[,1]",
    "[1 2]",
    "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\" 1}", "{1:1}", "]", "}", "[}",
    "{]",
    "[]]", "1 2", "null,", "\u{feff}1", "// x\n1", "\u{0c}1"
  ]

  @Test(arguments: accepted) func `what the grammar allows parses`(text: String) throws {
    _ = try JSON.parse(Array(text.utf8))
  }

  @Test(arguments: refused) func `what the grammar forbids is refused`(text: String) {
    #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
  }

  static let malformedUTF8: [[UInt8]] = [
    [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
    [0xF4, 0x90, 0x80, 0x80],
    [0xF5, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xFF]
  ]

  @Test(arguments: malformedUTF8) func `ill-formed UTF-8 in a string is refused wherever the word boundary falls`(
    _ bytes: [UInt8]
  ) {
    for padding in 0..<9 {
      let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + bytes + [0x22]
      #expect(throws: JSONError.self) { try JSON.parse(text) }
    }
  }

  @Test func `every truncation of a document is refused`() throws {
    let whole = Array(
      #"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00é😀\n"],"b":{"c":null,"d":[true,false]},"e":"0123456789abcdef"}"#.utf8)
    _ = try JSON.parse(whole)
    for length in 0..<whole.count {
      #expect(throws: JSONError.self) { try JSON.parse(Array(whole[..<length])) }
    }
  }

  @Test func `depth is limited on both sides`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSON.parse(nested(100))
    #expect(throws: JSONError.self) { try JSON.parse(nested(101)) }
    _ = try JSON.parse(nested(3), limits: JSONLimits(depth: 3))
    #expect(throws: JSONError.self) { try JSON.parse(nested(4), limits: JSONLimits(depth: 3)) }
  }

  @Test func `size is limited on both sides`() throws {
    _ = try JSON.parse(Array("[1]".utf8), limits: JSONLimits(bytes: 3))
    #expect(throws: JSONError.self) { try JSON.parse(Array("[12]".utf8), limits: JSONLimits(bytes: 3)) }
  }

  @Test func `a control byte is refused at each offset of a word`() {
    for offset in 0..<17 {
      var inside = [UInt8](repeating: 0x61, count: 17)
      inside[offset] = 0x1F
      #expect(throws: JSONError.self) { try JSON.parse([0x22] + inside + [0x22]) }
    }
  }
}
