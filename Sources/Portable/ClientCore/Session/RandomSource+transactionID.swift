import JSON
import MatrixModel

extension RandomSource {
  mutating func transactionID(at now: Int64) -> TransactionID {
    TransactionID(trusted: ByteString("m" + String(now) + "." + String(next(), radix: 16)))
  }
}
