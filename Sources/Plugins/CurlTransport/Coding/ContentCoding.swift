#if os(Linux) || os(Android)
import CErrandCodings
import Synchronization

/// A content coding (RFC 9110, section 8.4.1) this system can decode.
enum ContentCoding: CaseIterable {
    case gzip, deflate, brotli, zstd

    var bit: Int32 {
        switch self {
        case .gzip: Int32(ERRAND_CODING_GZIP)
        case .deflate: Int32(ERRAND_CODING_DEFLATE)
        case .brotli: Int32(ERRAND_CODING_BROTLI)
        case .zstd: Int32(ERRAND_CODING_ZSTD)
        }
    }

    private var name: String {
        switch self {
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .zstd: "zstd"
        }
    }

    /// The available codings, in the form of Accept-Encoding: "gzip, deflate, br, zstd".
    static var accepted: String {
        let bits = errand_codings()
        return known.withLock { known in
            if known.bits != bits {
                known = (bits, allCases.filter { bits & $0.bit != 0 }.map(\.name).joined(separator: ", "))
            }
            return known.text
        }
    }

    private static let known = Mutex<(bits: Int32, text: String)>((0, ""))

    /// Codings in the order they were applied, or `nil` if one is unknown or there are more than three.
    static func list(_ value: String) -> [ContentCoding]? {
        let bits = errand_codings()
        var codings: [ContentCoding] = []
        for part in value.split(separator: ",") {
            let token = part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased()
            if token.isEmpty || token == "identity" { continue }
            let name = token.hasPrefix("x-") ? String(token.dropFirst(2)) : token
            guard let coding = allCases.first(where: { $0.name == name }), bits & coding.bit != 0 else { return nil }
            codings.append(coding)
        }
        return codings.count <= 3 ? codings : nil
    }
}
#endif
