import Errand

/// JSON for a log: indented, secret fields masked, order and numbers as they came; also of a document that is cut off.
struct LogJSON {
    private let bytes: [UInt8]
    private let redaction: LogRedaction
    private var place = 0
    private var result = ""
    /// Where the values of secret fields are in `bytes`.
    private var secretPlaces: [Range<Int>] = []
    /// `}` or `]` for each container that is open.
    private var open: [UInt8] = []

    /// Nil for what is no JSON as far as it goes.
    static func text(_ bytes: some Sequence<UInt8>, _ redaction: LogRedaction, _ secrets: inout LogSecrets) -> String? {
        var printer = LogJSON(bytes: Array(bytes), redaction: redaction)
        return printer.print(&secrets) ? printer.result : nil
    }

    /// The same bytes, but for the values of secret fields. Nil for what is no JSON as far as it goes.
    static func masked(_ bytes: some Sequence<UInt8>, _ redaction: LogRedaction, _ secrets: inout LogSecrets)
        -> [UInt8]?
    {
        var printer = LogJSON(bytes: Array(bytes), redaction: redaction)
        guard printer.print(&secrets) else { return nil }
        let mask = Array("\"\(LogRedaction.mask)\"".utf8)
        var masked = printer.bytes
        for place in printer.secretPlaces.reversed() { masked.replaceSubrange(place, with: mask) }
        return masked
    }

    private init(bytes: [UInt8], redaction: LogRedaction) {
        self.bytes = bytes
        self.redaction = redaction
    }

    private mutating func print(_ secrets: inout LogSecrets) -> Bool {
        var mayBeKey = false
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                place += 1
                open.append(byte + 2)
                guard open.count <= 256 else { return false }
                append(byte)
                if next() != open.last { newLine() }
                mayBeKey = byte == UInt8(ascii: "{")
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() == byte else { return false }
                place += 1
                if !result.hasSuffix("{") && !result.hasSuffix("[") { newLine() }
                append(byte)
                mayBeKey = false
            case UInt8(ascii: ","):
                place += 1
                append(byte)
                newLine()
                mayBeKey = open.last == UInt8(ascii: "}")
            case UInt8(ascii: "\""):
                let text = string()
                guard mayBeKey else {
                    result += text
                    continue
                }
                mayBeKey = false
                result += text
                guard next() == UInt8(ascii: ":") else { return next() == nil }
                place += 1
                result += ": "
                // A name with an escape in it is trusted with nothing.
                if text.contains("\\") || redaction.isSecret(String(text.dropFirst().dropLast())) {
                    _ = next()
                    let start = place
                    secrets.add(skip())
                    if place > start { secretPlaces.append(start..<place) }
                    result += "\"\(LogRedaction.mask)\""
                }
            default:
                let word = word()
                guard !word.isEmpty else { return false }
                result += word
            }
        }
        return true
    }

    /// The next byte that is no white space, left where it is.
    private mutating func next() -> UInt8? {
        while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        return place < bytes.count ? bytes[place] : nil
    }

    /// A string with its quotes, or what is there of one.
    private mutating func string() -> String {
        let start = place
        place += 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place = min(place + 1, bytes.count)
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func word() -> String {
        let start = place
        while place < bytes.count, bytes[place] > 0x20, !"{}[],:\"".utf8.contains(bytes[place]) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    /// Passes over a value; what it was, without quotes, if it was a string or a word.
    private mutating func skip() -> String {
        var depth = 0
        var value = ""
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return value }
                depth -= 1
                place += 1
            case UInt8(ascii: "\""): value = String(string().dropFirst().dropLast())
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                if depth == 0 { return value }
                place += 1
            default:
                value = word()
                if value.isEmpty { place += 1 }
            }
            if depth == 0 { return value }
        }
        return value
    }

    private mutating func append(_ byte: UInt8) { result.unicodeScalars.append(Unicode.Scalar(byte)) }

    private mutating func newLine() { result += "\n" + String(repeating: "  ", count: min(open.count, 20)) }
}
