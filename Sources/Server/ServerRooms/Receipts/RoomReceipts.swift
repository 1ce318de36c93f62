import MatrixModel

/// The receipts of one room in RAM.
struct RoomReceipts: Sendable {
  private var byUser: [UserID: [Receipt]] = [:]
  /// In order of their positions; replaced ones are dropped now and then.
  private var stream: [Receipt] = []
  private var count = 0
  /// How far members have read, once someone asked how many.
  var index: ReadIndex?

  mutating func insert(_ receipt: Receipt) {
    guard var index, receipt.kind == .read else { return add(receipt) }
    self.index = nil
    let old = publicPositions(of: receipt.user)
    add(receipt)
    index.move(receipt.user, from: old, to: publicPositions(of: receipt.user))
    self.index = index
  }

  private mutating func add(_ receipt: Receipt) {
    var own = byUser.removeValue(forKey: receipt.user) ?? []
    if let index = own.firstIndex(where: { receipt.replaces($0) }) {
      guard own[index].position < receipt.position else {
        byUser[receipt.user] = own
        return
      }
      own[index] = receipt
    } else {
      own.append(receipt)
      count += 1
    }
    byUser[receipt.user] = own
    stream.append(receipt)
    if stream.count > 2 * count + 64 { stream = stream.filter(isCurrent) }
  }

  /// Receipts with positions after `start`, up to and with `end`, that `reader` may see.
  func changes(after start: Int64, upTo end: Int64, for reader: UserID) -> [Receipt] {
    var changes: [Receipt] = []
    for receipt in stream.reversed() {
      if receipt.position <= start { break }
      if receipt.position <= end, receipt.isVisible(to: reader), isCurrent(receipt) { changes.append(receipt) }
    }
    return changes
  }

  func readPositions(of user: UserID, where counts: (Receipt) -> Bool = { $0.kind != .delivered }) -> ReadPositions {
    var positions = ReadPositions()
    for receipt in byUser[user] ?? [] where counts(receipt) { positions.note(receipt) }
    return positions
  }

  private func isCurrent(_ receipt: Receipt) -> Bool {
    byUser[receipt.user]?.contains { $0.position == receipt.position && receipt.replaces($0) } ?? false
  }
}
