import Messenger
import WebHost

/// The page has one thread.
nonisolated(unsafe) private var tabs: Tabs?

/// Called by the host once the program is loaded.
@_expose(wasm, "start")
@_cdecl("martlet_start")
public func start() {
  let started = Tabs(dom: BatchDOM())
  tabs = started
  started.start()
}

@main
struct Program {
  static func main() {}
}
