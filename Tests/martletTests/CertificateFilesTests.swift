import EventLoop
import FilesTesting
import Glibc
import MediaRouter
import Synchronization
import TLSTesting
import Testing

@testable import martlet

@Suite("The relay's certificate: settings and files")
struct CertificateFilesTests {
  private static let host = "turn.example.org"

  /// A certificate and a key that others put there.
  private final class Files {
    let folder: TemporaryFolder
    var certificate: String { folder.path + "/fullchain.pem" }
    var key: String { folder.path + "/privkey.pem" }

    init(_ pem: TestCertificate) throws {
      folder = try TemporaryFolder()
      put(pem)
    }

    func put(_ pem: TestCertificate) {
      write(pem.chain, to: certificate)
      write(pem.key, to: key)
    }

    /// In one step, as who replaces a file does.
    func write(_ bytes: [UInt8], to path: String) {
      let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      precondition(file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count)
      close(file)
      precondition(rename(path + ".new", path) == 0)
    }

    func read(host: String = CertificateFilesTests.host) throws -> CertificateFiles {
      try CertificateFiles(certificate: certificate, key: key, host: host)
    }

    func refusal(host: String = CertificateFilesTests.host) -> String {
      do {
        _ = try read(host: host)
        return ""
      } catch {
        return "\(error)"
      }
    }
  }

