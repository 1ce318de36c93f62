import Messenger
import WebHost

/// The page has one thread.
nonisolated(unsafe) private var frame: ElementFrame?

/// Called by the host once the program is loaded. `messenger.html?NAME` opens the channel NAME to the script beside it.
@_expose(wasm, "start")
@_cdecl("martlet_element_start")
public func start() { frame = ElementFrame(channelName: Host.query) }

@main
struct Program {
  static func main() {}
}
