import Testing

@testable import Messenger

@Suite("Blurhashes")
struct BlurHashTests {
  @Test("One colour is one colour")
  func oneColour() throws {
    // 1 by 1 cosines; the colour is ((0 * 83 + 3) * 83 + 4) * 83 + ... of pure red.
    let red = 0xFF0000
    let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
    let digits = [571_787, 6889, 83, 1].map { letters[red / $0 % 83] }
    let pixels = try #require(BlurHash.pixels("00" + String(digits)))
    #expect(pixels.count == 768)
    for start in stride(from: 0, to: 768, by: 3) {
      #expect(pixels[start] <= 1 && pixels[start + 1] <= 1 && pixels[start + 2] >= 254)
    }
  }

  @Test("The example of the algorithm's page is light above and dark below")
  func example() throws {
    let pixels = try #require(BlurHash.pixels("LEHV6nWB2yk8pyo0adR*.7kCMdnj"))
    func light(_ row: Int) -> Int { pixels[row * 48..<row * 48 + 48].reduce(0) { $0 + Int($1) } }
    #expect(light(15) > light(0))
  }

  @Test("The bitmap is a picture that a browser reads")
  func bitmap() throws {
    let address = try #require(BlurHash.image("LEHV6nWB2yk8pyo0adR*.7kCMdnj"))
    #expect(address.hasPrefix("data:image/bmp;base64,Qk0") && address.utf8.count == 22 + 1096)
  }

  @Test(
    "An invalid blurhash gives no picture",
    arguments: ["", "L", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj", "ä", "<script>", "000000\u{0}"])
  func wrong(text: String) {
    #expect(BlurHash.image(text) == nil)
  }
}
