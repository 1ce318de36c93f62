import Database
import FilesTesting
import ServerCore
import Testing

@testable import martlet

@Suite("Settings of several nodes")
struct ClusterSettingTests {
  private static let shared = [
    "--database-url=postgres:///a", "--media-s3-endpoint=https://s3.example", "--media-s3-bucket=a", "--media-s3-access-key=b",
    "--media-s3-secret-key=c"
  ]

  private func load(_ flags: [String]) throws -> Configuration {
    try ConfigurationLoader.load(flags: flags, environment: [:], defaultPaths: []).configuration
  }

  private func refusal(_ flags: [String]) -> String {
    do {
      _ = try load(flags)
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  @Test("A node without PostgreSQL, without a bucket or without an address for other nodes is refused with what to do")
  func refusals() {
    let bind = "--cluster-bind=10.0.0.1:8009"
    #expect(refusal([bind] + Self.shared) == "accepted")
    #expect(refusal([bind] + Self.shared.dropFirst()).contains("database.url is not"))
    #expect(refusal([bind, Self.shared[0]]).contains("martlet media copy --to s3"))
    #expect(refusal(["--cluster-node=a"]).contains("cluster.bind is not"))
    #expect(refusal(["--cluster-address=a.example:1"]).contains("cluster.bind is not"))
    #expect(refusal(["--bus-url=nats://a.example:4222"]).contains("cluster.bind is not"))
    #expect(refusal([bind, "--bind=10.0.0.1:8009", "--registration=closed"] + Self.shared).contains("both have 10.0.0.1:8009"))
    #expect(refusal(["--cluster-bind=10.0.0.1:0"] + Self.shared).contains("not allowed for cluster.bind"))
    #expect(refusal([bind, "--cluster-address=0.0.0.0:1"] + Self.shared).contains("not allowed for cluster.address"))
    #expect(refusal([bind, "--cluster-node=a b"] + Self.shared).contains("not allowed for cluster.node"))
  }

  @Test("Other nodes reach a node by what it binds, or by the name of the machine")
  func addresses() throws {
    #expect(try load([]).cluster.configuration() == nil)
    let bound = try #require(
      try load(["--cluster-bind=10.0.0.1:8009", "--cluster-node=a"] + Self.shared).cluster.configuration())
    #expect((bound.name, bound.address) == ("a", "10.0.0.1:8009"))
    let named = try #require(try load(["--cluster-bind=[::]:8009"] + Self.shared).cluster.configuration())
    #expect(named.address == "\(named.name):8009")
    let told = try #require(
      try load(["--cluster-bind=0.0.0.0:8009", "--cluster-address=b.example:1"] + Self.shared).cluster.configuration())
    #expect(told.address == "b.example:1")
  }

  @Test("A node that is stopped goes on for five seconds, a server that has its database alone ends at once")
  func drain() throws {
    #expect(try load([]).drain == 0)
    #expect(try load(["--cluster-bind=10.0.0.1:8009"] + Self.shared).drain == 5)
    #expect(try load(["--cluster-bind=10.0.0.1:8009", "--shutdown-drain-seconds=0"] + Self.shared).drain == 0)
    #expect(refusal(["--shutdown-drain-seconds=61"]).contains("0 to 60"))
  }

  @Test("Nodes agree on what users see and on keys, and differ in addresses, paths and logs")
  func terms() throws {
    let folder = try TemporaryFolder()
    let directory = try DataDirectory(folder.path)
    let terms = try load(Self.shared).terms(in: directory)
    #expect(try load(Self.shared + ["--bind=127.0.0.1:1", "--log-level=trace"]).terms(in: directory) == terms)
    let other = try load(Self.shared + ["--max-upload-bytes=7", "--registration-shared-secret=another secret"]).terms(
      in: directory)
    #expect(other.different(from: terms) == ["max_upload_bytes", "registration_shared_secret"])
    #expect(!"\(other)".contains("another secret"))
    let elsewhere = Self.shared.map { $0.replacing("s3.example", with: "s3.other.example") }
    #expect(try load(elsewhere).terms(in: directory).different(from: terms) == ["media.s3.endpoint"])
    let strange = try TemporaryFolder()
    try SecretFile.write(Array("another key".utf8), to: strange.path + "/call.key")
    let stranger = try load(Self.shared + ["--max-upload-bytes=7"]).terms(in: try DataDirectory(strange.path))
    #expect(stranger.different(from: terms) == ["call.key", "signing.key"])
  }
}
