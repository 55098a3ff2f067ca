#if os(Linux) || os(Android)
import CErrandCodings
import Errand
import ErrandEssentials
import Synchronization

/// Decodes a body in steps of at most 128 KiB of output, however much the input expands.
struct ContentDecoder: ~Copyable {
    private let stages: [CodingStage]

    init(_ codings: [ContentCoding]) throws {
        stages = try codings.reversed().map(CodingStage.init)
    }

    /// Adds encoded bytes. First call ``next()`` until it returns `nil`. Otherwise, earlier input is lost.
    func feed(_ data: Data) { stages.first?.feed(data) }

    /// Returns the next decoded bytes, or `nil` if more input is needed. Throws `invalidResponse` for malformed input.
    func next() throws -> Data? { try next(of: stages.count - 1) }

    private func next(of index: Int) throws -> Data? {
        while true {
            if let data = try stages[index].next() { return data }
            guard index > 0, let input = try next(of: index - 1) else { return nil }
            stages[index].feed(input)
        }
    }

    func finish() throws {
        guard stages.allSatisfy(\.isComplete) else {
            throw ErrandError(.truncated, "the compressed body is incomplete")
        }
    }

    static func beginning(of data: Data, _ codings: [ContentCoding], upTo limit: Int) -> Data {
        var result = Data()
        guard let decoder = try? ContentDecoder(codings) else { return result }
        decoder.feed(data)
        while result.count < limit, let piece = try? decoder.next() {
            result.append(piece.prefix(limit - result.count))
        }
        return result
    }

    static func decode(_ data: Data, _ codings: [ContentCoding], upTo limit: Int) throws -> Data {
        let decoder = try ContentDecoder(codings)
        decoder.feed(data)
        var result = Data()
        while let piece = try decoder.next() {
            guard result.count + piece.count <= limit else {
                throw ErrandError(.bodyTooLarge, "the body is longer than the limit of \(limit) bytes")
            }
            if result.isEmpty { result = piece } else { result.append(piece) }
        }
        try decoder.finish()
        return result
    }
}

/// A content coding (RFC 9110, section 8.4.1) that this system can decode.
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

    /// Returns the codings in the order of the field, or `nil` if a coding is unknown or there are more than three.
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
