// Made by keep-vectors.py.

// swift-format-ignore
enum KeptVectors {
  /// Of mautrix: a key of secret storage, as the user writes it down, and a secret under it.
  static let storageKey = #"{"algorithm": "m.secret_storage.v1.aes-hmac-sha2", "iv": "rOJJCCnDc9HgJk6UR9lmmw", "mac": "OAfwfRxnqomyqN9ycjIU9Pz9EDouBQMyC4de4eyXuvk"}"#
  static let recoveryKey = "EsUJ ENi2 zGaM Q3RX wt1g 3sJ2 RaxS vhhZ HJRA W8pQ zQCD c8M6"
  static let storedSecret = #"{"encrypted": {"plain": {"ciphertext": "1mrAaS/i3xUYVuUM8tC+DmiG9qsNCjyKfjJ5uWNBbmO0SVqWonKJDKp7RA", "iv": "L5KOUIsUvNtSh+XkWo6kyw", "mac": "PCxbsuyQ17AkhfErnkH/8RTHBRiQtNcIVXBeiEOPSxc"}}}"#
  static let secret = "WIHMffsmjIaZIpLNOzB9ztDcISW6B/5nGw58zw+J+4c"

  /// The same, of the passphrase "correct horse".
  static let passphraseKey = #"{"algorithm": "m.secret_storage.v1.aes-hmac-sha2", "iv": "fYXo4D7xp+qETJ2rbj75Yw", "mac": "ogdpTLLtw687hyDEdTCePAV+4We477em365FK2eHEZw", "passphrase": {"algorithm": "m.pbkdf2", "iterations": 1000, "salt": "salt and pepper", "bits": 256}}"#
  static let passphraseRecoveryKey = "EsTD UA2s tPBr 5gyn cpuL sxGD SWNi 4CJR A1ek 9B4Q ZRUs mEUy"
  static let passphraseStoredSecret = #"{"encrypted": {"derived": {"ciphertext": "BWZZ9LH7WRRaU0x76OswZWI+VW6uem1+qxvfM0UxJCYo+ZYEMyH/uEl62A", "iv": "cha5FuJeiZ9NVG0coBEruw", "mac": "n32xmgqW0aOmzIz6T5bMXpPPHX8QKCwy3VihoKxQrK4"}}}"#
  static let passphraseSecret = "R/c65IGfUbCOk6plaO2q8Nt9EY8mIqZrWmrmdyTt4D8"

  /// Of vodozemac: a session in a backup, and a message that it reads.
  static let backupSecret = "oIIkRYIrgXCkaUZ2jm3RV+KnorpRMzLaCRVdTTlTo24"
  static let backupKey = "IAuKjaL//3tU8b5Y0QdxZOr9f3bQHeRTkeYLfsc7vX8"
  static let backedUpSessionID = "0lRU1pKuhs17bor98MwpCYRihrcaHNIUow2Iyo+frB0"
  static let backedUpSession = #"{"first_message_index": 0, "forwarded_count": 0, "is_verified": false, "session_data": {"ephemeral": "if/WW2JP16HbhRbLglCh6LsN30WU9QHY4w3464mvpzk", "ciphertext": "Sw3kPxo0nzXKzLYG7anv8mrzaEq1p5LNB1kWgNP7Z4w4av/VfBrrQs/oijABD8m+zzxMNOu7tB6Z7IyZqqrkKKrmyGn6Fgf+pQYf81GKRAR27MZQc11DSxi6XV3YheFPdUuzRlRluyBuwydCiZrAK6/qPLJtMgpvMUWjnouIEN93qcqOntSlTKooiy9olJDiIYs7Hpu+syiY0LSkR+8fCSmGUojP/OOyr30J1peOIAwjpQ80Yfsw/0Xa3VWNTgTbMOEgaW6WgyMF+LSKsfH+qKLbW9CDNZ23eEqOLGb/Vwz0zhSoxVDoM7CNscU49rJpuuI//eLcS5bSqQ+2VAjoo33Bknzn1fBLRjQ/TsNq1VhXQOMfNOW3isN5eihEjvzg6Nrm8vWxn3BpL31LxL8yZyoBybD/HHE/7zwZfcI8DpCbEQrgM1ypHWpS8tlaaLYzeC8hIk7eG7iOcrRPVwTc2BH/x7uOKegq/C/AyYAnuY4DwOCQeM/BRHfu7Avz10AgQ1bp+d+RbtoePQ0tAc8oYSxvfso0Gzk/qx/QYMfEbtTZXd82NwuHiiJ6wGTuZo5bWyjwzZ9MntdBDllCUVCSKnU3a4JOFuBFkF/DJ7gmCM0", "mac": "IqPUnmr4a78"}}"#
  static let backedUpSender = "sTW+PpWcUNacQXQB5VNyetYGNY73v332qlk0AM13igE"
  static let backedUpMessage = "AwgAEmAEOf40ogfRff4tAbYQpXNUp9fF5LbLDLL0JlOCVeQGaLv3nmdJ316XUdlmE5muA+zNJZ4Rrpnt72OHwsC/P2gbSJ1tCoZqZQiyUZAdqb7PrPcghArOr8Ptv3x15bIawwLwWicD5nwt4r7p318zU756FP2jVKq2clo2W4lLfYggxW2fPFbcXnoQOR5dB2dO8QYUx7l02Qat+T9bix6XOEQilpbbRwbJPQ0"
}
