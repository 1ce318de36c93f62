# Shared by run, test and the scripts beside it; sourced, not run.

# Says what happens, with the seconds since the start.
say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }

# Says why it cannot go on, and stops.
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Puts the Swift toolchain into PATH, or says what is missing.
find_swift() {
  local folder
  if ! command -v swift >/dev/null; then
    for folder in "$HOME/.local/share/swiftly/bin" /usr/libexec/swift/bin; do
      if [ -x "$folder/swift" ]; then PATH=$folder:$PATH; export PATH; return; fi
    done
    fail 'the Swift toolchain (6.3 or newer) is not in PATH. https://www.swift.org/install says how to get it.'
  fi
}
