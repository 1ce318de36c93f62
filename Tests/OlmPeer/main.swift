// Olm for Tests/OlmPeer/differential.py, natively and as wasm. As wasm, the program starts in Start.swift.
#if !arch(wasm32)
  answerLines()
#endif
