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
        let charset = charset?.lowercased() ?? ""
        if charset.hasPrefix("utf-16") { return wide(scalars, charset, sizes) }
        // A browser removes a byte order mark.
        if sizes.contains(text.count + 3), !text.starts(with: [0xEF, 0xBB, 0xBF]) { return [0xEF, 0xBB, 0xBF] + text }
        if isASCII { return text }
        let isLatin = ["iso-8859-1", "latin1", "windows-1252", "us-ascii"].contains(charset)
        guard sizes.contains(scalars.count) || isLatin else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(scalars.count)
        for scalar in scalars {
            guard let byte = latin(scalar) else { return text }
            bytes.append(byte)
        }
        return bytes
    }

    /// In UTF-16, with a byte order mark if there was one.
    private static func wide(_ scalars: String.UnicodeScalarView, _ charset: String, _ sizes: [Int]) -> [UInt8] {
        let units = String(scalars).utf16
        let isBig = charset.hasSuffix("be")
        // Without a byte order in its name it has a mark, unless the size contradicts.
        let isMarked = sizes.contains(2 * units.count + 2) || charset == "utf-16" && !sizes.contains(2 * units.count)
        let mark: [UInt16] = isMarked ? [0xFEFF] : []
        return (mark + units).flatMap { unit in
            let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
            return isBig ? bytes.reversed() : bytes
        }
    }

    /// The byte of a character in Latin-1, and in the additions of Windows between 0x80 and 0x9F.
    private static func latin(_ scalar: Unicode.Scalar) -> UInt8? {
        if scalar.value <= 0xFF { return UInt8(scalar.value) }
        return windows.firstIndex(of: scalar.value).map { UInt8(0x80 + $0) }
    }

    private static let windows: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]
}
