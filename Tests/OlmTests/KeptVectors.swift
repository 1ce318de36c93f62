// Made by keep-vectors.py.

// swift-format-ignore
enum KeptVectors {
  /// Of vodozemac, by a session that it begins.
  static let olmIdentity = "gPpvSufjsYdE2S9pBfhtXfbVzSZi3BtiDa0l5nUHSGo"
  static let olmOneTime = "+GtInQYx79Eu6fzp9JNMZSWpRoyHUSQS1QYR5SxOdUs"
  static let olmSender = "302XNEIWdvcEG1Iw+RSq8TQbrvN44G1krlKsJ+UUKy8"
  static let olmSessionID = "Ppm7PArhbQS8mgKpIBuEyED1EzHgnZjXdf5hz0TxRHk"
  static let olmMessages = [("message 0", "AwogqLC33jxJIr6J1X7dtClEyOj7JeDjtpMWLq9eSfqQkRgSIJJBOIavEfvxZOtXU51W+Z13DLJULMOQydx0SzR3XY8MGiDfTZc0QhZ29wQbUjD5FKrxNBuu83jgbWSuUqwn5RQrLyI/AwogLySaEFInVrNzm8B/WKNwYe6Hy7Y/xUVIDAnyEhOLNjYQACIQYV5ZvmzzdIk1sD+gpPPJGs/FGfHi8xZr"), ("message 1", "AwogqLC33jxJIr6J1X7dtClEyOj7JeDjtpMWLq9eSfqQkRgSIJJBOIavEfvxZOtXU51W+Z13DLJULMOQydx0SzR3XY8MGiDfTZc0QhZ29wQbUjD5FKrxNBuu83jgbWSuUqwn5RQrLyI/AwogLySaEFInVrNzm8B/WKNwYe6Hy7Y/xUVIDAnyEhOLNjYQASIQ0nr3cuomxmeDN3ZdPMdTc5vnfWSP2sX+"), ("message 2", "AwogqLC33jxJIr6J1X7dtClEyOj7JeDjtpMWLq9eSfqQkRgSIJJBOIavEfvxZOtXU51W+Z13DLJULMOQydx0SzR3XY8MGiDfTZc0QhZ29wQbUjD5FKrxNBuu83jgbWSuUqwn5RQrLyI/AwogLySaEFInVrNzm8B/WKNwYe6Hy7Y/xUVIDAnyEhOLNjYQAiIQEDtp5GLYbcatNDCmhiyFL7JZg0YpLYTc"), ("message 3", "AwogqLC33jxJIr6J1X7dtClEyOj7JeDjtpMWLq9eSfqQkRgSIJJBOIavEfvxZOtXU51W+Z13DLJULMOQydx0SzR3XY8MGiDfTZc0QhZ29wQbUjD5FKrxNBuu83jgbWSuUqwn5RQrLyI/AwogLySaEFInVrNzm8B/WKNwYe6Hy7Y/xUVIDAnyEhOLNjYQAyIQqZNxHNT5grCKAZXEClEM/7maGboWpW0Z")]

  /// The same of libolm.
  static let libolmIdentity = "mIxzlLP27kMIzl21a3sEg3O+hCkFuYM/8qyFqPR6P30"
  static let libolmOneTime = "yCZcN9YG8A3IBPRoxCxKTYQ/j6VQzH7QGlpaPJ0c6VU"
  static let libolmSender = "08UB/D/3yWcptZ5t+eib8Zep2gHbdMiicDAw6Q68zT4"
  static let libolmSessionID = "oe4QoZkBUy4DhNCpXqWNQqSLq47z2Jd8r2fD8hdjoaU"
  static let libolmMessages = [("hello", "AwogISlDYDeG5N8O1qfN5hJ8NfXiWR/LQbn1U7mLxNzPJX8SIDGp0Mrd/S8knMHQ6hNNg1rzbm7dIURLFJlgkfdFUbcUGiDTxQH8P/fJZym1nm356Jvxl6naAdt0yKJwMDDpDrzNPiI/Awog2t0cYNJa9DO0mlFdEgC0P0yFruv91UQ/HBENC7rsCGkQACIQ4cl7d6f8AblkSZzTZcy1NF22St4NsIef")]

