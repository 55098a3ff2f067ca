// Start here: decodes the content codings of bodies in memory with the system's libraries. Internal to the package.

import CErrandCodings
import ErrandMessageSyntax

/// Decodes the content codings of a body (RFC 9110, section 8.4), for programs that compare or record it.
package enum ContentCodings {
    private static let bits: [String: Int] = [
        "gzip": Int(ERRAND_CODING_GZIP), "x-gzip": Int(ERRAND_CODING_GZIP), "deflate": Int(ERRAND_CODING_DEFLATE),
        "br": Int(ERRAND_CODING_BROTLI), "zstd": Int(ERRAND_CODING_ZSTD),
    ]
    private static let step = 64 << 10

    /// The name must be in lowercase.
    package static func canDecode(_ name: String) -> Bool {
        bits[name].map { Int(errand_codings()) & $0 != 0 } ?? false
    }

    /// Returns `nil` if this system can't decode the coding, the bytes aren't valid, or the content exceeds `limit`
    /// bytes.
    package static func decoded(_ bytes: [UInt8], _ contentEncoding: String, upTo limit: Int) -> [UInt8]? {
        let names = contentEncoding.split(separator: ",").map { ASCII.trimmed($0).lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard !bytes.isEmpty, !names.isEmpty, names.count <= 3 else { return nil }
        var content = bytes
        for name in names.reversed() {
            guard let bit = bits[name], let plain = decoded(content, bit: bit, limit: limit) else { return nil }
            content = plain
        }
        return content
    }

    // Safe: the decoder is created and freed here. The C function reads `count` bytes of the input and writes at most
    // `count` bytes to the piece; the input and the piece outlive the call.
    private static func decoded(_ bytes: [UInt8], bit: Int, limit: Int) -> [UInt8]? {
        guard let decoder = unsafe errand_decoder_make(Int32(bit)) else { return nil }
        defer { unsafe errand_decoder_free(decoder) }
        var (content, piece, offset, isEnded) = ([UInt8](), [UInt8](repeating: 0, count: step), 0, false)
        while true {
            var (taken, made) = (0, 0)
            let code = unsafe bytes[offset...].withUnsafeBufferPointer { input in
                unsafe errand_decoder_run(
                    decoder, input.baseAddress, input.count, &taken, &piece, piece.count, &made)
            }
            guard code != Int32(ERRAND_DECODER_CORRUPT), content.count + made <= limit else { return nil }
            if taken > 0 || made > 0 { isEnded = code == Int32(ERRAND_DECODER_END) }
            content += piece[..<made]
            offset += taken
            if taken == 0, made == 0 { return isEnded && offset == bytes.count ? content : nil }
        }
    }
}
