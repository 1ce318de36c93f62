import Testing

@testable import ObjectStore

@Suite struct CircuitTests {
  @Test func `after ten failures in a row nothing is let through for a while, then one request at a time`() {
    var circuit = Circuit()
    let now = ContinuousClock.now
    var permitted: [Bool] = []
    for _ in 0..<Circuit.failuresLimit {
      permitted.append(circuit.permits(now))
      circuit.failed(now)
    }
    #expect(permitted.allSatisfy { $0 })
    let later = now + Circuit.rest
    permitted = [circuit.permits(now), circuit.permits(later), circuit.permits(later)]
    #expect(permitted == [false, true, false])
    circuit.failed(later)
    permitted = [circuit.permits(later + .seconds(1)), circuit.permits(later + Circuit.rest)]
    #expect(permitted == [false, true])
    circuit.succeeded()
    permitted = [circuit.permits(later), circuit.permits(later)]
    #expect(permitted == [true, true])
  }

  @Test func `a success in between begins the count anew`() {
    var circuit = Circuit()
    let now = ContinuousClock.now
    for _ in 0..<3 {
      for _ in 0..<(Circuit.failuresLimit - 1) { circuit.failed(now) }
      circuit.succeeded()
    }
    let isPermitted = circuit.permits(now)
    #expect(isPermitted)
  }
}
