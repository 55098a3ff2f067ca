/// The stream for messages to people.
package enum StandardError {
    /// Writes a line; what cannot be written is dropped.
    package static func write(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in _ = SystemFile.write(UnsafeRawBufferPointer(bytes), to: 2, waits: false) }
    }
}
