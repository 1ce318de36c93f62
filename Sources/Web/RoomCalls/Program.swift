import WebHost

/// The page has one thread.
nonisolated(unsafe) private var desk: CallDesk<BatchDOM>?

/// Called by the host once the program is loaded.
@_expose(wasm, "start")
@_cdecl("martlet_room_calls_start")
public func start() {
  let made = CallDesk(BatchDOM())
  desk = made
  made.start()
}

@main
struct Program {
  static func main() {}
}
