import WebHost

/// The page has one thread.
nonisolated(unsafe) private var desk: SessionDesk?

/// Called by the host once the program is loaded.
@_expose(wasm, "start")
@_cdecl("martlet_call_start")
public func start() { desk = SessionDesk() }

@main
struct Program {
  static func main() {}
}