  @Test("Files that are of no use are named, with the reason")
  func refusals() throws {
    let (pem, other) = (TestCertificate(Self.host), TestCertificate(Self.host))
    let files = try Files(pem)
    #expect(files.refusal() == "")
    #expect(
      files.refusal(host: "a.example")
        == "cannot use turn.tls_certificate \(files.certificate): the certificate is not for the host a.example")
    files.write(other.key, to: files.key)
    #expect(files.refusal() == "cannot use turn.tls_key \(files.key): it is not the key of the certificate")
    files.write(TestCertificate(Self.host, password: "swordfish").key, to: files.key)
    #expect(files.refusal().hasPrefix("cannot use turn.tls_key \(files.key): there is no private key in it"))
    unlink(files.key)
    #expect(files.refusal() == "cannot read turn.tls_key \(files.key): No such file or directory")
    files.write([], to: files.certificate)
    files.write(pem.key, to: files.key)
    #expect(files.refusal().hasPrefix("cannot use turn.tls_certificate \(files.certificate): there is no certificate in it"))
    unlink(files.certificate)
    #expect(files.refusal() == "cannot read turn.tls_certificate \(files.certificate): No such file or directory")
  }

  @Test("A look tells once what is new, and once what is wrong; meanwhile the old certificate stays")
  func looks() throws {
    let pem = TestCertificate(Self.host)
    let files = try Files(pem)
    var watched = try files.read()
    let first = watched.current.digest
    func look() -> String {
      switch watched.look() {
      case .none: "none"
      case .new: "new"
      case .trouble: "trouble"
      }
    }
    #expect(look() == "none")
    let renewed = TestCertificate(Self.host)
    files.write(renewed.chain, to: files.certificate)
    // The key has not come yet.
    #expect([look(), look()] == ["trouble", "none"] && watched.current.digest == first)
    files.write(renewed.key, to: files.key)
    #expect([look(), look()] == ["new", "none"] && watched.current.digest != first)
    unlink(files.key)
    #expect([look(), look()] == ["trouble", "none"])
    files.put(pem)
    #expect([look(), look()] == ["new", "none"] && watched.current.digest == first)
  }

  @Test("Who follows the files is handed each new certificate")
  func following() async throws {
    let files = try Files(TestCertificate(Self.host))
    let watched = try files.read()
    let found = Mutex<[[UInt8]]>([])
    let pool = try BlockingPool(threads: 1)
    let task = Task {
      await watched.follow(every: .milliseconds(5), on: pool) { new in found.withLock { $0.append(new.digest) } }
    }
    for count in 1...2 {
      let pem = TestCertificate(Self.host)
      files.put(pem)
      while found.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(5)) }
      #expect(try files.read().current.digest == found.withLock { $0.last })
    }
    task.cancel()
    await task.value
    await pool.shutdown()
    #expect(found.withLock { Set($0).count == 2 && $0.count == 2 })
  }

  private func contradiction(_ change: (inout Configuration) -> Void) -> String? {
    var configuration = Configuration()
    configuration.serverName = "example.org"
    configuration.turn.bind = BindAddress(host: "0.0.0.0", port: 3_478)
    configuration.turn.tls.bind = BindAddress(host: "0.0.0.0", port: 5_349)
    configuration.turn.tls.certificate = "/c.pem"
    configuration.turn.tls.key = "/k.pem"
    change(&configuration)
    return configuration.contradiction
  }

  @Test("Of the settings for TLS all or none are given, and what is missing is named")
  func missing() {
    #expect(contradiction { _ in } == nil)
    #expect(contradiction { $0.turn.tls.bind = nil } == "turn.tls_certificate is set, but turn.tls_bind is not")
    #expect(contradiction { $0.turn.tls.key = nil } == "turn.tls_bind is set, but turn.tls_key is not")
    #expect(
      contradiction { ($0.turn.tls.certificate, $0.turn.tls.key) = (nil, nil) }
        == "turn.tls_bind is set, but turn.tls_certificate and turn.tls_key are not")
    #expect(contradiction { $0.turn.tls = .init(host: "turn.example.org") } == "turn.tls_host is set, but turn.tls_bind is not")
    #expect(contradiction { $0.turn.bind = nil } == "turn.tls_bind is set, but turn.bind is not")
    #expect(contradiction { $0.turn.tls = .init() } == nil)
  }

  @Test(
    "By TLS clients are sent to a name: the server's, or the one that is set",
    arguments: [
      ("example.org", nil, nil), ("example.org:8448", nil, nil), ("192.0.2.1", nil, "turn.tls_host"),
      ("192.0.2.1:8448", nil, "turn.tls_host"), ("[2001:db8::1]:8448", nil, "turn.tls_host"),
      ("[2001:db8::1]", nil, "turn.tls_host"), ("192.0.2.1", "turn.example.org", nil)
    ] as [(String, String?, String?)])
  func host(_ serverName: String, _ host: String?, _ word: String?) {
    let found = contradiction {
      $0.serverName = serverName
      $0.turn.tls.host = host
    }
    #expect((found == nil) == (word == nil) && found?.contains(word ?? "") != false)
  }

  @Test("Clients are told of TLS by the host's name and the port that was bound, besides the others")
  func addresses() async throws {
    let files = try Files(TestCertificate(Self.host))
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    configuration.turn.bind = BindAddress(host: "127.0.0.1", port: 0)
    configuration.turn.tls.bind = BindAddress(host: "127.0.0.1", port: 0)
    configuration.turn.tls.certificate = files.certificate
    configuration.turn.tls.key = files.key
    configuration.turn.tls.host = Self.host
    let relay = try #require(try configuration.ownRelay(in: DataDirectory(folder.path)))
    let (port, secure) = (relay.worker.address.port, try #require(relay.worker.secureAddress).port)
    #expect(
      relay.server.uris == [
        "turn:127.0.0.1:\(port)?transport=udp", "turn:127.0.0.1:\(port)?transport=tcp",
        "turns:\(Self.host):\(secure)?transport=tcp"
      ])
    // The port is taken now, and the error names the setting.
    configuration.turn.tls.bind = BindAddress(host: "127.0.0.1", port: secure)
    do {
      _ = try configuration.ownRelay(in: DataDirectory(try TemporaryFolder().path))
      Issue.record("the port was bound twice")
    } catch {
      #expect("\(error)".contains("turn.tls_bind") && "\(error)".contains("127.0.0.1:\(secure)"))
    }
  }
}
