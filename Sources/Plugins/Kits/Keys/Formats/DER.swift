/// Reads the part of DER (X.690) that keys and signatures use, without trailing bytes. Lengths may be longer than
/// needed, because some programs write them so.
struct DERReader {
    enum Tag {
        static let integer: UInt8 = 0x02, bitString: UInt8 = 0x03, octetString: UInt8 = 0x04, null: UInt8 = 0x05
        static let objectID: UInt8 = 0x06, sequence: UInt8 = 0x30
        /// A bit string that is tagged as the second part of a private key.
        static let implicitBits: UInt8 = 0x81
        static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = ArraySlice(Array(bytes)) }

    var isAtEnd: Bool { rest.isEmpty }
    var next: UInt8? { rest.first }

    func end() throws(KeyError) {
        guard rest.isEmpty else { throw .malformed("there are more bytes after the key") }
    }

    mutating func value(_ tag: UInt8) throws(KeyError) -> ArraySlice<UInt8> {
        guard rest.first == tag else { throw .malformed("the bytes aren't a key in DER") }
        rest = rest.dropFirst()
        let count = try length()
        guard count <= rest.count else { throw .malformed("the key is cut off") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func sequence() throws(KeyError) -> DERReader { DERReader(try value(Tag.sequence)) }

    mutating func integer() throws(KeyError) -> [UInt8] {
        let bytes = try value(Tag.integer)
        guard let first = bytes.first, first < 0x80 else { throw .malformed("a number in the key is negative") }
        if first == 0, bytes.count > 1, bytes[bytes.startIndex + 1] < 0x80 {
            throw .malformed("a number in the key has leading zeros")
        }
        return Array(first == 0 ? bytes.dropFirst() : bytes)
    }

    /// Returns a bit string's bytes. Throws if there's an incomplete byte.
    mutating func bits(_ tag: UInt8 = Tag.bitString) throws(KeyError) -> [UInt8] {
        let bytes = try value(tag)
        guard bytes.first == 0 else { throw .malformed("a bit string in the key doesn't consist of whole bytes") }
        return Array(bytes.dropFirst())
    }

    private mutating func length() throws(KeyError) -> Int {
        guard let first = rest.popFirst() else { throw .malformed("the key is cut off") }
        if first < 0x80 { return Int(first) }
        let size = Int(first & 0x7F)
        // Keys are smaller than 16 MB, so three bytes are enough for a length.
        guard size > 0, size <= 3, size <= rest.count else { throw .malformed("a length in the key is invalid") }
        let bytes = rest.prefix(size)
        rest = rest.dropFirst(size)
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}

enum DER {
    typealias Tag = DERReader.Tag

    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if content.count < 0x80 {
            length = [UInt8(content.count)]
        } else {
            var rest = content.count
            while rest > 0 {
                length.insert(UInt8(rest & 0xFF), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(Tag.sequence, parts.flatMap(\.self)) }

    static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes.drop { $0 == 0 })
        return value(Tag.integer, bytes.isEmpty || bytes[0] >= 0x80 ? [0] + bytes : bytes)
    }

    static func bits(_ bytes: [UInt8]) -> [UInt8] { value(Tag.bitString, [0] + bytes) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { value(Tag.octetString, bytes) }
    static let null: [UInt8] = [Tag.null, 0]
}

enum ObjectID {
    /// 1.2.840.113549.1.1.1
    static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    /// 1.2.840.113549.1.1.10, for RSA keys that are only for PSS
    static let rsaPSS: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]
    /// 1.2.840.10045.2.1
    static let ec: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// 1.2.840.10045.3.1.7
    static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    /// 1.3.132.0.34
    static let p384: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x22]
    /// 1.3.101.112
    static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]

    static func written(_ id: [UInt8]) -> [UInt8] { DER.value(DER.Tag.objectID, id) }
}

/// An ECDSA signature: r followed by s, or in DER (RFC 3279, section 2.2.3).
enum ECDSASignature {
    static func raw(_ der: [UInt8], size: Int) -> [UInt8]? {
        var outer = DERReader(der)
        guard var pair = try? outer.sequence(), let r = try? pair.integer(), let s = try? pair.integer(),
            pair.isAtEnd, outer.isAtEnd, r.count <= size, s.count <= size
        else { return nil }
        let raw = padded(r, size) + padded(s, size)
        // A signature is accepted in only one DER form, so nobody can create other valid forms of it.
        return Self.der(raw, size: size) == der ? raw : nil
    }

    static func der(_ raw: [UInt8], size: Int) -> [UInt8]? {
        guard raw.count == 2 * size else { return nil }
        return DER.sequence(DER.integer(raw[..<size]), DER.integer(raw[size...]))
    }

    static func padded(_ number: [UInt8], _ size: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: size - number.count) + number
    }
}
