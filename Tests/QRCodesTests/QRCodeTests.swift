import Testing

@testable import QRCodes

@Suite struct QRCodeTests {
  /// The dark modules as one number (FNV-1a), to compare codes of all sizes.
  private static func digest(of code: QRCode) -> UInt64 {
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    for y in 0..<code.size {
      for x in 0..<code.size { digest = (digest ^ (code[x, y] ? 1 : 0)) &* 0x100_0000_01b3 }
    }
    return digest
  }

  /// zbar 0.23 read every one of these codes back when they were kept: the first and the last length of each version.
  @Test(
    arguments: [
      (1, 21, 0x17ea5cdb321440fd),
      (14, 21, 0xfd10b68a85707a7d),
      (15, 25, 0xca26a997ad1d1b60),
      (26, 25, 0xc7e57105253ef3b3),
      (42, 29, 0xc17786620a362096),
      (62, 33, 0xa4a790515c5f83ce),
      (84, 37, 0x4ccb461ede16b11b),
      (106, 41, 0xeaed1367115a048a),
      (122, 45, 0x2191602f7be19393),
      (152, 49, 0xf3c267664cdbe2cf),
      (180, 53, 0xed0fb1ae18b48512),
      (213, 57, 0xa5bb7d9ac92e3bbc),
      (251, 61, 0x89fbd5456be82a1),
      (287, 65, 0xd8ec4679cbb64de4),
      (331, 69, 0x4f753bb8131ab421),
      (362, 73, 0x1102d0213ac83424),
      (412, 77, 0xe01fb8a908a88792),
      (450, 81, 0x7f33ea13042182e4),
      (504, 85, 0xb7600f11629335d5),
      (560, 89, 0xc55c1b29383e7fa4),
      (624, 93, 0x32627d32a25dde55),
      (666, 97, 0x6181f31a3ef6ad39)
    ] as [(Int, Int, UInt64)])
  func `codes are those that a foreign decoder has read`(bytes: Int, size: Int, digest: UInt64) throws {
    let text = (0..<bytes).map { UInt8(0x21 + ($0 * 7 + bytes) % 90) }
    let code = try #require(QRCode(text))
    #expect(code.size == size)
    #expect(Self.digest(of: code) == digest)
  }

  @Test func `an address becomes this code`() throws {
    let code = try #require(QRCode("https://example.org/#/join/abc"))
    let drawn = (0..<code.size).map { y in String((0..<code.size).map { code[$0, y] ? "█" : "·" }) }
    #expect(
      drawn == [
        "███████·█······██·█···███████",
        "█·····█·█··██···████··█·····█",
        "█·███·█·███·█··██·█·█·█·███·█",
        "█·███·█···███···██·██·█·███·█",
        "█·███·█·███···███·███·█·███·█",
        "█·····█··██····██···█·█·····█",
        "███████·█·█·█·█·█·█·█·███████",
        "···········█·█·██···█········",
        "█··██████·█··█···█·█·█··█·███",
        "█████···██████··██████·██·██·",
        "·█·██·█·█·█··█·████··█··█·█··",
        "··█····██···██··██·██·█··█··█",
        "█··████████··█·██···█·██····█",
        "·████····██████·███·█·███████",
        "·█·██████·█··█··██·██··██·█·█",
        "···███···██·█··█··██··█·█·█·█",
        "█·██·███···██·█·█·█·█··█·█···",
        "███·█··█·█·█·██·█·███···█·██·",
        "█████·█·██·██··█···██·████··█",
        "██████·█··█·█·█·····██···██··",
        "██·██·█·██···█████·█████████·",
        "········███·█·█···███···██···",
        "███████·███·█·█··████·█·██···",
        "█·····█·█·█···██·█·██···█····",
        "█·███·█·██·█·██·█··███████···",
        "█·███·█·█·█··█····█····█···█·",
        "█·███·█···████·█·██·██·██·███",
        "█·····█····██··██·█··█·████·█",
        "███████·███··█·█···████·█····"
      ])
  }

  @Test func `a text that no version has room for has no code`() {
    #expect(QRCode([UInt8](repeating: 0x41, count: QRCode.bytesLimit)) != nil)
    #expect(QRCode([UInt8](repeating: 0x41, count: QRCode.bytesLimit + 1)) == nil)
    #expect(QRCode("")?.size == 21)
  }

  @Test func `modules outside the code are light`() throws {
    let code = try #require(QRCode("a"))
    #expect(!code[-1, 0] && !code[0, -1] && !code[code.size, 0] && !code[0, code.size])
  }

  @Test func `the path draws exactly the dark modules, behind the quiet border`() throws {
    let code = try #require(QRCode("path"))
    var drawn = Set<[Int]>()
    for run in code.path.split(separator: "z") {
      let numbers = run.split { !$0.isNumber }.compactMap { Int($0) }
      for x in numbers[0]..<(numbers[0] + numbers[2]) {
        drawn.insert([x - QRCode.quietModules, numbers[1] - QRCode.quietModules])
      }
    }
    for y in 0..<code.size {
      for x in 0..<code.size { #expect(drawn.contains([x, y]) == code[x, y]) }
    }
  }
}
