import JSON
import Testing

@testable import EventContent

@Suite struct BlurhashTests {
  private func picture(_ width: Int, _ height: Int, _ colour: (Int, Int) -> (Int, Int, Int)) -> [UInt8] {
    var pixels: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let (red, green, blue) = colour(x, y)
        pixels += [UInt8(red & 255), UInt8(green & 255), UInt8(blue & 255), 255]
      }
    }
    return pixels
  }

  /// The strings are those of the encoder that the algorithm's description names for Python (`blurhash` 1.x on PyPI).
  @Test func `pictures have the hashes that other encoders give them`() {
    let black = picture(36, 20) { _, _ in (0, 0, 0) }
    #expect(Blurhash.encode(black, width: 36, height: 20) == "L00000fQfQfQfQfQfQfQfQfQfQfQ")
    let white = picture(36, 20) { _, _ in (255, 255, 255) }
    #expect(Blurhash.encode(white, width: 36, height: 20) == "LGTSUA?bfQ?b~qj[fQj[fQfQfQfQ")
    let slope = picture(32, 24) { x, y in (x * 8, y * 10, x * y) }
    #expect(Blurhash.encode(slope, width: 32, height: 24) == "LxH27h2lwtX3mAWUjwfAgFfmfTfi")
    #expect(
      Blurhash.encode(slope, width: 32, height: 24, horizontal: 9, vertical: 9)
        == "|xH27h2lwtX3a^ofWroeWnmAWUjwfAfTf6fNf8fRgFfmfTfifNfifTfjfPn$WsjsfNfTfTfOfPfQe-fTfNfTfSfNfSfRfRofWojrfTfNfSfSfOfPe?fNfTfOfSfSfOfRfPoeWpjufPfRfOfQfRfSeofRfPfQfRfPfPfRfO"
    )
    let stripes = picture(7, 5) { x, y in (x * 37, y * 91, 200) }
    #expect(Blurhash.encode(stripes, width: 7, height: 5, horizontal: 3, vertical: 5) == "chF#PQ3EWp-ZOFa|d_e;fQ*[NMa|eqf7fQ")
    let chess = picture(8, 8) { x, y in (x + y) % 2 == 1 ? (255, 0, 0) : (0, 0, 255) }
    #expect(Blurhash.encode(chess, width: 8, height: 8, horizontal: 4, vertical: 4) == "UKLjfL|lfQ|l|lfUfQfUfQfQfQfQ|lfUfQfU")
    #expect(Blurhash.encode([0xFB, 0xFB, 0xFB, 0], width: 1, height: 1, horizontal: 1, vertical: 1) == "00S?DV")
  }

  @Test func `sizes that do not fit have none`() {
    #expect(Blurhash.encode([], width: 0, height: 0) == nil)
    #expect(Blurhash.encode([0, 0, 0], width: 1, height: 1) == nil)
    #expect(Blurhash.encode([0, 0, 0, 0], width: 1, height: 1, horizontal: 10) == nil)
    #expect(Blurhash.encode([0, 0, 0, 0], width: .max, height: .max) == nil)
  }
}
