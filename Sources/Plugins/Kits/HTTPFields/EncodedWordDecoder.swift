import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

/// Decodes the encoded words of mail headers (RFC 2047), such as `=?UTF-8?Q?na=C3=AFve?=`.
///
/// HTTP doesn't define them, but some servers send file names in this form, and browsers decode them.
struct EncodedWordDecoder {
    /// Consecutive words in one charset are decoded together, because mail programs split characters between words.
    private struct Group {
        let charset: String
        var content: [UInt8]
        var source: Range<Int>
    }

    private struct Word {
        let charset: String
        let content: [UInt8]
        let end: Int
    }

    private static let question = UInt8(ascii: "?")

    private let bytes: [UInt8]
    private var result: [UInt8] = []
    private var group: Group?

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Words that are malformed or in an unknown charset stay unchanged.
    static func decode(_ text: String) -> String {
        var decoder = EncodedWordDecoder(text)
        return decoder.text()
    }

    private mutating func text() -> String {
        var position = 0
        while position < bytes.count {
            if let word = word(at: position) {
                append(word, from: position)
                position = word.end
            } else {
                endGroup(before: position)
                // White space after an encoded word is part of the text only if no other encoded word follows.
                if group == nil { result.append(bytes[position]) }
                position += 1
            }
        }
        flush()
        return String(decoding: result, as: UTF8.self)
    }

    private mutating func append(_ word: Word, from start: Int) {
        guard let last = group else {
            group = Group(charset: word.charset, content: word.content, source: start..<word.end)
            return
        }
        let isContinued = last.charset == word.charset
        // White space between two encoded words isn't part of the text (section 6.2).
        if !isContinued, !flushWords() { result += bytes[last.source.upperBound..<start] }
        group = Group(
            charset: word.charset, content: (isContinued ? last.content : []) + word.content,
            source: (isContinued ? last.source.lowerBound : start)..<word.end)
    }

    private mutating func endGroup(before position: Int) {
        if let group, !ASCII.isBlank(bytes[position]) {
            flushWords()
            result += bytes[group.source.upperBound..<position]
        }
    }

    private mutating func flush() {
        guard let end = group?.source.upperBound else { return }
        flushWords()
        result += bytes[end...]
    }

    @discardableResult private mutating func flushWords() -> Bool {
        guard let words = group else { return false }
        group = nil
        let text = Charset(label: words.charset)?.decode(Data(words.content), ignoresByteOrderMark: true)
        if let text { result += Array(text.utf8) } else { result += bytes[words.source] }
        return text != nil
    }

    private func word(at start: Int) -> Word? {
        guard bytes[start] == UInt8(ascii: "="), let name = field(from: start + 1, after: Self.question),
            let coding = field(from: name.end, after: Self.question), coding.text.count == 1,
            let content = field(from: coding.end, after: Self.question), content.end + 1 < bytes.count,
            bytes[content.end + 1] == UInt8(ascii: "="), !name.text.isEmpty
        else { return nil }
        let decoded: [UInt8]? =
            switch ASCII.lowercase(coding.text.first ?? 0) {
            case UInt8(ascii: "b"): Data(base64Encoded: Data(content.text)).map { Array($0) }
            case UInt8(ascii: "q"): Self.quoted(content.text)
            default: nil
            }
        // RFC 2231, section 5, allows a language after the charset.
        let charset = String(decoding: name.text.prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self).lowercased()
        return decoded.map { Word(charset: charset, content: $0, end: content.end + 2) }
    }

    private func field(from start: Int, after mark: UInt8) -> (text: ArraySlice<UInt8>, end: Int)? {
        guard start < bytes.count, bytes[start] == mark else { return nil }
        let text = bytes[(start + 1)...].prefix { $0 > 0x20 && $0 < 0x7F && $0 != mark }
        return text.endIndex < bytes.count && bytes[text.endIndex] == mark ? (text, text.endIndex) : nil
    }

    /// The Q encoding (section 4.2).
    private static func quoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var (result, rest) = ([UInt8](), text)
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "_"): result.append(0x20)
            case UInt8(ascii: "="):
                guard let high = rest.popFirst().flatMap(ASCII.hexValue),
                    let low = rest.popFirst().flatMap(ASCII.hexValue)
                else { return nil }
                result.append(high << 4 | low)
            default: result.append(byte)
            }
        }
        return result
    }
}
