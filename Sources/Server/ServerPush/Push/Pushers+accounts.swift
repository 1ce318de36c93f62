import Database
import JSON
import MatrixModel
import Outbound
import ServerAccounts

/// Pushers go with the devices that set them, with their e-mail addresses, and with the account.
extension Pushers: AccountObserver {
  package func removed(devicesOf userID: UserID, where isRemoved: (DeviceID) -> Bool, in tx: WriteTransaction) throws {
    let pushers = try tx.all(
      "SELECT app_id, pushkey, device_id FROM pusher WHERE user_id = $1 AND device_id IS NOT NULL", userID
    ) { row in
      (
        Pusher.ID(userID: userID, appID: ByteString(row.text(0)), pushkey: ByteString(row.text(1))),
        row.identifier(2, as: DeviceID.self)
      )
    }
    for (id, deviceID) in pushers where isRemoved(deviceID) { try remove(tx, id) }
  }

  package func removed(_ address: MailAddress, of userID: UserID, in tx: WriteTransaction) throws {
    try remove(tx, Pusher.ID(address, of: userID))
  }

  package func deactivated(_ userID: UserID, in tx: WriteTransaction) throws {
    let pushers = try tx.all("SELECT app_id, pushkey FROM pusher WHERE user_id = $1", userID) { row in
      Pusher.ID(userID: userID, appID: ByteString(row.text(0)), pushkey: ByteString(row.text(1)))
    }
    for id in pushers { try remove(tx, id) }
  }
}
