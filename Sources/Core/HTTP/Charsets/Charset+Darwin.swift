#if canImport(Darwin)
import Foundation

/// A charset in Core Foundation.
final class SystemCharset {
    private let encoding: String.Encoding

    init?(_ name: String) {
        let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
        guard encoding != kCFStringEncodingInvalidId else { return nil }
        self.encoding = String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(encoding))
    }

    /// Returns the character that the bytes encode, or zero unless they encode exactly one character.
    func scalar(_ bytes: [UInt8]) -> UInt32 {
        guard let scalars = String(data: Data(bytes), encoding: encoding)?.unicodeScalars, scalars.count == 1 else {
            return 0
        }
        return scalars.first?.value ?? 0
    }
}
#endif
