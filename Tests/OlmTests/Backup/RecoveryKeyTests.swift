import Testing

@testable import Olm

@Suite struct RecoveryKeyTests {
  // The key of RFC 7748's Alice, as other clients' tests write it.
  private let secret = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
  private let text = "EsTc LW2K PGiF wKEA 3As5 g5c4 BXwk qeeJ ZJV8 Q9fu gUMN UE4d"

  @Test func `a key is written in groups of four and read with any white space`() throws {
    #expect(try #require(RecoveryKey(Secret(secret))).text == ascii(text))
    for text in [text, text.filter { $0 != " " }, "\n\t " + text + "\r\n"] {
      #expect(try RecoveryKey(text: ascii(text)).secret.exposed() == secret)
    }
    #expect(RecoveryKey(Secret([1, 2, 3])) == nil)
  }

  @Test func `a mistyped key is refused`() {
    for (index, letter) in text.enumerated() where letter != " " {
      for typed in "1LIz" where typed != letter {
        var letters = Array(text)
        letters[index] = typed
        #expect(throws: OlmError.malformed) { try RecoveryKey(text: ascii(String(letters))) }
      }
    }
    for text in ["", "EsTc", text + " EsTc", String(repeating: " ", count: 129), String(repeating: "z", count: 128)] {
      #expect(throws: OlmError.malformed) { try RecoveryKey(text: ascii(text)) }
    }
  }

  @Test func `any key is read as it was written`() throws {
    var random = SecretSource.system
    for _ in 0..<100 {
      let secret = random.secret(32)
      #expect(try RecoveryKey(text: #require(RecoveryKey(secret)).text).secret.isEqual(to: secret))
    }
  }
}
