import Testing

@testable import Olm

@Suite struct SecretTests {
  @Test func `a secret's description does not have its bytes`() {
    let secret = Secret(ascii("hunter2"))
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), dumped] {
      #expect(!text.contains("hunter2") && !text.contains("104"))
    }
  }

  @Test func `secrets are equal by their bytes`() {
    #expect(Secret([1, 2]).isEqual(to: Secret([1, 2])))
    #expect(!Secret([1, 2]).isEqual(to: Secret([1, 3])))
    #expect(!Secret([1, 2]).isEqual(to: Secret([1])))
    #expect(Secret([]).isEqual(to: Secret([])))
  }

  @Test func `the system's source repeats nothing, a seeded one everything`() {
    var (system, one, other) = (SecretSource.system, SecretSource.repeating(seed: [1]), SecretSource.repeating(seed: [1]))
    #expect(system.bytes(32) != system.bytes(32))
    let first = one.bytes(32)
    #expect(first == other.bytes(32))
    #expect(first != one.bytes(32))
  }
}
