// Made by keep-vectors.py.

// swift-format-ignore
enum KeptVectors {
  /// Of mautrix: a key of secret storage, as the user writes it down, and a secret under it.
  static let storageKey = #"{"algorithm": "m.secret_storage.v1.aes-hmac-sha2", "iv": "gAyhdyRk4hZutwNTv8bw4w", "mac": "RYP24ygUhF8HRRU1c28ZcslFBVcxkiMkvf7jHGW0/ik"}"#
  static let recoveryKey = "EsT7 H7u1 SgDp MnMd 3kVM rmth KRdD phUw qUg6 79ya mLnx VECc"
  static let storedSecret = #"{"encrypted": {"plain": {"ciphertext": "TPIzg7EAhYxX6aB3cKuQ/JBkyxxbJGrafCzGET7EnAlSLR+0dBHc7sm9IQ", "iv": "MbiNf6LVV6YJbiNade3BKQ", "mac": "vdO0jOxsA1JTwLHD5FzIbPlDfX6tmKlajY9mya4Ax4k"}}}"#
  static let secret = "6epVps68BDNyCBqBjvXOFMymRKCOdDjKvXe7AtFx0tg"

  /// The same, of the passphrase "correct horse".
  static let passphraseKey = #"{"algorithm": "m.secret_storage.v1.aes-hmac-sha2", "iv": "9kYGydUAhFUOncbDdSwHhA", "mac": "PIDtS8hJd84XTIII2UA2qRsdzzEGCQ34Os/RxmV2A5c", "passphrase": {"algorithm": "m.pbkdf2", "iterations": 1000, "salt": "salt and pepper", "bits": 256}}"#
  static let passphraseRecoveryKey = "EsTD UA2s tPBr 5gyn cpuL sxGD SWNi 4CJR A1ek 9B4Q ZRUs mEUy"
  static let passphraseStoredSecret = #"{"encrypted": {"derived": {"ciphertext": "xHkTcGlvteUuVH2+A4ZAcm+q5nNDvOLFpe66Sc3zGql36z+rtCnfPGdCmw", "iv": "md4rxoOhnY8reiDfK28ZbQ", "mac": "fvGdVuequiwX3kVTd1rHxXnN26Ub3quOlgb+UtJm+W4"}}}"#
  static let passphraseSecret = "mKSxdvqLLwGqorTj6FI7EMsihjYJUcGRUST10WDkliU"

  /// Of vodozemac: a session in a backup, and a message that it reads.
  static let backupSecret = "wMfgFJKZC/7iTQ819kbJMbPMBcFfz87R1CwPs8f6P3o"
  static let backupKey = "VgwKwerLOMjl4d0Cw4UvA1EXZf/VZcBgUN02L1emNlo"
  static let backedUpSessionID = "Hp/oFdQbhXteFapQOwDiQ/VvJZFX82vFEl8tQWpr9oU"
  static let backedUpSession = #"{"first_message_index": 0, "forwarded_count": 0, "is_verified": false, "session_data": {"ephemeral": "JD3esOQjyEBNt7N1qQlQM5Ixuznwqp3M57hOHwqUQVE", "ciphertext": "+PCiTHqDc3fMJToYgZMrR+lcuEmtjCyMrz1eH6rq3O2AzBEQ62GhVxkLKlyFQXyLNtzgoYLrmNcw9TLVPJDELI7oKtQoD32tFEBhbg53pwlGJihNQJ6VNd7rd1UYFbK59+PuwGM2qzPsUpkYD08lzfAuGZykb+00nabSHQOr6Y5vJoSiR6tkCpNEW6xowJbMQ8ewhw8aoeFDK9hxm34oc8JbX5sN9Ub6zNKiICIIza/WIQxp8syg71Xj9yC5nNW1camwyTVWBaWQyXtIEApz3cIi4NEc5OmkNhmnOCJOM4U1L2r4FbidVweoYvH1Zwm+yr8DXwT/Q1gAMu6NnlV/afLrj4GnYb5dU2wG8DrzsRlVIcxtV5nC/JvkBvUZlCHBhn+2nAjNClGwMQ7JREJYRBXxwbW4DcJutNv4ZP690CXF2kAG8QcWYOzIZVKYMgSOjAL3UOWBxMBpIUMsQzhMcVoCq0GZwNbLTTVXHEpQ4kBjyYNSEUxSFIJYmcJr9bryPFGjvBNDjQ2FtDcS49WaSBHr0LWpkD9qKSTlmvWmpZVgfDH5kSv5vMeK3nw0OCvKBHpa5ZF/H6d8/6f9g4X99nsKbbAWXzzSSTwqTtkIbIQ", "mac": "2r51WYlO4CA"}}"#
  static let backedUpSender = "sTW+PpWcUNacQXQB5VNyetYGNY73v332qlk0AM13igE"
  static let backedUpMessage = "AwgAEmCD7Kcxt3InsJFxdNR1sHcqP7AEjcgEOt1t0KIm1OcvznE/gM69DgwRDC5rKKL5HQkoL8lbfecSpVUMjTCENXVhnjwkv1eGbZpD9cDDUk84QHgN29S7qeKuWkneU80VgPgorROQyO0qRv45nLa0ZfCQ7c6SoRr2NGa07ZGeThpOrgyBU9O0f5/mFDXWtHcqYP8Bbn2Tbp4JGfa95wJLLVY6aL9RPRKRegI"

