import Messenger
import WebHost

// The messenger alone in a page: 100,000 messages for run.py, or (with ?demo) something of everything, (with ?chat) a text chat, or (with
// ?services) a check of the host. Exports begin with "benchmark_"; run.py calls them.

/// The page has one thread.
nonisolated(unsafe) var timeline: Timeline<BatchDOM>?
nonisolated(unsafe) var demo: Demo?
nonisolated(unsafe) var chat: TextChat<BatchDOM>?
nonisolated(unsafe) var hostCheck: HostCheck?
nonisolated(unsafe) var mutator = Mutator()
nonisolated(unsafe) var prepared: [TimelineRow] = []
nonisolated(unsafe) var newer = Generator(seed: 42, timeMilliseconds: 1_767_225_600_000, firstID: 1_000_000)
nonisolated(unsafe) var older = Generator(seed: 7, timeMilliseconds: 1_700_000_000_000, firstID: 1)

@_expose(wasm, "start")
@_cdecl("messenger_benchmark_start")
public func start() {
  let dom = BatchDOM()
  if Host.query.hasSameBytes(as: "demo") {
    demo = Demo(dom: dom)
  } else if Host.query.hasSameBytes(as: "chat") {
    chat = makeChat(dom: dom)
  } else if Host.query.hasSameBytes(as: "services") {
    hostCheck = HostCheck(dom: dom)
  } else {
    let made = Timeline(dom: dom, options: Host.timelineOptions())
    dom.append(made.root, to: .root)
    timeline = made
  }
  dom.flush()
}

@_expose(wasm, "benchmark_prepare")
@_cdecl("messenger_benchmark_prepare")
public func prepare(_ count: Int32) { prepared = newer.rows(Int(count)) }

@_expose(wasm, "benchmark_load")
@_cdecl("messenger_benchmark_load")
public func load() {
  timeline?.load(prepared, head: .hidden)
  prepared = []
}

@_expose(wasm, "benchmark_prepend")
@_cdecl("messenger_benchmark_prepend")
public func prepend(_ count: Int32) { timeline?.apply([.prepend(older.rows(Int(count)))]) }

@_expose(wasm, "benchmark_append")
@_cdecl("messenger_benchmark_append")
public func append() { timeline?.apply([.append([newer.next()])]) }

/// No change, after which the page is as high as everything is: while one scrolls it is not.
@_expose(wasm, "benchmark_settle")
@_cdecl("messenger_benchmark_settle")
public func settle() { timeline?.apply([.append([])]) }

/// One random change around the reader, never of the row in view that must stand still.
@_expose(wasm, "benchmark_mutate")
@_cdecl("messenger_benchmark_mutate")
public func mutate() {
  if let timeline { mutator.mutate(timeline, &newer, &older) }
}

@main
struct Program {
  static func main() {}
}
