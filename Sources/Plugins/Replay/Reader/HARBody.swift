import Errand
import ErrandEssentials

/// The bytes of a body in an archive, decoded piece by piece as they are pulled.
struct HARBody {
    private static let pieceSize = 256 << 10

    private let source: HARSource
    private let isBase64: Bool
    private let path: String
    private var rest: Range<Int>
    private var text = JSONStringDecoder()
    private var base64 = Base64Decoder()
    private var hasEnded = false

    /// - Parameter path: the path of the text in the file, for errors.
    init(_ source: HARSource, _ range: Range<Int>, isBase64: Bool, path: String) {
        (self.source, rest, self.isBase64, self.path) = (source, range, isBase64, path)
    }

    /// The next bytes; nil at the end.
    mutating func next() throws(HARError) -> [UInt8]? {
        var result: [UInt8] = []
        while result.isEmpty, !hasEnded {
            var plain: [UInt8] = []
            let piece = try source.read(min(Self.pieceSize, rest.count), at: rest.lowerBound)
            guard piece.count == min(Self.pieceSize, rest.count) else {
                throw HARError(.truncated, "the file has become shorter", path: path, byte: rest.lowerBound)
            }
            text.decode(piece, into: &plain)
            rest = rest.lowerBound + piece.count..<rest.upperBound
            hasEnded = rest.isEmpty
            if hasEnded { text.finish(into: &plain) }
            if isBase64 {
                let isValid = base64.decode(plain[...], into: &result) && (!hasEnded || base64.finish(into: &result))
                guard isValid else {
                    throw HARError(.damagedBody, "the body is no Base64", path: path, byte: rest.lowerBound)
                }
            } else {
                result = plain
            }
        }
        return result.isEmpty ? nil : result
    }

    /// All bytes.
    mutating func all() throws(HARError) -> [UInt8] {
        var result: [UInt8] = []
        while let piece = try next() { result += piece }
        return result
    }
}
