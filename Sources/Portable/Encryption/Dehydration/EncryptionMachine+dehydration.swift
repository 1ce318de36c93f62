import JSON
import MatrixModel
import Olm

/// The user's dehydrated device: it is made with the recovery key and replaced each week, and its messages are read by the next client that has its
/// key. Source: MSC3814.
extension EncryptionMachine {
  // MARK: Requests

  /// Whether a new device would be signed: others give no keys to one that is not.
  private var signsDehydrated: Bool { dehydrates && identities.own.isVerified && identities.own.holds(.selfSigning) }

  mutating func nextDehydrationAsk(at now: Int64) -> (ask: Ask, purpose: OpenRequests.Purpose)? {
    guard own.isDevicePublished, let step = dehydration.nextStep(canSign: signsDehydrated, at: now),
      dehydrates || { if case .delete = step { true } else { false } }(), let ask = ask(step)
    else { return nil }
    dehydration.isAsking = true
    return (ask, .dehydration(step))
  }

  /// When a new one is due.
  var nextDehydration: Int64? { signsDehydrated ? dehydration.nextUpload : nil }

  private mutating func ask(_ step: Dehydration.Step) -> Ask? {
    switch step {
    case .delete: return Ask(.deleteDehydratedDevice)
    case .find, .compare: return Ask(.getDehydratedDevice)
    case .page:
      guard let reading = dehydration.reading else { return nil }
      return Ask(.getDehydratedDeviceEvents, [reading.device.text], body: reading.body)
    case .upload: return dehydratedDevice().map { Ask(.putDehydratedDevice, body: $0) }
    }
  }

  /// A new device. Nothing of it has to be stored here: it is whole at the server, or not there.
  private mutating func dehydratedDevice() -> [UInt8]? {
    guard let key = dehydration.key, let signer = identities.own.pair(.selfSigning) else { return nil }
    var account = Account(random: &random)
    account.makeOneTimeKeys(OwnKeys.wantedKeys, random: &random)
    account.replaceFallbackKey(random: &random)
    guard let sealed = try? DehydratedAccount(account, with: key, random: &random) else { return nil }
    return OwnKeys.dehydratedUpload(of: account, own.user, sealed, signedBy: signer)
  }

  // MARK: Answers

  /// - Parameter answer: nil if the server said no, as it does where there is nothing.
  mutating func answered(_ step: Dehydration.Step, _ answer: JSON?, at now: Int64) {
    dehydration.isAsking = false
    switch step {
    case .delete: dehydration.deleted()
    case .find: found(answer, at: now)
    case .page: read(answer, at: now)
    case .compare: compare(answer, at: now)
    case .upload: if answer != nil { dehydration.uploaded(at: now) } else { dehydration.uploadRefused(at: now) }
    }
  }

  private mutating func found(_ answer: JSON?, at now: Int64) {
    guard let answer, let key = dehydration.key, dehydration.isUnread else { return dehydration.endReading(at: now) }
    do throws(RehydrationFailure) {
      dehydration.reading = try Rehydration(answer, of: own.user, with: key)
    } catch { dehydration.endReading(error, at: now) }
  }

  private mutating func compare(_ answer: JSON?, at now: Int64) {
    guard let answer, let key = dehydration.key else { return dehydration.compared(nil, at: now) }
    do throws(RehydrationFailure) {
      _ = try Rehydration(answer, of: own.user, with: key)
      dehydration.compared(nil, at: now)
    } catch { dehydration.compared(error, at: now) }
  }

  private mutating func read(_ answer: JSON?, at now: Int64) {
    guard let answer, var reading = dehydration.reading else { return dehydration.endReading(at: now) }
    let arrivals = reading.read(answer, knowing: tracker, at: now)
    follow(with: .rehydrated(arrivals))
    do throws(RehydrationFailure) {
      // Only with the keys of the last page, in one batch, it is over.
      if try reading.advance(answer) { dehydration.reading = reading } else { dehydration.endReading(at: now) }
    } catch { dehydration.endReading(error, at: now) }
  }

  /// What a page brought; the records of its sessions are loaded.
  mutating func takeRehydrated(_ arrivals: [Arrival], at now: Int64) {
    var changed: [RoomKeys.Name] = []
    for arrival in arrivals {
      switch arrival {
      case .roomKey(let key): changed += keep([key], fromBackup: false, at: now)
      case .offer(let payload): take(offer: payload, at: now)
      case .withheld(let user, let name, let code):
        roomKeys.withhold(name, by: user, code)
        changed.append(name)
      default: break
      }
    }
    dehydration.noteKeys(arrivals.count { if case .roomKey = $0 { true } else { false } })
    readLate(changed, at: now)
  }

  // MARK: The key

  /// What secret storage is to have of it: a new key for an account that has none yet.
  mutating func dehydrationKey() -> Secret? {
    dehydration.key ?? (dehydrates ? random.secret(DehydratedAccount.keyByteCount) : nil)
  }

  /// What views show.
  var dehydrationState: EncryptionState.Dehydration {
    if let reading = dehydration.reading { return .reading(messages: reading.messages, keys: dehydration.keysRead) }
    if dehydration.isUnread, dehydrates { return .reading(messages: 0, keys: 0) }
    return dehydration.madeAt == nil ? .none : .ready(keys: dehydration.keysRead)
  }
}
