import Errand
import ErrandEssentials

struct HARBody {
    private static let pieceSize = 256 << 10

    private let source: HARSource
    private let isBase64: Bool
    private let path: String
    private var rest: Range<Int>
    private var text = JSONStringDecoder()
    private var base64 = Base64Decoder()
    private var hasEnded = false

    init(_ source: HARSource, _ range: Range<Int>, isBase64: Bool, path: String) {
        (self.source, rest, self.isBase64, self.path) = (source, range, isBase64, path)
    }

    mutating func next() throws(HARError) -> [UInt8]? {
        var result: [UInt8] = []
        while result.isEmpty, !hasEnded {
            var plain: [UInt8] = []
            let piece = try source.read(min(Self.pieceSize, rest.count), at: rest.lowerBound)
            guard piece.count == min(Self.pieceSize, rest.count) else {
                throw HARError(.truncated, "the file has shrunk", path: path, byte: rest.lowerBound)
            }
            text.decode(piece, into: &plain)
            rest = rest.lowerBound + piece.count..<rest.upperBound
            hasEnded = rest.isEmpty
            if hasEnded { text.finish(into: &plain) }
            if isBase64 {
                let isValid = base64.decode(plain[...], into: &result) && (!hasEnded || base64.finish(into: &result))
                guard isValid else {
                    throw HARError(.damagedBody, "the body isn't valid Base64", path: path, byte: rest.lowerBound)
                }
            } else {
                result = plain
            }
        }
        return result.isEmpty ? nil : result
    }

    mutating func all() throws(HARError) -> [UInt8] {
        var result: [UInt8] = []
        while let piece = try next() { result += piece }
        return result
    }
}

/// Decodes Base64 (RFC 4648, section 4). Also accepts the alphabet for URLs, line breaks, and missing padding.
struct Base64Decoder {
    private var bits: UInt32 = 0
    private var count = 0
    private var isPadded = false

    mutating func decode(_ bytes: ArraySlice<UInt8>, into result: inout [UInt8]) -> Bool {
        result.reserveCapacity(result.count + bytes.count / 4 * 3 + 3)
        for byte in bytes {
            let value: UInt32
            switch byte {
            case 0x41...0x5A: value = UInt32(byte) - 0x41
            case 0x61...0x7A: value = UInt32(byte) - 0x61 + 26
            case 0x30...0x39: value = UInt32(byte) - 0x30 + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            case UInt8(ascii: "="):
                isPadded = true
                continue
            case 0x0A, 0x0D, 0x20, 0x09: continue
            default: return false
            }
            if isPadded { return false }
            bits = bits << 6 | value
            count += 1
            guard count == 4 else { continue }
            result.append(UInt8(truncatingIfNeeded: bits >> 16))
            result.append(UInt8(truncatingIfNeeded: bits >> 8))
            result.append(UInt8(truncatingIfNeeded: bits))
            (bits, count) = (0, 0)
        }
        return true
    }

    mutating func finish(into result: inout [UInt8]) -> Bool {
        switch count {
        case 0: return true
        case 2: result.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            result.append(UInt8(truncatingIfNeeded: bits >> 10))
            result.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return false
        }
        return true
    }
}
