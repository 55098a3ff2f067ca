package enum StandardError {
    /// Writes a line to standard error. Drops any part of the line that can't be written immediately.
    package static func write(_ line: String) {
        _ = SystemFile.write(Array("\(line)\n".utf8), to: 2, waits: false)
    }
}
