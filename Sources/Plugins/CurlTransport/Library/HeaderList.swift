#if os(Linux) || os(Android)
import Errand
import ErrandSupport

struct HeaderList {
    let lines = LineList()

    /// Fills the list with a request's header lines, except `Content-Length`, which libcurl sets. `extra` contains
    /// whole lines in libcurl's syntax, and `codings` contains the value of `Accept-Encoding`.
    ///
    /// Throws `invalidRequest` for a control character, which could begin another request. Throws `tooLarge` if the
    /// lines have more than `limit` bytes, because libcurl 8.16 would send only the beginning of such a head.
    func fill(
        _ headers: HTTPHeaders, extra: [String], codings: String?, limit: Int,
        tooLarge: @autoclosure () -> ErrandError
    ) throws(ErrandError) {
        let count = headers.count + extra.count + (codings == nil ? 0 : 1)
        var size = 0
        for field in headers { size += field.name.rawName.utf8.count + field.value.utf8.count + Self.separator.count }
        if let codings { size += Self.acceptEncoding.utf8.count + codings.utf8.count }
        for line in extra { size += line.utf8.count }
        if size + count > limit { throw tooLarge() }
        guard lines.begin(lines: count, bytes: size) else {
            throw ErrandError(.transportFailed, "there isn't enough memory for the headers")
        }
        for field in headers where field.name != .contentLength {
            try add(field.name.rawName)
            if field.value.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                // libcurl sends an empty header for "Name;". For "Name:", it would leave the header out.
                lines.append(UInt8(ascii: ";"))
            } else {
                for byte in Self.separator { lines.append(byte) }
                if field.isLatin1, field.value.unicodeScalars.allSatisfy({ $0.value <= 0xFF }) {
                    try add(latin1: field.value)
                } else {
                    try add(field.value)
                }
            }
            lines.endLine()
        }
        for line in extra {
            lines.append(line)
            lines.endLine()
        }
        if let codings {
            lines.append(Self.acceptEncoding)
            try add(codings)
            lines.endLine()
        }
    }

    private static let acceptEncoding = "Accept-Encoding: "
    private static let separator: [UInt8] = [0x3A, 0x20]

    private func add(latin1 string: String) throws(ErrandError) {
        for scalar in string.unicodeScalars {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            if byte < 0x20 && byte != 0x09 || byte == 0x7F { throw Self.control }
            lines.append(byte)
        }
    }

    private func add(_ string: String) throws(ErrandError) {
        let hasControl = string.withSpan { bytes in
            // Check all bytes without branching, so the compiler can vectorize the loop.
            var controls: UInt8 = 0
            for index in bytes.indices {
                let byte = bytes[index]
                controls |= (byte < 0x20 ? 1 : 0) & (byte != 0x09 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
            }
            return controls != 0
        }
        if hasControl { throw Self.control }
        lines.append(string)
    }

    private static var control: ErrandError { ErrandError(.invalidRequest, "a header contains a control character") }
}
#endif
