import Errand
import ErrandEssentials

/// Restores the received bytes from text of an archive: programs write the characters of a body into an archive,
/// whatever its charset was.
enum RecordedText {
    /// - Parameters:
    ///   - text: in UTF-8.
    ///   - charset: that of `Content-Type`.
    ///   - sizes: the possible sizes of the body, as far as the archive has them.
    static func bytes(_ text: [UInt8], charset: String?, sizes: [Int]) -> [UInt8] {
        let isASCII = text.allSatisfy { $0 < 0x80 }
        let mask = Array(Redaction.mask.utf8)
        if sizes.contains(text.count) || !isASCII && text.firstRange(of: mask) != nil { return text }
        guard let scalars = String(validating: text, as: UTF8.self)?.unicodeScalars else { return text }
        let known = charset.flatMap { Charset(label: $0) }
        if let known, known.name.hasPrefix("utf-16") {
            return wide(scalars, isBig: known.name.hasSuffix("be"), isMarked: charset?.lowercased() == "utf-16", sizes)
        }
        // A browser removes a byte order mark.
        if sizes.contains(text.count + 3), !text.starts(with: [0xEF, 0xBB, 0xBF]) { return [0xEF, 0xBB, 0xBF] + text }
        if isASCII { return text }
        if let known, known != .utf8, let bytes = EncodedText.bytes(scalars, in: known) { return bytes }
        guard sizes.contains(scalars.count) else { return text }
        return Charset(label: "windows-1252").flatMap { EncodedText.bytes(scalars, in: $0) } ?? text
    }

    /// In UTF-16, with a byte order mark if there was one.
    ///
    /// - Parameter isMarked: whether the charset has no byte order in its name: it then has a mark, unless the size
    ///   contradicts.
    private static func wide(
        _ scalars: String.UnicodeScalarView, isBig: Bool, isMarked: Bool, _ sizes: [Int]
    ) -> [UInt8] {
        let units = String(scalars).utf16
        let hasMark = sizes.contains(2 * units.count + 2) || isMarked && !sizes.contains(2 * units.count)
        return ((hasMark ? [0xFEFF] : []) + units).flatMap { unit in
            let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
            return isBig ? bytes.reversed() : bytes
        }
    }
}
