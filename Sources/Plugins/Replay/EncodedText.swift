import Errand
import ErrandEssentials
import Synchronization

/// Encodes text in a charset with one or two bytes a character, by what the charset decodes.
enum EncodedText {
    private typealias Table = [Unicode.Scalar: [UInt8]]

    /// A table for each charset that an archive had; there are no more than the standard has charsets.
    private static let tables = Mutex<[Charset: Table]>([:])

    /// Nil for a character that isn't in the charset, or takes more than two bytes or an escape sequence.
    static func bytes(_ text: String.UnicodeScalarView, in charset: Charset) -> [UInt8]? {
        let table = table(of: charset)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for scalar in text {
            if scalar.value < 0x80 {
                bytes.append(UInt8(scalar.value))
            } else if let encoded = table[scalar] {
                bytes += encoded
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func table(of charset: Charset) -> Table {
        if let known = tables.withLock({ $0[charset] }) { return known }
        var table: Table = [:]
        func add(_ bytes: [UInt8]) {
            guard let text = charset.decode(Data(bytes), ignoresByteOrderMark: true)?.unicodeScalars,
                let scalar = text.first, text.count == 1, table[scalar] == nil
            else { return }
            table[scalar] = bytes
        }
        for byte in UInt8(0x80)...0xFF { add([byte]) }
        let pairs: Set<String> = ["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"]
        if pairs.contains(charset.name) {
            // Of a character that occurs twice, the standard writes the later bytes in these two.
            let extensions: ClosedRange<UInt8> = charset.name == "shift_jis" ? 0xED...0xEE : 0x81...0xA0
            let leads = (UInt8(0x81)...0xFE).filter { !extensions.contains($0) } + Array(extensions)
            for lead in leads { for trail in UInt8(0x40)...0xFE { add([lead, trail]) } }
        }
        if charset.name == "windows-1252" {
            // Programs that read Latin-1 to the letter keep control characters.
            for byte in UInt8(0x80)...0x9F where table[Unicode.Scalar(byte)] == nil {
                table[Unicode.Scalar(byte)] = [byte]
            }
        }
        tables.withLock { $0[charset] = table }
        return table
    }
}
