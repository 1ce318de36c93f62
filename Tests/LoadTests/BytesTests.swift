import Testing

@testable import matrix_load

@Suite("What matrix-load reads and writes byte by byte")
struct BytesTests {
  @Test(
    "finds the first string member of a name",
    arguments: [
      ("{\"event_id\":\"$a\"}", "$a"), ("{\"x\":{\"event_id\" : \"$b\"}}", "$b"),
      ("{\"event_id\":7,\"event_id\":\"$c\"}", "$c"),
      ("[\"event_id\",{\"event_id\":\"\"}]", "")
    ])
  func member(_ json: String, _ value: String) {
    #expect(Array(json.utf8).string(named: "event_id") == value)
  }

  @Test(
    "finds nothing where there is nothing",
    arguments: ["", "{}", "\"event_id\"", "{\"event_id\":", "{\"event_id\":\"$a"])
  func absence(_ json: String) {
    #expect(Array(json.utf8).string(named: "event_id") == nil)
  }

  @Test("finds and counts a pattern anywhere, also at both ends")
  func search() {
    let bytes = Array("abcabdab".utf8)
    #expect(bytes.index(of: Array("ab".utf8)) == 0)
    #expect(bytes.index(of: Array("ab".utf8), from: 4) == 6)
    #expect(bytes.index(of: Array("abd".utf8)) == 3)
    #expect(bytes.index(of: Array("ab".utf8), from: 7) == nil)
    #expect(bytes.index(of: Array("abcabdabx".utf8)) == nil)
    #expect(bytes.index(of: []) == nil)
    #expect(bytes.count(of: Array("ab".utf8)) == 3)
  }

  @Test("percent-encodes all but the unreserved characters")
  func encoding() {
    var bytes: [UInt8] = []
    bytes.append(encoded: "!aZ09-._~:é/ ")
    #expect(String(decoding: bytes, as: UTF8.self) == "%21aZ09-._~%3A%C3%A9%2F%20")
  }

  @Test(
    "writes decimals without an exponent",
    arguments: [
      (0.0, 2, "0.00"), (1.005, 3, "1.005"), (0.05, 1, "0.1"), (-2.5, 1, "-2.5"), (-0.001, 2, "0.00"),
      (1234.5, 0, "1235")
    ])
  func decimals(_ value: Double, _ decimals: Int, _ text: String) {
    #expect(value.fixed(decimals) == text)
  }

  @Test("takes percentiles by nearest rank, and none of nothing")
  func percentiles() {
    let values = (1...100).map(Double.init)
    #expect(Measurement.percentile(50, of: values) == 51)
    #expect(Measurement.percentile(99, of: values) == 99)
    #expect(Measurement.percentile(100, of: [7]) == 7)
    #expect(Measurement.percentile(50, of: []) == 0)
  }
}
