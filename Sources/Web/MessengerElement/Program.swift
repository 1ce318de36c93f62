import Messenger
import WebHost

/// The page has one thread.
nonisolated(unsafe) private var frame: ElementFrame?

/// Called by the host once the program is loaded.
@_expose(wasm, "start")
@_cdecl("martlet_element_start")
public func start() { frame = ElementFrame() }

@main
struct Program {
  static func main() {}
}
