import JSON
import MatrixModel
import Testing

@testable import EventLoop
@testable import ServerPush

@Suite struct PusherTimersTests {
  private static func id(_ key: String) -> Pusher.ID {
    Pusher.ID(userID: UserID(trusted: "@ann:example.org"), appID: "app", pushkey: ByteString(key))
  }

  /// Each event in a room of somebody whose push service asks for a day's patience sets one.
  @Test func `a pusher has one timer, however often it is set`() async throws {
    let loop = try EventLoop()
    let timers = PusherTimers()
    let counts = await withCheckedContinuation { (done: CheckedContinuation<[Int], Never>) in
      loop.submit {
        var counts: [Int] = []
        for _ in 0..<1_000 { timers.set(Self.id("a"), after: .seconds(86_400), on: loop) {} }
        counts.append(loop.timers.count)
        timers.set(Self.id("b"), after: .seconds(86_400), on: loop) {}
        counts.append(loop.timers.count)
        timers.cancelAll()
        counts.append(loop.timers.count)
        done.resume(returning: counts)
      }
    }
    #expect(counts == [1, 2, 0])
    await loop.shutdown()
  }

  @Test func `the one set last fires, once`() async throws {
    let loop = try EventLoop()
    let timers = PusherTimers()
    let fired = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
      loop.submit {
        for i in 0..<10 { timers.set(Self.id("a"), after: .milliseconds(1), on: loop) { done.resume(returning: i) } }
      }
    }
    #expect(fired == 9)
    await loop.shutdown()
  }
}
