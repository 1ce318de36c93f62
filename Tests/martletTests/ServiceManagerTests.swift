import FilesTesting
import Glibc
import Shell
import Testing

@Suite("Service manager")
struct ServiceManagerTests {
  /// Binds a datagram socket to `name`, whose first byte is 0 if it is abstract, lets the service speak, and returns what arrives.
  private static func heard(at name: [UInt8], _ speak: () -> Void) -> String? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard status == 0 else { return nil }
    speak()
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }

  @Test("systemd hears at the path, or the abstract name, of NOTIFY_SOCKET that the service is ready, and that it stops")
  func states() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/notify"
    let service = ServiceManager(environment: ["NOTIFY_SOCKET": path])
    #expect(Self.heard(at: Array(path.utf8)) { service?.tell(.ready) } == "READY=1")
    let name = "martlet-test-\(getpid())"
    let manager = ServiceManager(environment: ["NOTIFY_SOCKET": "@" + name])
    #expect(Self.heard(at: [0] + Array(name.utf8)) { manager?.tell(.stopping) } == "STOPPING=1")
  }

  @Test("Without a usable NOTIFY_SOCKET there is no service manager, and one that has gone is no trouble")
  func none() {
    #expect(ServiceManager(environment: [:]) == nil)
    for path in ["", "@", "notify", "/" + String(repeating: "x", count: 200)] {
      #expect(ServiceManager(environment: ["NOTIFY_SOCKET": path]) == nil)
    }
    ServiceManager(environment: ["NOTIFY_SOCKET": "/no/such/socket"])?.tell(.ready)
  }
}
