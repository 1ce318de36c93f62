import Addresses
import Glibc
import MediaRouter

/// A router alone, for tests with real peers: one request a line on standard input, one answer a line on standard output, both
/// with `\n` of SDP as `|`.
///
///     publish NAME OFFER              the answer; the tracks of the offer are NAME's from then on
///     subscribe NAME PUBLISHER OFFER  the answer with the publisher's tracks
///     layer NAME SPATIAL TEMPORAL     at most these layers of video
///     events                          what the router told since the last time
do {
  let text = CommandLine.arguments.dropFirst().first ?? "127.0.0.1"
  guard let ip = IPAddress(text) else { fatalError("not an address: \(text)") }
  let peer = try RouterPeer(TransportAddress(ip, port: UInt16(CommandLine.arguments.dropFirst(2).first ?? "0") ?? 0))
  while let line = readLine() {
    let answer = Array((peer.answer(to: line) + "\n").utf8)
    guard write(STDOUT_FILENO, answer, answer.count) == answer.count else { break }
  }
} catch {
  fatalError("\(error)")
}