  /// Of vodozemac: messages 0, 1, 255, 256 and 299 of a room, and the session's key at several indexes.
  static let megolmKey = "AgAAAAChmm5tShm9l68gsTO4HcM82ZJcp1GtWhIX2pVpA1JT2yh0/UkG+qNgnvu3CQPr5v2/oC/uOSuTswemFylLmof59LELp1qKEd8KoyF0MdVFqWukRQQU6VAqOQgbAWOr7rvpIfsFH1qhHwpZuV8WuFIabxwcgQzWS3oitl/s1t4WaLSx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex4F77hx+oiCnT0pAwn+ZcFvW2gjgAJYMDFN6XB0eVJHWouXWtw1TIUafyDiDg/OF/f6UtdH7kQWwYEYcY7FNrCw"
  static let megolmID = "tLHjCZvQlIbPh66TBM7J0sqQOyK7Gw3Kp5BlMQmjwTE"
  static let megolmMessages = [("room 0", "AwgAEhBWM1ctIgt95EYTfP+t+adGu1Zx+8/ij4SCPoC3NiurE9ZJlM/MMEuoU4reli6IS9Rrfv4HUvSCJsto8Vocj84G3xbjyCUf8NNh8/6D0VuRVFUKfReFhYID"), ("room 1", "AwgBEhCm5TKH7MrRYuYgvS4cXuD/UKILVa3gbwAU+ihSv4uTf3+mSLqHFZrYLtlSVrKkE9iwB5lay2Hdy0OGPtp3xqnE7chqDE4gz8cl/obbU0PpP/FecK+HF0QI"), ("room 255", "Awj/ARIQOtNbGwknSvCtwCjOo7wzDxhrB/1QWLBKHVktmdkBwXzFKTdkdcRyV5pwjl7VXTLLJnfzDkypgiMXKwgOcmQO72Aw/hvi5Eb2RXI8aAwvhKjolgiE09a3CA"), ("room 256", "AwiAAhIQsYpeKsA5awF7uGSJnwBDSEIjbGPATqn6NAQ3qysslLO7DcjkqAvVWs1iN5r9MQUHsSyJkMK6GQURY81+S4yasmYdztrSn/ij/GSBPWsDYPptKbMmlN6wAw"), ("room 299", "AwirAhIQfN0Yul7U/3EoIMmnE5ebf/wdERlMMrntTlgKCQMTYC3Fi+zDbsMq3CxBoUZnAkIk14mJosF+JOq6vEwcjr0BH/TsufzaWUmYiFMatQDmpeYZuA+52uLCDw")]
  static let megolmExports: [(index: UInt32, key: String)] = [(0, "AQAAAAChmm5tShm9l68gsTO4HcM82ZJcp1GtWhIX2pVpA1JT2yh0/UkG+qNgnvu3CQPr5v2/oC/uOSuTswemFylLmof59LELp1qKEd8KoyF0MdVFqWukRQQU6VAqOQgbAWOr7rvpIfsFH1qhHwpZuV8WuFIabxwcgQzWS3oitl/s1t4WaLSx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex"), (1, "AQAAAAGhmm5tShm9l68gsTO4HcM82ZJcp1GtWhIX2pVpA1JT2yh0/UkG+qNgnvu3CQPr5v2/oC/uOSuTswemFylLmof59LELp1qKEd8KoyF0MdVFqWukRQQU6VAqOQgbAWOr7ruatojCF3+nOOELufONTxvDVG1EFo/Sa+7ZxmnHjrBtvbSx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex"), (256, "AQAAAQChmm5tShm9l68gsTO4HcM82ZJcp1GtWhIX2pVpA1JT2yh0/UkG+qNgnvu3CQPr5v2/oC/uOSuTswemFylLmof5yRUFb9iO/uoq+CaKw3yrkjedvUQoJFJxpQk2qZM+tsGudrl4igoQMmER0yqO9+jFzUaV/aeyYjmzz/qavOT4+bSx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex"), (65536, "AQABAAChmm5tShm9l68gsTO4HcM82ZJcp1GtWhIX2pVpA1JT20D5wVWNVvwTl+WuzRvur9FeTttejIbAGeY1xTiN/t+Oh6voduVf/5PEy8TpuXPGiyGlOFQiaBAqPB1g+HNy4X6eghVwaoW0EgALQ0G5PO6zuQb3MkrsE6T/W+S6RsX107Sx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex"), (16777217, "AQEAAAEQ0Xw2xADAA78jqae2KoeLjXkTN1Vw9ZGsBrv9w619gCc7wGopzWH5YOiUo5FMFLZxfkxLLCNGd7EwKeXrqT9GEKvsgjv1qhaW0CrbTEeYZe9Ov0Zh7FqVhVYQhOJfjnI9WNl118sCd9OMOZxErNAnG5WYQ2zQ/nxr7jalrcZuhrSx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex"), (4294967294, "Af////4pT720xOqKyAvrfaKGnLc1PO0qI6ellvgthhX0qhtq2v27hSSVqyuNScDhpd1h2rQKgP1LgxdvmdzBN2rLcZ+zfYdlgC0rY/Sc7bi53yFeean2BSdLZujMk/EXBSN4b9R3nyY6BncXY+ugRl+VzCwbk8YG8LmpISlzOBgw5BlzLbSx4wmb0JSGz4eukwTOydLKkDsiuxsNyqeQZTEJo8Ex")]

