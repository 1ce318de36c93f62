import Glibc

/// Opens sockets that listen on one address together, one a loop: the kernel spreads the connections.
enum ListeningSocket {
  /// - Returns: one descriptor for each loop and the address with its real port.
  /// - Throws: `BindError`, also when another process listens there: SO_REUSEPORT alone would share the port with it.
  static func open(_ address: SocketAddress, count: Int) throws(BindError) -> (descriptors: [Int32], bound: SocketAddress) {
    if address.port != 0 { Glibc.close(try bind(address, sharesPort: false)) }
    let first = try bind(address, sharesPort: true)
    var descriptors = [first]
    do throws(BindError) {
      let bound = try localAddress(of: first, wanted: address)
      for _ in 1..<max(count, 1) { descriptors.append(try bind(bound, sharesPort: true)) }
      return (descriptors, bound)
    } catch {
      for descriptor in descriptors { Glibc.close(descriptor) }
      throw error
    }
  }

  private static func bind(_ address: SocketAddress, sharesPort: Bool) throws(BindError) -> Int32 {
    let family = address.isIPv4 ? AF_INET : AF_INET6
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw failure(address) }
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    if sharesPort { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, size) }
    if !address.isIPv4 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
    guard address.withSystemAddress({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      let error = failure(address)
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func localAddress(of descriptor: Int32, wanted: SocketAddress) throws(BindError) -> SocketAddress {
    var storage = sockaddr_storage()
    let bound = withUnsafeMutableBytes(of: &storage) { bytes -> SocketAddress? in
      let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      var count = socklen_t(bytes.count)
      return getsockname(descriptor, address, &count) == 0 ? SocketAddress(system: address, count: Int(count)) : nil
    }
    guard let bound else { throw failure(wanted) }
    return bound
  }

  private static func failure(_ address: SocketAddress) -> BindError {
    BindError(address: address.description, reason: String(cString: strerror(errno)))
  }
}
