import EventLoop
import Testing

@Suite struct EventLoopTests {
  @Test func `a task that prefers the loop runs on it, before and after it waits`() async throws {
    let loop = try EventLoop()
    let places = await Task(executorPreference: loop) {
      let before = loop.isCurrent
      await Task.yield()
      try? await loop.sleep(for: .milliseconds(1))
      return [before, loop.isCurrent, EventLoop.current === loop]
    }.value
    #expect(places == [true, true, true])
    #expect(EventLoop.current == nil)
    await loop.shutdown()
  }

  private actor Pinned {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var count = 0

    init(loop: EventLoop) { self.loop = loop }

    func increment() -> Bool {
      count += 1
      return loop.isCurrent
    }

    func total() -> Int { count }
  }

  @Test func `an actor pinned to the loop runs there and can be entered from a callback`() async throws {
    let loop = try EventLoop()
    let pinned = Pinned(loop: loop)
    #expect(await pinned.increment())
    await withCheckedContinuation { done in
      loop.execute {
        _ = pinned.assumeIsolated { $0.increment() }
        done.resume()
      }
    }
    #expect(await pinned.total() == 2)
    await loop.shutdown()
  }

  @Test func `closures from many threads all run, in the order each thread gave them`() async throws {
    let loop = try EventLoop()
    let seen = Shared<[Int: [Int]]>([:])
    await withTaskGroup { group in
      for sender in 0..<8 {
        group.addTask {
          for number in 0..<500 { loop.submit { seen.change { $0[sender, default: []].append(number) } } }
        }
      }
    }
    await loop.shutdown()
    let all = seen.current
    for sender in 0..<8 { #expect(all[sender] == Array(0..<500)) }
  }

  @Test func `a task that yields forever does not keep the loop from its timers`() async throws {
    let loop = try EventLoop()
    let busy = Task(executorPreference: loop) { while !Task.isCancelled { await Task.yield() } }
    await withCheckedContinuation { done in loop.schedule(after: .milliseconds(5)) { done.resume() } }
    busy.cancel()
    await busy.value
    await loop.shutdown()
  }

  @Test func `shutdown may be asked twice and at the same time`() async throws {
    let group = try EventLoopGroup(count: 2)
    async let first: Void = group.shutdown()
    async let second: Void = group.shutdown()
    _ = await (first, second)
    await group.shutdown()
  }
}

@Suite struct TimerTests {
  @Test func `timers fire in the order of their deadlines, not of their making`() async throws {
    let loop = try EventLoop()
    let order = Shared<[Int]>([])
    await withCheckedContinuation { done in
      loop.execute {
        for delay in [30, 10, 20, 0] {
          loop.schedule(after: .milliseconds(delay)) {
            order.change { $0.append(delay) }
            if delay == 30 { done.resume() }
          }
        }
      }
    }
    #expect(order.current == [0, 10, 20, 30])
    await loop.shutdown()
  }

  @Test func `ten thousand timers fire but for those cancelled`() async throws {
    let loop = try EventLoop()
    let fired = Shared<Set<Int>>([])
    await withCheckedContinuation { done in
      loop.execute {
        let tokens = (0..<10_000).map { number in
          loop.schedule(after: .milliseconds(number % 40)) { fired.change { $0.insert(number) } }
        }
        for (number, token) in tokens.enumerated() where number % 3 == 0 {
          token.cancel()
          token.cancel()
        }
        loop.schedule(after: .milliseconds(60)) { done.resume() }
      }
    }
    #expect(fired.current == Set((0..<10_000).filter { $0 % 3 != 0 }))
    await loop.shutdown()
  }

  @Test func `a timer set by a timer without delay waits for the next turn`() async throws {
    let loop = try EventLoop()
    let isInside = Shared(false)
    let nested = await withCheckedContinuation { done in
      loop.schedule(after: .zero) {
        isInside.change { $0 = true }
        loop.schedule(after: .zero) { done.resume(returning: isInside.current) }
        isInside.change { $0 = false }
      }
    }
    #expect(!nested)
    await loop.shutdown()
  }

  @Test func `a cancelled sleep ends at once with CancellationError`() async throws {
    let loop = try EventLoop()
    let sleeper = Task { try await loop.sleep(for: .seconds(3600)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    try await loop.sleep(until: ContinuousClock.now - .seconds(1))
    await loop.shutdown()
  }

  @Test func `durations become nanoseconds without trapping`() {
    #expect(Duration.seconds(-1).nanosecondsClamped == 0)
    #expect(Duration.milliseconds(1500).nanosecondsClamped == 1_500_000_000)
    #expect(Duration.seconds(Int64.max).nanosecondsClamped == .max)
  }
}
