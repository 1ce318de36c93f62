import Synchronization
import Testing

@testable import ServerCore

@Suite struct DiskSpaceTests {
  private final class World: Sendable {
    let free = Atomic<Int64>(1 << 40)
    let seconds = Atomic<Int>(0)
    let milliseconds = Atomic<Int>(0)
    let measured = Atomic<Int>(0)
    private let start = ContinuousClock.now

    func disk(capacity: Int64, log: Int64 = 0) -> DiskSpace {
      DiskSpace(
        measure: { [self] in
          measured.wrappingAdd(1, ordering: .relaxed)
          return DiskSpace.Measure(freeBytes: free.load(ordering: .relaxed), capacityBytes: capacity, logBytes: log)
        },
        now: { [self] in
          start + .seconds(seconds.load(ordering: .relaxed)) + .milliseconds(milliseconds.load(ordering: .relaxed))
        })
    }
  }

  @Test(
    arguments: [(1 << 40, 0, 64 << 20), (48 << 20, 0, 24 << 20), (1 << 40, 5 << 20, 69 << 20), (1 << 40, 1 << 30, 128 << 20)]
      as [(Int64, Int64, Int64)])
  func `the reserve is 64 MiB or half of a small disk, and the size of the log`(
    capacity: Int64, log: Int64, reserve: Int64
  ) throws {
    let world = World()
    let disk = world.disk(capacity: capacity, log: log)
    world.free.store(reserve, ordering: .relaxed)
    try disk.requireSpace()
    #expect(disk.trouble == nil)
    #expect(throws: DiskFullError.self) { try disk.requireSpace(for: 1) }
    world.free.store(reserve - 1, ordering: .relaxed)
    #expect(throws: DiskFullError.self) { try disk.requireSpace() }
    #expect(
      disk.trouble
        == "The disk of the data folder is full: \(reserve - 1) bytes are free, \(reserve) are kept in reserve.")
  }

  @Test func `with plenty of room small requests are not measured again for a moment, with little each is`() throws {
    let world = World()
    let disk = world.disk(capacity: 1 << 40)
    func measures(_ bytes: Int64 = 0) throws -> Int {
      let before = world.measured.load(ordering: .relaxed)
      try disk.requireSpace(for: bytes)
      return world.measured.load(ordering: .relaxed) - before
    }
    #expect(try [measures(), measures(), measures(1 << 20), measures(2 << 20)] == [1, 0, 0, 1])
    world.milliseconds.store(Int(DiskSpace.restMilliseconds), ordering: .relaxed)
    world.free.store(DiskSpace.reserveBytes + DiskSpace.plentyBytes - 1, ordering: .relaxed)
    #expect(try [measures(), measures()] == [1, 1])
    world.free.store(0, ordering: .relaxed)
    #expect(throws: DiskFullError.self) { try disk.requireSpace() }
  }

  @Test func `refusals are told once a minute with their number`() {
    let world = World()
    let disk = world.disk(capacity: 1 << 40)
    #expect(disk.countRefusal(hasFailed: false) == 1)
    for _ in 0..<5 { #expect(disk.countRefusal(hasFailed: false) == nil) }
    world.seconds.store(59, ordering: .relaxed)
    #expect(disk.countRefusal(hasFailed: false) == nil)
    world.seconds.store(60, ordering: .relaxed)
    #expect(disk.countRefusal(hasFailed: false) == 7)
    #expect(disk.refusedRequests == 8)
  }

  @Test func `a write that failed for want of space is trouble for a minute`() {
    let world = World()
    let disk = world.disk(capacity: 1 << 40)
    #expect(disk.trouble == nil)
    _ = disk.countRefusal(hasFailed: true)
    #expect(disk.trouble == "A write to the data folder failed because there was no space for it.")
    world.seconds.store(60, ordering: .relaxed)
    #expect(disk.trouble == nil)
  }

  @Test func `the disk of a folder and the log are measured`() throws {
    let file = #filePath
    let measure = try #require(DiskSpace(folder: "/", log: file).current)
    #expect(measure.capacityBytes > 0 && measure.freeBytes >= 0 && measure.logBytes > 1_000)
    #expect(DiskSpace(folder: "/", log: "/nowhere").current?.logBytes == 0)
    #expect(DiskSpace(folder: "/nowhere", log: file).current == nil)
  }
}
