import Messenger

#if !arch(wasm32)
  import Glibc
#endif

/// What the host says when it calls back.
struct HostEvent {
  var code: Int32
  var x: Double
  var y: Double
  /// Valid during the call only.
  var bytes: UnsafeRawBufferPointer

  var text: String { String(decoding: bytes, as: UTF8.self) }
  var array: [UInt8] { [UInt8](bytes) }
}

/// The closures the host knows by number. A number is never used twice, so a late call meets nothing instead of a stranger.
struct Callbacks {
  private var closures: [Int32: (HostEvent) -> EventReply] = [:]
  private var last: Int32 = 0

  var count: Int { closures.count }

  mutating func add(_ closure: @escaping (HostEvent) -> EventReply) -> Int32 {
    last += 1
    closures[last] = closure
    return last
  }

  mutating func remove(_ id: Int32) { closures[id] = nil }

  subscript(id: Int32) -> ((HostEvent) -> EventReply)? { closures[id] }
}

#if arch(wasm32)
  /// Guarded by the page having one thread.
  nonisolated(unsafe) var callbacks = Callbacks()
#else
  /// Natively tests run side by side.
  let callbacks = SharedCallbacks()

  final class SharedCallbacks: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var callbacks = Callbacks()

    fileprivate init() { pthread_mutex_init(mutex, nil) }

    var count: Int { locked { $0.count } }
    func add(_ closure: @escaping (HostEvent) -> EventReply) -> Int32 { locked { $0.add(closure) } }
    func remove(_ id: Int32) { locked { $0.remove(id) } }
    subscript(id: Int32) -> ((HostEvent) -> EventReply)? { locked { $0[id] } }

    private func locked<Result>(_ body: (inout Callbacks) -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body(&callbacks)
    }
  }
#endif

/// Registers a closure that is called many times, until the number is released.
func register(_ closure: @escaping (HostEvent) -> Void) -> Int32 {
  callbacks.add { event in
    closure(event)
    return .pass
  }
}

/// Registers a closure that is called once.
func registerOnce(_ closure: @escaping (HostEvent) -> Void) -> Int32 {
  var id: Int32 = 0
  id = callbacks.add { event in
    callbacks.remove(id)
    closure(event)
    return .pass
  }
  return id
}

/// How many callbacks wait; a figure for leak checks.
public func liveCallbackCount() -> Int { callbacks.count }

@_expose(wasm, "dispatch")
@_cdecl("martlet_dispatch")
public func dispatch(
  _ id: Int32, _ code: Int32, _ x: Double, _ y: Double, _ p: UnsafeMutableRawPointer?, _ n: Int32
) -> Int32 {
  guard let closure = callbacks[id] else { return 0 }
  let event = HostEvent(code: code, x: x, y: y, bytes: UnsafeRawBufferPointer(start: p, count: p == nil ? 0 : Int(n)))
  return closure(event).rawValue
}

@_expose(wasm, "alloc")
@_cdecl("martlet_alloc")
public func allocate(_ n: Int32) -> UnsafeMutableRawPointer { .allocate(byteCount: Int(max(n, 1)), alignment: 8) }

@_expose(wasm, "dealloc")
@_cdecl("martlet_dealloc")
public func deallocate(_ p: UnsafeMutableRawPointer) { p.deallocate() }

#if arch(wasm32)
  /// Seeds the hash tables. In the place of the C library's, which brings assertions, formatted output and files along.
  @_cdecl("arc4random_buf")
  func fillWithRandomBytes(_ p: UnsafeMutablePointer<UInt8>, _ count: Int) { hostRandom(p, Int32(count)) }
#endif
