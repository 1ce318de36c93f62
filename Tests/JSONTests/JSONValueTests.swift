import JSON
import Testing

func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

@Suite struct JSONValueTests {
  @Test func `members and elements are found by path`() throws {
    let value = try parse(#"{"skip":[1,[2,{"rooms":0}]],"rooms":{"!a":{"n":[10,20,30]}}}"#)
    #expect(value["rooms"]?["!a"]?["n"]?.elements.map { $0.integer } == [10, 20, 30])
    #expect(value["rooms"]?.members.map { $0.key } == ["!a"])
    #expect(value["rooms"]?[ByteString("!a")]?.count == 1)
    #expect(value["missing"] == nil)
    #expect(value["skip"]?["rooms"] == nil)
    #expect(value.count == 2)
  }

  @Test func `an accessor of another kind answers nil`() throws {
    let value = try parse(#"{"s":"1","n":1,"b":true,"z":null}"#)
    #expect(value["s"]?.integer == nil)
    #expect(value["n"]?.string == nil)
    #expect(value["b"]?.string == nil)
    #expect(value["z"]?.isNull == true)
    #expect(value["n"]?["x"] == nil)
    #expect(value["b"]?.bool == true)
  }

  @Test func `an escaped key is the key it spells`() throws {
    let value = try parse(#"{"\u0074ype":"m.room.message"}"#)
    #expect(value["type"]?.string == "m.room.message")
    #expect(value[ByteString("type")]?.isString("m.room.message") == true)
    #expect(try parse(#""m\u002eroom""#).isString("m.room"))
  }

  @Test func `escapes become the bytes they stand for`() throws {
    #expect(
      try parse(#""\"\\\/\b\f\n\r\tA\u00e9\u20ac\ud83d\ude00\u0000""#).string
        == "\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{20ac}\u{1f600}\u{0}")
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("-1", -1), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
      ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e3", nil)
    ] as [(String, Int64?)])
  func `integers are exact or nil`(text: String, expected: Int64?) throws {
    #expect(try parse(text).integer == expected)
  }

  @Test func `bytes of a value are its source`() throws {
    let value = try parse(#"{ "a" : [ 1, "x\n" ] }"#)
    #expect(String(decoding: value["a"]!.bytes, as: UTF8.self) == #"[ 1, "x\n" ]"#)
    #expect(String(decoding: value["a"]!.elements.map { $0 }[1].bytes, as: UTF8.self) == #""x\n""#)
  }

  @Test func `text is compared by bytes, not by canonical equivalence`() {
    let composed = ByteString("\u{e9}"), decomposed = ByteString("e\u{301}")
    #expect(composed.string == decomposed.string)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(ByteString("\u{ff5e}") < ByteString("\u{1f600}"))
    #expect(ByteString("ab") < ByteString("b") && ByteString("a") < ByteString("ab"))
  }

  @Test(arguments: [
    (Array("".utf8), ""), (Array("grüße, 世界 😀".utf8), "grüße, 世界 😀"), ([0xFF], "\u{FFFD}"),
    (Array("12345678".utf8) + [0x80], "12345678\u{FFFD}"), (Array("1234567".utf8) + [0xE4, 0xBD], "1234567\u{FFFD}")
  ])
  func `text is well-formed: what is no UTF-8 becomes U+FFFD`(bytes: [UInt8], text: String) {
    #expect(ByteString(decoding: bytes).utf8 == Array(text.utf8))
  }
}

@Suite struct JSONWriterTests {
  @Test func `commas come by themselves`() throws {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("a", 1)
      writer.key("b")
      writer.array { writer in
        writer.write("x")
        writer.object { _ in }
        writer.array { $0.null() }
        writer.raw(Array("[1]".utf8))
      }
      writer.rawMembers(Array(#""c":2,"d":3"#.utf8))
      writer.member("e", true)
      writer.member("f", Int64.min)
    }
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"a":1,"b":["x",{},[null],[1]],"c":2,"d":3,"e":true,"f":-9223372036854775808}"#)
  }

  @Test func `any text survives writing and parsing`() throws {
    var text = "plain é😀 \u{2028}"
    for scalar in 0..<0x80 { text.unicodeScalars.append(Unicode.Scalar(UInt8(scalar))) }
    var writer = JSONWriter()
    writer.write(text)
    #expect(Array((try JSON.parse(writer.bytes).string ?? "").utf8) == Array(text.utf8))
  }
}
