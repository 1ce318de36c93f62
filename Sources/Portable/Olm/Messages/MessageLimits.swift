/// How large messages may be. An event of Matrix has at most 64 KiB, so no honest message comes near.
package enum MessageLimits {
  package static let messageBytes = 256 * 1024
  package static let plaintextBytes = 128 * 1024
}