  /// Of vodozemac, for the info "info" and the MAC of "key".
  static let sasSecret = "wE3mUVWrZcIskb1cWDDZ896Eza6SemmmoKEOxhnuFkE"
  static let sasKey = "L3NaWT/+XrWxCLf9hsnYdjrKbVVUldgD/R2NIDGwzQg"
  static let sasEmoji: [UInt8] = [55, 23, 7, 5, 12, 40, 12]
  static let sasDecimals: [UInt16] = [8086, 2812, 7465]
  static let sasMAC = "s9PVUTymoz3sZtFi570eGZ94iet34fQeCiczLz8RnP4"
  static let sasOverwrittenMAC = "s9PVVjymeW3sVzNzVnpOelZucE9lbFp1Y0U5bGJGcDE"

  /// Of vodozemac: {"sessions":{}} in a backup.
  static let backupSecret = "0LzmV6O8B5cU2JiPVk3u+k4KTCNzgSouOrSaWtQLoGo"
  static let backupKey = "zRt7HVR5OgWswOiQkpRwmbBVKdTUbY2bSynDIdxa0UU"
  static let backupCiphertext = "kczX4IvVv6TuuZaTr2pnSw"
  static let backupMAC = "0KitvAHAivQ"

  /// Of matrix-nio: [{"room_id":"!a:b"}] with the passphrase "correct horse".
  static let keyFile = """
    -----BEGIN MEGOLM SESSION DATA-----
    AfGSHmKoYtWcroxsad0LSUdwJyKbVkCKSHnFHPNrVZS9AAAD6DraT58JqcwasDgMJk5ZYnMlsWs3PiipcF7Qnf538W4HWkiD7Lb5aRhKwfEmKgx/w+cuYew
    -----END MEGOLM SESSION DATA-----
    """

  /// Of matrix-nio: the bytes 0 to 199 as an attachment.
  static let attachmentKey = "peAibjY15FBFCvuCCpA16oTCnRgwPz6owRH/Jq/Zj5w"
  static let attachmentCounter = "o/9oadSDXPIAAAAAAAAAAA"
  static let attachmentDigest = "RyYJXZq6HTN3WONKTv4Rq+1ycAfB2gPA/SvUfRaLbgE"
  static let attachment = "qHeNMNT98zSzxXfV6kwkPX1/QJKggBDLu0RdCY5qm1i1S5oz8L4t/EHCbpshr4jITCZNX8zfE6ibt0zogGjk5R77EQQLDl+lt4Bi6P9+VOst5a2/GFO2SRTONE0hHvztuCKALctCFYSXQ86nK2eqWo6phwFKo2fx4BRvQR7c3aAwqWk81iqyq/bzJWBP6WJmmD9OPDpJL+bQD0SHiapa86jSuSbGWPAXUkO85x1dcPdT/3DPvkm9xS/eM+h5yah6x6igPus/8dg"

  /// Of vodozemac: a dehydrated device with two one-time keys and a fallback key, and a message to it.
  static let dehydratedKey = "5pTV/9qAHdczxWKVGaqth+HQ95ITp6TX0cXfaUnybic"
  static let dehydratedNonce = "/KGRRJsqmIaCqOLf"
  static let dehydratedSealed = "A6tbAAA5kiXnu6oVW3dDlttM8MStMHWl+yZ32VDSz0p4UNXbaohIJn+0EfisqW7YL5Yd6/CwFqT6LSM7TeJ3yYFoHOlSv+jqEyi9ILG8nN9iVECj/4Zhn32IsKjkEc3G4z7TfhinSDHp6tbVHxdFU/o+iLQktBoNqwkMA2L/NVi4upjoVu0wEjmGwrw4NMnwRtC8jqtUbsw91+CAdCzXEn054TTiN+lDsDkmP0mx6U37kPYJQUI9ROo"
  static let dehydratedIdentity = "eaiqIQDwtKkLp+Mu21y1SCTDWu4Gj7+v5zqKnSy+/Ak"
  static let dehydratedSigning = "8Yu9IawWn3qzrTHXBTMlCXn6yC859KSsAbDUM914hzA"
  static let dehydratedSender = "snGTYOJxFjp8LqEC2xF/Lfi3/tBwa+0LQKkuaSZqFgs"
  static let dehydratedMessage = "AwogcJOFwvV09q/a9Rjntc3LJcdu7smnZxeXC6HTMsBx+GsSIIDYqLy/yBdb1lfoMg7aiyLKDF9yx3GZVdOLdEtLCioeGiCycZNg4nEWOnwuoQLbEX8t+Lf+0HBr7QtAqS5pJmoWCyJPAwogwcV8voGOuYUVErlT46cD3h8F/vHNeJa6JXiARetwxwkQACIgesIBJp8wLjKxWNgcHg1o+p0csXqGpA8sQ4tZ6TKBt3X7PZo2PLXCMg"
}
