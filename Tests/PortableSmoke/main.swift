// The portable modules at work, natively and as wasm. Scripts/test-portable runs both: the lines must be the same, and none
// may start with FAILED. As wasm, the program starts in Start.swift.
#if !arch(wasm32)
  runChecks()
#endif