  /// Of matrix-nio: a key file with the passphrase "correct horse", and a message that its session reads.
  static let keyFile = """
    -----BEGIN MEGOLM SESSION DATA-----
    AUSdsUy9Rzqv71VDnCP0mEjDtRl6WhNKkjurYhm0cJSPAAAD6CqcO+onv9xaeoIRE7ivPqFc3/1uARpWmbfUE/nBPet4VKgbGUi674jvKDrR4M1oC1jqnjJbSlzGa3uxxuz/kPIhHBnJDLgW/aBqXtiY2qds+F4Biwe5UOmsp+ufSewjv2XdqHD9KlSC2PbBMRnM8G7RZTCvwVAYcGRH2/PppdPg0OBVZt0HdzQqR/xhmgPBuQeS0FTDA9Dm+iNXVlwecx+uKC7gYnTpJqA+mKi6YWfWxZHmK2Bn5FnloXQ0C8NYMaXioX7xAayvVcMFshp/89ixzlrMHkhvjMFUsQwVjv7OjUHd934LAu5/IBYu0JiZPjRpAEGEMUvbqPBJNfOgucpt4I7riXwosk80dOC7Wx2jt+XcKtEmXTJwkWGwD7FA8h8FFWddF/0u+Tmjlq7YhWqZdUrW9B21MbqvZyyqMs5UyL0mSjNe8FbQBKqxGoORIqO+FqF/JPMq3Zly8jF47ihUrt+CIH8WuhzBSU4mYbTtCj5I8mW500zlCLS2VlHN2JB4Y6g1cGKqu0RFuTSaceB7cA4Ye8Y4L8D0Tb4wbYx8fsHQfUxtNtiCU0JHzHxTl6KEtXf5QwLBBnnulOcFVpQKqWFmNfGY3zVRrpagna+mD/jSJv9dBIhi+STGC4EdOF0uDTAeI+6vQDN7IHczjdNu5Su22wEkPVBi5UbLLw+bG57z8KkIj9DNee9m7O8kt2FSkE6dV0jdSajmMJyWDpoKMZEggM34+IiJniW32Vjq5WN1opTozCZkFI+oQq9JCyZHjsOXLfAq9g
    -----END MEGOLM SESSION DATA-----
    """
  static let keyFileSessionID = "b3WRCz5nqMhh61IUqUo7obJ1HSfxtOazjjuap8/JCQc"
  static let keyFileMessage = "AwgAEmD3hsz1uGhsBujorNA/OSRAyYRQ0PjvmF0Tn+ATSjnCQ85qW1p37zz0LGUfOO9ZYCWipkEI93MTaxKuHK51ZTWIood/zMJ/5hPLiXVehQ6qUIUP7C5zgEvnMSCTM8mGY+79igMAKExWVZ9Ft82wtAwIxnCk58uU417xUv9kypaE1KKUibWMZgnjBVSInohwHjMWEbRJWqjAafgCKCfciO8YwzrNdRb2qAc"
}
