#if canImport(Darwin)
import Foundation

extension Charset {
    /// Core Foundation knows the IANA names of charsets, and needs no other library.
    static func convert(_ data: Data, from name: String) -> String? {
        let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
        guard encoding != kCFStringEncodingInvalidId else { return nil }
        return String(
            data: data, encoding: String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(encoding)))
    }
}
#endif
