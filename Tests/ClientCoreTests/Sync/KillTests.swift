import Glibc
import Testing

@testable import ClientCore

/// Each world dies five times; `MARTLET_LONG=1` makes them 2,000 deaths and says how many events there were, `MARTLET_SEED` makes others.
private let isLong = getenv("MARTLET_LONG") != nil
private let worlds = isLong ? 400 : 20
private let firstSeed = getenv("MARTLET_SEED").flatMap { Int(String(cString: $0)) } ?? 1

@Suite struct KillTests {
  // Proves J16
  @Test(arguments: 0..<worlds) func `no kill, no way of syncing and no lost connection loses or doubles an event`(world: Int) {
    let seed = UInt64(bitPattern: Int64(firstSeed)) &* 1_000_003 &+ UInt64(world)
    var world = SyncWorld(seed: seed)
    for _ in 0..<5 {
      for _ in 0..<(10 + Int(world.random.next(below: 40))) { world.step() }
      world.kill()
    }
    for _ in 0..<20 { world.step() }
    world.settle()
    world.checkSettled()
    #expect(world.kills == 5)
    if isLong { print("world \(seed): \(world.kills) kills, \(world.server.rooms.reduce(0) { $0 + $1.events.count }) events") }
  }
}
