/// JSON with a line for each value, indented; names, order and numbers stay as they are. The text may be cut off.
struct JSONIndenter {
    private let bytes: [UInt8]
    private var position = 0
    private var result: [UInt8] = []
    private var depth = 0

    /// - Parameter bytes: JSON as far as it goes; of anything else the result is of no use.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var indenter = JSONIndenter(bytes: Array(bytes))
        indenter.indent()
        return String(decoding: indenter.result, as: UTF8.self)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func indent() {
        while let byte = next() {
            position += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                result.append(byte)
                // An empty container stays on its line.
                if next() != byte + 2 { newLine() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth = max(0, depth - 1)
                if let last = result.last, last != byte - 2 { newLine() }
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                newLine()
            case UInt8(ascii: ":"): result += [byte, 0x20]
            case UInt8(ascii: "\""): string()
            default: result.append(byte)
            }
        }
    }

    /// The next byte that is not white space; the position stays on it.
    private mutating func next() -> UInt8? {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        return position < bytes.count ? bytes[position] : nil
    }

    /// Copies a string whose first quote has been read, or the beginning of one.
    private mutating func string() {
        let start = position - 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, bytes.count)
        result += bytes[start..<position]
    }

    private mutating func newLine() {
        result.append(UInt8(ascii: "\n"))
        result += Array(repeating: 0x20, count: 2 * min(depth, 20))
    }
}
