import CPCRE2
import JSON

/// A regular expression of an application service's namespace, compiled.
///
/// It is matched from the first byte of an identifier on and need not reach its end, as bridges in use rely on. PCRE2 knows
/// everything their expressions are written with, and gives up after `stepsLimit`: an identifier that makes a pattern
/// expensive does not match.
// @unchecked: the compiled pattern is never changed; each match has its own data.
final class NamespacePattern: @unchecked Sendable {
  /// Bytes of an expression.
  static let bytesLimit = 1_000
  /// Calls of PCRE2's internal match function. Identifiers have at most 255 bytes.
  static let stepsLimit: UInt32 = 20_000

  private let code: OpaquePointer
  private let context: OpaquePointer

  /// Returns nil if the expression is not valid or too long.
  init?(_ expression: ByteString) {
    guard !expression.isEmpty, expression.count <= Self.bytesLimit else { return nil }
    var (error, offset) = (Int32(0), 0)
    let compiled = expression.withBytes { bytes in
      pcre2_compile_8(bytes.baseAddress, bytes.count, PCRE2_ANCHORED | PCRE2_UTF, &error, &offset, nil)
    }
    guard let compiled else { return nil }
    guard let context = pcre2_match_context_create_8(nil) else {
      pcre2_code_free_8(compiled)
      return nil
    }
    pcre2_set_match_limit_8(context, Self.stepsLimit)
    pcre2_set_depth_limit_8(context, Self.stepsLimit)
    code = compiled
    self.context = context
  }

  deinit {
    pcre2_match_context_free_8(context)
    pcre2_code_free_8(code)
  }

  func matches(_ text: ByteString) -> Bool {
    guard let data = pcre2_match_data_create_8(1, nil) else { return false }
    defer { pcre2_match_data_free_8(data) }
    return text.withBytes { bytes in
      pcre2_match_8(code, bytes.baseAddress, bytes.count, 0, 0, data, context) >= 0
    }
  }
}
