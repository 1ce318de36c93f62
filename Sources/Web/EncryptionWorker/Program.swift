import CPrimitives
import Olm

/// A Worker has one thread.
nonisolated(unsafe) private var desk = WorkerDesk(random: .system)

#if arch(wasm32)
  @_extern(wasm, module: "host", name: "post")
  private func hostPost(_ bytes: UnsafePointer<UInt8>?, _ count: Int32)

  /// Seeds the hash tables. In the place of the C library's, which brings assertions, formatted output and files along.
  @_cdecl("arc4random_buf")
  func fillWithRandomBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) { primitives_random(bytes, count) }
#else
  private func hostPost(_ bytes: UnsafePointer<UInt8>?, _ count: Int32) {}
#endif

@_expose(wasm, "alloc")
@_cdecl("martlet_encryption_alloc")
public func allocate(_ count: Int32) -> UnsafeMutableRawPointer { .allocate(byteCount: Int(max(count, 1)), alignment: 8) }

/// Takes a message of the page (`EncryptionRequest`), and the memory that it lies in.
@_expose(wasm, "take")
@_cdecl("martlet_encryption_take")
public func take(_ bytes: UnsafeMutableRawPointer, _ count: Int32) {
  let message = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  bytes.deallocate()
  for report in desk.take(message) { report.withUnsafeBufferPointer { hostPost($0.baseAddress, Int32($0.count)) } }
  // The page has something to do now.
  desk.workAhead()
}

@main
struct Program {
  static func main() {}
}
